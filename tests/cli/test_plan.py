"""The forecast on the command line, by `plan` and by `certify --dry-run`."""

import json
from pathlib import Path

import pytest

from tests.cli.calling import call

MODEL = "tests.engines.centroids:make"

ASKED = ["--model", MODEL, "--dataset", "digits", "--sigma", "0.5", "--indices", "0:20"]


def test_plan_says_what_to_expect(capsys: pytest.CaptureFixture[str]) -> None:
    few = [*ASKED, "--radii", "0.25,0.5", "--inputs", "4", "--draws", "20", "--max-draws", "500"]
    code, out, err = call(capsys, "plan", *few)
    assert (code, err) == (0, "")
    assert "radius 0.5: certified accuracy" in out
    assert "no fewer than 40 draws certify it" in out
    code, out, _ = call(capsys, "plan", *few, "--json")
    found = json.loads(out)
    assert [one["fewest"] for one in found["radii"]] == [19, 40]
    assert found["size"] == 20
    assert found["seconds"] > 0


def test_a_dry_run_certifies_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = tmp_path / "run"
    few = ["--radii", "0.5", "--max-draws", "500", "--dry-run", "--out", str(run)]
    code, out, _ = call(capsys, "certify", *ASKED, *few)
    assert code == 0
    assert "all radii decided" in out
    assert not run.exists()


def test_radii_are_decided_and_the_summary_says_how(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    code, out, _ = call(capsys, "certify", *ASKED, "--radii", "0.1,0.3", "--max-draws", "400", "--out", run)
    assert code == 0
    assert "draws made" in out
    assert "stopped" in out
    code, out, _ = call(capsys, "runs", run, "--json")
    found = json.loads(out)
    held = found[0] if isinstance(found, list) else found
    assert [point["radius"] for point in held["summary"]["certified_accuracy"]] == [0.1, 0.3]
    assert held["sampling"]["inputs"] == 20
    assert sum(held["sampling"]["stops"].values()) == 20
    code, out, _ = call(capsys, "audit", run)
    assert code == 0
    assert "20 of 20 records confirmed" in out


def test_radii_that_are_no_numbers_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = call(capsys, "certify", *ASKED, "--radii", "0.1,x", "--out", str(tmp_path / "run"))
    assert code == 2
    assert "radii: expected numbers such as 0.25,0.5" in err
