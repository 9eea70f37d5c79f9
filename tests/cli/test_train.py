"""The command that trains: plain lines without a terminal, resuming, and what an interruption leaves."""

from pathlib import Path

import pytest

from doublebubble.training import EpochMetrics, loop
from doublebubble.training.metrics import append_metrics
from tests.cli.calling import call


def test_training_prints_plain_lines_and_resumes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["train", "--sigma", "0.25", "--epochs", "2", "--out", str(tmp_path / "m")]
    code, out, err = call(capsys, *options)
    assert (code, err) == (0, "")
    assert out.startswith("epoch 1/2: loss ")
    assert "noisy accuracy" in out
    assert "left" in out
    assert "on the test images" in out
    code, out, _ = call(capsys, *options)
    assert code == 0
    assert out.startswith("going on after epoch 2/2")
    code, _, err = call(capsys, *options, "--lr", "0.5")
    assert code == 1
    assert "lr was 0.001, now 0.5" in err


def test_an_interruption_says_what_is_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(folder: Path, metrics: EpochMetrics) -> None:
        append_metrics(folder, metrics)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "append_metrics", interrupted)
    code, out, _ = call(capsys, "train", "--sigma", "0.25", "--epochs", "2", "--out", str(tmp_path / "m"))
    assert code == 1
    assert "holds the best model so far; the same command goes on from the last epoch" in out
    assert (tmp_path / "m" / "model.safetensors").exists()
