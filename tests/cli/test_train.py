"""The command that trains: plain lines without a terminal, resuming, and what an interruption leaves."""

from pathlib import Path
from typing import get_args

import pytest

from doublebubble.cli.train import complete_method
from doublebubble.training import EpochMetrics, TrainSettings, loop, preset
from doublebubble.training.metrics import append_metrics
from doublebubble.types import TRAIN_METHODS
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


def test_every_method_is_offered_completed_and_known_to_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "train", "--help")
    for method in get_args(TrainSettings.model_fields["method"].annotation):
        assert method in out
        assert method in complete_method(method[:3])
        assert preset("digits", method, 0.5).method == method
    assert complete_method("") == list(TRAIN_METHODS)
    code, _, err = call(capsys, "train", "--sigma", "0.5", "--out", "nowhere", "--method", "adversarial")
    assert code == 2
    assert "method: Input should be 'gaussian'" in err


def test_a_denoiser_alone_has_no_accuracy_and_is_no_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ("train", "--sigma", "0.25", "--method", "denoiser", "--epochs", "1", "--out", str(tmp_path))
    code, out, err = call(capsys, *options)
    assert (code, err) == (0, "")
    assert "accuracy" not in out
    more = ("--dataset", "digits", "--sigma", "0.25", "--out", str(tmp_path / "run"))
    code, _, err = call(capsys, "certify", "--model", str(tmp_path), *more)
    assert code == 1
    assert "holds a denoiser, which goes before a classifier" in err
