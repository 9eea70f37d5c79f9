"""`doublebubble reproduce`: all experiments at scale smoke from training to figures; again, nothing is done twice."""

import json
import re
from pathlib import Path

import pytest

from doublebubble.reproduce import EXPERIMENTS
from doublebubble.runs.store import read_run
from doublebubble.runs.tables import load_run
from tests.cli.calling import call


@pytest.mark.slow
def test_everything_at_scale_smoke_and_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = call(capsys, "reproduce", "all", "--scale", "smoke", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    runs = sorted((tmp_path / "runs").iterdir())
    assert len(runs) == len({read_run(path).spec.model_dump_json() for path in runs})
    assert out.count("  certifying ") == len(runs)
    assert out.count("  model ") == 5
    for path in tmp_path.glob("models/*/model.json"):
        assert json.loads(path.read_text())["noisy_accuracy"] > 0.25, path  # of ten classes
    for line in out.splitlines():
        assert ("protocol paper" in line) <= ("not guaranteed" in line)
    for name in EXPERIMENTS:
        written = {path.suffix for path in (tmp_path / name).iterdir()}
        assert written >= ({".md", ".tex"} if name in ("timing", "interval-cost") else {".md", ".tex", ".png", ".pdf"})
        assert "not guaranteed" in (tmp_path / name / "README.md").read_text()
    for path in runs:
        assert set(load_run(path)["guarantee"]) == ({"none"} if "-paper-" in path.name else {"exact"})
    before = {path: path.read_bytes() for path in tmp_path.glob("runs/*/records.jsonl")}
    weights = {path: path.stat().st_mtime_ns for path in tmp_path.glob("models/*/*")}
    figures = {path: path.read_bytes() for path in tmp_path.glob("winners/*")}
    code, out, err = call(capsys, "reproduce", "winners", "--scale", "smoke", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    assert "certifying" not in out
    assert "model " not in out
    assert before == {path: path.read_bytes() for path in tmp_path.glob("runs/*/records.jsonl")}
    assert weights == {path: path.stat().st_mtime_ns for path in tmp_path.glob("models/*/*")}
    assert figures == {path: path.read_bytes() for path in tmp_path.glob("winners/*")}


def test_missing_data_are_said_in_a_sentence_and_the_rest_still_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = ("--out", str(tmp_path / "out"), "--data-dir", str(tmp_path))
    code, out, err = call(capsys, "reproduce", "macer", "--scale", "paper", *where)
    assert code == 1
    assert re.search(r"missing: cifar10: no files under .*; run `doublebubble data download cifar10`", err)
    assert err.splitlines()[-1] == "not complete, for want of data: cifar10; not run at all: macer"
    assert "Traceback" not in out + err
    assert not (tmp_path / "out" / "macer").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nonsense", "--out", "x"), "experiment: expected one of certified-accuracy"),
        (("timing", "--scale", "huge", "--out", "x"), "scale: expected one of smoke, cpu, paper"),
        (("timing", "--out", "x", "--device", "abacus"), "device: expected"),
        (("timing", "--out", "x", "--inputs", "0"), "--inputs"),
    ],
)
def test_wrong_use(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str) -> None:
    code, _, err = call(capsys, "reproduce", *arguments)
    assert code == 2
    assert words in err


def test_an_interruption_says_that_the_same_command_resumes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(lab: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(EXPERIMENTS, "timing", interrupted)
    code, _, err = call(capsys, "reproduce", "timing", "--out", str(tmp_path))
    assert code == 1
    assert err == f"interrupted: {tmp_path} keeps what is done; the same command resumes it\n"
