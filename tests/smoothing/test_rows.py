"""Models that are no function of one row are refused: each of these would otherwise get a certificate."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.errors import ModelError
from doublebubble.models.onnx_files import load_onnx
from doublebubble.smoothing import SmoothedClassifier, rows
from tests.models.onnx_samples import linear
from tests.smoothing.subjects import Recorder, image, looked_at, small_net


class Majority(nn.Module):
    """Every row gets the class that most rows of the batch have."""

    def __init__(self, bias: float = 0.0) -> None:
        super().__init__()
        self.bias = bias

    def forward(self, batch: Tensor) -> Tensor:
        first = batch.flatten(1).sum(1) + self.bias
        winner = (first > 0).float().mean() > 0.5
        return torch.stack([torch.where(winner, 1.0, 0.0), torch.where(winner, 0.0, 1.0)]).expand(len(batch), 2)


class Dropping(nn.Module):
    def forward(self, batch: Tensor) -> Tensor:
        logits: Tensor = nn.functional.dropout(batch.flatten(1)[:, :4], 0.5, training=True)
        return logits


class Toggling(nn.Module):
    """Leaves evaluation mode by itself, at a call of its choice."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.inner, self.calls, self.at = small_net(), 0, at

    def forward(self, batch: Tensor) -> Tensor:
        logits: Tensor = self.inner(batch)
        self.calls += 1
        if self.calls == self.at:
            self.train()
        return logits


class Counting(nn.Module):
    """Its logits depend on how often it was called."""

    def __init__(self, after: int = 0, slope: float = 0.1) -> None:
        super().__init__()
        self.calls, self.after, self.slope = 0, after, slope

    def forward(self, batch: Tensor) -> Tensor:
        self.calls += 1
        first = batch.flatten(1)[:, 0]
        return torch.stack([first, torch.full_like(first, self.slope * max(0, self.calls - self.after))], 1)


class Growing(nn.Module):
    """Changes its input in place."""

    def forward(self, batch: Tensor) -> Tensor:
        first = batch.flatten(1)[:, :4].clone()
        batch.mul_(2.0)
        return first


