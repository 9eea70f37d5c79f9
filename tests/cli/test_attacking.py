"""`doublebubble audit --attack`: a table, JSON, exit codes, and which radii a success refutes."""

import json
from pathlib import Path

import pytest

from doublebubble.cli import attacking
from doublebubble.runs.attacks import stored_attacks
from doublebubble.runs.store import RunStore, read_run
from tests.cli.calling import call

MODEL = "tests.engines.centroids:make"
ATTACK = ("--attack", "--model", MODEL, "--n", "2000", "--steps", "3", "--restarts", "1", "--step-draws", "64")


def certify(capsys: pytest.CaptureFixture[str], path: Path, protocol: str) -> None:
    text = f"certify --model {MODEL} --dataset digits --sigma 0.5 --n 400 --n0 50 --indices 0:3 --quiet"
    code, _, _ = call(capsys, *text.split(), "--methods", "cohen", "--protocol", protocol, "--out", str(path))
    assert code == 0


def enlarged(run: Path, out: Path) -> Path:
    """The run with radii that are far too large."""
    with RunStore(out, read_run(run).spec) as store:
        for record in read_run(run).records:
            store.append(record.model_copy(update={"radius": record.radius + 1.0}))
    return out


def test_it_prints_bounds_beside_the_radii_and_resumes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    certify(capsys, tmp_path / "run", "sound")
    code, out, err = call(capsys, "audit", str(tmp_path / "run"), *ATTACK, "--indices", "0:2")
    assert (code, err) == (0, "")
    assert "3 of 3 records confirmed" in out
    found = stored_attacks(read_run(tmp_path / "run"))
    assert list(found) == [0, 1]
    for attacks in found.values():
        for one in attacks:
            assert one.distance is not None
            assert f"{one.distance:.6f}" in out
            assert f"{one.radius:.6f}" in out
    assert "attacked 2 certified inputs: no successes inside the radius; 2 beyond it" in out
    code, out, _ = call(capsys, "audit", str(tmp_path / "run"), *ATTACK, "--json")
    assert code == 0
    told = json.loads(out)
    assert told["confirmed"] is True
    assert [one["index"] for one in told["attacks"]] == [0, 1, 2]
    assert [one["distance"] for one in told["attacks"][:2]] == [one.distance for (one,) in found.values()]
    assert not any(one["inside"] for one in told["attacks"])


def test_a_success_inside_a_sound_radius_is_named_and_fails(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nothing else is found wrong with the record."""
    monkeypatch.setattr("doublebubble.audit.reverify.reverify_run", lambda run, inputs: [])
    certify(capsys, tmp_path / "run", "sound")
    forged = enlarged(tmp_path / "run", tmp_path / "forged")
    code, out, _ = call(capsys, "audit", str(forged), *ATTACK, "--indices", "1")
    assert code == 1
    assert "input 1: class" in out
    assert "the certificate is false" in out
    assert "attacked 1 certified input: 1 success inside the radius" in out


@pytest.mark.not_reverified("protocol paper with enlarged radii")
def test_under_protocol_paper_it_is_reported_and_refutes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certify(capsys, tmp_path / "run", "paper")
    forged = enlarged(tmp_path / "run", tmp_path / "forged")
    monkeypatch.setattr("doublebubble.audit.reverify.reverify_run", lambda run, inputs: [])
    code, out, _ = call(capsys, "audit", str(forged), *ATTACK, "--indices", "1")
    assert code == 0
    assert "inside the radius" in out
    assert "protocol paper guarantees none" in out
    assert "(not" in out, "the radii carry their mark"


def test_wrong_use(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    certify(capsys, tmp_path / "run", "sound")
    for alone in (("--attack",), ("--model", MODEL)):
        code, _, err = call(capsys, "audit", str(tmp_path / "run"), *alone)
        assert (code, "expected --attack and --model together" in err) == (2, True)
    code, _, err = call(capsys, "audit", str(tmp_path / "run"), *ATTACK, "--gradient", "steep")
    assert (code, "gradient" in err) == (2, True)
    code, _, err = call(
        capsys, "audit", str(tmp_path / "run"), "--attack", "--model", "tests.cli.test_picture:other_model"
    )
    assert (code, "the run was made with another model" in err) == (1, True)


def test_an_interruption_says_that_the_command_resumes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certify(capsys, tmp_path / "run", "sound")

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("doublebubble.facade.attacking.attack", stopped)
    code, _, err = call(capsys, "audit", str(tmp_path / "run"), *ATTACK)
    assert code == 1
    assert "holds attacks on 0 inputs; the same command resumes" in err
    assert attacking.by_index(read_run(tmp_path / "run")).keys() == {0, 1, 2}
