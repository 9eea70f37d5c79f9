"""Models that are no function of one row are refused: each of these would otherwise get a certificate."""

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


class Placed(nn.Module):
    """A row's logits depend on its place in the batch."""

    def forward(self, batch: Tensor) -> Tensor:
        return batch.flatten(1)[:, :4] + 0.1 * torch.arange(len(batch))[:, None]


class Wary(nn.Module):
    """Turns every logit over if some row of the batch is what it is wary of."""

    def __init__(self, zeros: bool) -> None:
        super().__init__()
        self.zeros = zeros

    def forward(self, batch: Tensor) -> Tensor:
        flat = batch.flatten(1)
        wary = (flat == 0).all(1) if self.zeros else (flat.abs() > 12).any(1)
        return -flat[:, :4] if bool(wary.any()) else flat[:, :4].clone()


class Sized(nn.Module):
    """Its logits depend on how many rows the batch has."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows

    def forward(self, batch: Tensor) -> Tensor:
        return batch.flatten(1)[:, :4] + (1.0 if len(batch) == self.rows else 0.0)


class Stern(nn.Module):
    """Takes batches of one size alone, and is as wary of rows that are zero as any."""

    def __init__(self, rows: int, inner: nn.Module) -> None:
        super().__init__()
        self.rows, self.inner = rows, inner

    def forward(self, batch: Tensor) -> Tensor:
        if len(batch) != self.rows:
            raise ValueError(f"{self.rows} rows, please")
        logits: Tensor = self.inner(batch)
        return logits


class LateNeighbour(nn.Module):
    """Honest for so many calls, then all rows but the first get the logits of the second."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.left = calls

    def forward(self, batch: Tensor) -> Tensor:
        self.left -= 1
        logits = batch.flatten(1)[:, :4].clone()
        if self.left < 0:
            logits[2:] = logits[1].clone()
        return logits


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
    with pytest.raises(ModelError, match=r"input 7: .*(in a smaller batch|alone|beside)"):
        counted(Majority(bias), 2)


@pytest.mark.parametrize("batch_size", [2, 3, 16, 100])
def test_batch_norm_without_running_statistics(batch_size: int) -> None:
    with pytest.raises(ModelError, match=r"the same row, (in a smaller batch|alone|beside other rows)"):
        counted(batch_norm(), batch_size=batch_size)


# What each of the trials is for: models that only this one sees.


@pytest.mark.parametrize("batch_size", [16, 100])
def test_a_row_in_another_place(batch_size: int) -> None:
    with pytest.raises(ModelError, match=r"the same row, beside other rows and in another place, has"):
        counted(Placed(), batch_size=batch_size)


def test_a_row_beside_padding() -> None:
    """A micro-batch that is not full is padded with zeros: a row must not care."""
    with pytest.raises(ModelError, match=r"the same row, beside other rows and in another place, has"):
        counted(Wary(zeros=True))


def test_a_row_beside_one_that_is_far_off() -> None:
    with pytest.raises(ModelError, match=r"the same row, beside other rows and in another place, has"):
        counted(Wary(zeros=False))


@pytest.mark.parametrize("bias", [-30.0, 0.0])
def test_a_vote_of_the_batch_is_turned_over_by_copies_of_another_row(bias: float) -> None:
    """Company of all kinds in one batch leaves the majority as it was."""
    with pytest.raises(ModelError, match=r"the same row, beside copies of another row, has"):
        counted(Majority(bias), 2, batch_size=64)


def test_a_row_alone_and_a_few_rows() -> None:
    with pytest.raises(ModelError, match=r"the same row, alone, has"):
        counted(Sized(1))
    with pytest.raises(ModelError, match=r"the same row, in a smaller batch, has"):
        counted(Sized(rows.FEW))