class Later(nn.Module):
    """Honest for so many calls, then every row gets the mean of the batch."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.left = calls

    def forward(self, batch: Tensor) -> Tensor:
        self.left -= 1
        logits = batch.flatten(1)[:, :4].clone()
        return logits if self.left > 0 else logits.mean(0, keepdim=True).expand_as(logits)


def batch_norm() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4, track_running_stats=False), nn.Flatten(), nn.Linear(64, 4)
    )


def counted(model: nn.Module, classes: int = 4, n: int = 50, sigma: float = 0.5, batch_size: int = 16) -> object:
    torch.manual_seed(0)
    return SmoothedClassifier(model.eval(), sigma, classes, batch_size=batch_size).counts(image(), n, seed=0, index=7)


@pytest.mark.parametrize("bias", [-50.0, -40.0, -36.0, -30.0, 0.0])
def test_the_majority_of_the_batch(bias: float) -> None:
    """Wherever the boundary lies: next to the input, or several sigmas away."""
    with pytest.raises(ModelError, match=r"input 7: .*beside other rows and in another place"):
        counted(Majority(bias), 2)


@pytest.mark.parametrize("batch_size", [2, 3, 16, 100])
def test_batch_norm_without_running_statistics(batch_size: int) -> None:
    with pytest.raises(ModelError, match=r"the same row, beside other rows"):
        counted(batch_norm(), batch_size=batch_size)


def test_functional_dropout() -> None:
    with pytest.raises(ModelError, match=r"the same row, run twice in a row, .* on chance"):
        counted(Dropping())


@pytest.mark.parametrize("at", [1, 2, 5])
def test_a_mode_that_is_toggled(at: int) -> None:
    with pytest.raises(ModelError, match=r"in training mode"):
        counted(Toggling(at))


@pytest.mark.parametrize("after", [0, 5])
def test_a_counter(after: int) -> None:
    with pytest.raises(ModelError, match=r"run twice in a row|beside other rows|after a few other batches"):
        counted(Counting(after), 2)


def test_an_input_changed_in_place() -> None:
    with pytest.raises(ModelError, match=r"changes its input in place"):
        counted(Growing())


def test_what_begins_during_a_run_is_seen_there() -> None:
    """State that shows only later, and rows that influence each other only later."""
    n = 16 * 3 * rows.EVERY
    with pytest.raises(ModelError, match=r"run again later, beside other rows"):
        counted(Later(rows.EVERY // 2), n=n)
    with pytest.raises(ModelError, match=r"run again later, beside other rows"):
        counted(Counting(50, 1e-4), 2, n=n)


@pytest.mark.parametrize("sigma", [1e-9, 1e-7])
def test_noise_too_small_to_change_the_input(sigma: float) -> None:
    with pytest.raises(ModelError, match=rf"input 7: noise of sigma {sigma:g} is too small for float32"):
        counted(small_net(), sigma=sigma)


def test_noise_that_float64_holds_is_not_refused() -> None:
    model = SmoothedClassifier(small_net().double(), 1e-9, 4, batch_size=16)
    assert model.counts(image().double(), 20, seed=0, index=0).sum() == 20


def test_honest_models_are_not_refused() -> None:
    for program in ("eager", "folded", "channels_last"):
        model = SmoothedClassifier(small_net(), 0.5, 4, batch_size=16, program=db.Program.named(program))
        assert model.counts(image(), 100, seed=0, index=0).sum() == 100


def test_it_costs_less_than_a_hundredth_of_a_long_run() -> None:
    recorder = Recorder().eval()
    looked_at(SmoothedClassifier(recorder, 0.5, 2, batch_size=2), recorder).counts(image(), 4000, seed=0, index=0)
    extra = len(recorder.seen) - 2000
    assert 0 < extra <= 2000 * 0.01
    first = Recorder().eval()
    SmoothedClassifier(first, 0.5, 2, batch_size=2).counts(image(), 2, seed=0, index=0)
    assert math.isclose(len(first.seen) - 1, 11), "what the first look costs"


def in_place(x: Any) -> Any:
    x *= 2.0
    return x.reshape(len(x), -1)[:, :4]


def of_the_batch(x: Any) -> Any:
    flat = x.reshape(len(x), -1)[:, :4]
    return flat - flat.mean(axis=0)


class Remembering:
    """Its scores depend on what it was asked before."""

    def __init__(self) -> None:
        self.last: Any = 0.0

    def __call__(self, x: Any) -> Any:
        found = x.reshape(len(x), -1)[:, :4] + self.last
        self.last = float(found.mean())
        return found


def by_chance(x: Any) -> Any:
    return np.random.default_rng().integers(0, 4, len(x))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (in_place, "changes its input in place"),
        (of_the_batch, "the same row, beside other rows"),
        (Remembering(), "run twice in a row"),
        (by_chance, "run twice in a row, .* on chance"),
    ],
)
def test_black_boxes_that_are_no_function_of_one_row(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        counted(db.black_box(f, 4))


@pytest.mark.parametrize("batch", ["N", 16])
def test_an_onnx_file_whose_rows_see_each_other(tmp_path: Path, batch: int | str) -> None:
    model = linear(batch)
    model.graph.node[2].CopyFrom(onnx.helper.make_node("Softmax", ["product"], ["scores"], axis=0))
    onnx.save(model, tmp_path / "m.onnx")
    classifier = SmoothedClassifier(load_onnx(tmp_path / "m.onnx", 10), 0.5, 10, batch_size=16)
    with pytest.raises(ModelError, match="the same row, beside other rows"):
        classifier.counts(torch.full((1, 8, 8), 0.5), 20, seed=0, index=0)


def test_an_onnx_file_that_throws_dice(tmp_path: Path) -> None:
    model = linear()
    model.graph.node[2].CopyFrom(onnx.helper.make_node("RandomNormalLike", ["product"], ["scores"]))
    onnx.save(model, tmp_path / "m.onnx")
    classifier = SmoothedClassifier(load_onnx(tmp_path / "m.onnx", 10), 0.5, 10, batch_size=16)
    with pytest.raises(ModelError, match="run twice in a row"):
        classifier.counts(torch.full((1, 8, 8), 0.5), 20, seed=0, index=0)