def test_a_model_that_takes_no_small_batch_is_tried_out_in_full_ones() -> None:
    recorder = Recorder()
    made = SmoothedClassifier(Stern(16, recorder).eval(), 0.5, 2, batch_size=16)
    assert made.counts(image(), 50, seed=0, index=0).sum() == 50
    assert len(recorder.seen) == 4 + 12, "what the first look costs then"
    assert made._votes._rows[(tuple(image().shape), torch.float32)].interchangeable
    for inner in (Majority(-36.0), Majority(0.0)):
        with pytest.raises(ModelError, match=r"beside"):
            counted(Stern(16, inner), 2)
    with pytest.raises(ModelError, match=r"run twice in a row"):
        counted(Stern(16, Dropping()))
    with pytest.raises(ModelError, match=r"after a few other batches"):
        counted(Stern(16, Counting(11)), 2)


def test_differences_of_small_batches_in_the_last_bit_do_not_part_inputs() -> None:
    """Whether inputs may share a micro-batch is a question about micro-batches."""

    class Last(nn.Module):
        def forward(self, batch: Tensor) -> Tensor:
            return batch.flatten(1)[:, :4] * (1.0 if len(batch) == 16 else 1 + 2.0**-22)

    made = SmoothedClassifier(Last().eval(), 0.5, 4, batch_size=16)
    assert made.counts(image(), 50, seed=0, index=0).sum() == 50
    assert made._votes._rows[(tuple(image().shape), torch.float32)].interchangeable


def test_functional_dropout() -> None:
    with pytest.raises(ModelError, match=r"the same row, run twice in a row, .* on chance"):
        counted(Dropping())


@pytest.mark.parametrize("at", [1, 2, 5])
def test_a_mode_that_is_toggled(at: int) -> None:
    with pytest.raises(ModelError, match=r"in training mode"):
        counted(Toggling(at))


@pytest.mark.parametrize("after", [0, 5])
def test_a_counter(after: int) -> None:
    with pytest.raises(ModelError, match=r"run twice in a row|beside (other|copies of)|after a few other batches"):
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
    with pytest.raises(ModelError, match=r"with some of its neighbours replaced"):
        counted(LateNeighbour(50), n=n)


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


class Passes(nn.Module):
    """Counts the rows that it is run on."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = 0

    def forward(self, batch: Tensor) -> Tensor:
        self.rows += len(batch)
        return batch.flatten(1)[:, :2].clone()


def test_the_first_look_costs_two_micro_batches_and_ninety_rows() -> None:
    """So less than a hundredth of 60 000 draws: six inputs with n = 10 000, or forty with n = 1000."""
    for batch_size in (64, 256):
        passes = Passes().eval()
        SmoothedClassifier(passes, 0.5, 2, batch_size=batch_size).counts(image(), batch_size, seed=0, index=0)
        assert passes.rows - batch_size == 2 * batch_size + 11 * rows.FEW + 1
    passes = Passes().eval()
    made = db.Certifier(
        SmoothedClassifier(passes, 0.5, 2), db.CertifyConfig(n=10_000, n0=500, methods=("cohen",))
    ).certify_many([image(seed) for seed in range(6)], range(6))
    drawn = sum(sum(one.draws.values()) for one in made)
    assert drawn == 63_000
    assert passes.rows <= 1.01 * drawn + 2 * 256, "and at most two micro-batches are not full"


def test_looks_during_a_run_cost_half_of_a_hundredth() -> None:
    recorder = Recorder().eval()
    looked_at(SmoothedClassifier(recorder, 0.5, 2, batch_size=2), recorder).counts(image(), 4000, seed=0, index=0)
    assert len(recorder.seen) - 2000 == 2000 // rows.EVERY


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
        (of_the_batch, "the same row, in a smaller batch"),
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
    with pytest.raises(ModelError, match="the same row, in a smaller batch"):
        classifier.counts(torch.full((1, 8, 8), 0.5), 20, seed=0, index=0)


def test_an_onnx_file_that_throws_dice(tmp_path: Path) -> None:
    model = linear()
    model.graph.node[2].CopyFrom(onnx.helper.make_node("RandomNormalLike", ["product"], ["scores"]))
    onnx.save(model, tmp_path / "m.onnx")
    classifier = SmoothedClassifier(load_onnx(tmp_path / "m.onnx", 10), 0.5, 10, batch_size=16)
    with pytest.raises(ModelError, match="run twice in a row"):
        classifier.counts(torch.full((1, 8, 8), 0.5), 20, seed=0, index=0)
