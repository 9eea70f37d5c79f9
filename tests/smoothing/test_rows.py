"""Models that are no function of one row are refused: each of these would otherwise get a certificate."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.errors import ModelError
from doublebubble.models.onnx_files import load_onnx
from doublebubble.smoothing import SmoothedClassifier, rows
from doublebubble.streams import Stream
from doublebubble.tally import Accumulator, Request
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
    assert len(recorder.seen) == 4 + 11, "what the first look costs then"
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


def spent_on_looks(inputs: int, n: int, n0: int = 500, batch_size: int = 256, at_once: bool = True) -> float:
    """Rows beyond those of the micro-batches that the draws fill, as a part of the draws."""
    passes = Passes().eval()
    asked = db.CertifyConfig(n=n, n0=n0, methods=("cohen",))
    certifier = db.Certifier(SmoothedClassifier(passes, 0.5, 2, batch_size=batch_size), asked)
    groups = [range(inputs)] if at_once else [[number] for number in range(inputs)]
    for group in groups:
        certifier.certify_many([image(seed) for seed in group], list(group))
    filled = sum(-(-draws * len(group) // batch_size) for group in groups for draws in (n0, n))
    return (passes.rows - filled * batch_size) / (inputs * (n0 + n))


def test_the_first_look_costs_twelve_rows() -> None:
    for batch_size in (64, 256):
        passes = Passes().eval()
        SmoothedClassifier(passes, 0.5, 2, batch_size=batch_size).counts(image(), batch_size, seed=0, index=0)
        assert passes.rows - batch_size == 12


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("batch_size", [16, 64, 256])
def test_all_looks_cost_less_than_a_hundredth_from_one_input_with_a_thousand_draws_on(
    batch_size: int, at_once: bool
) -> None:
    lengths = [(1, 1000), (2, 1000), (7, 1000), (1, 10_000), (40, 1000), (6, 10_000), (1, 100_000)]
    for inputs, n in lengths[: 4 + batch_size // 64]:
        assert 0 < spent_on_looks(inputs, n, batch_size=batch_size, at_once=at_once) < 0.01, (inputs, n)
    assert spent_on_looks(1, 700, batch_size=batch_size) <= 0.01


class WaryOf(nn.Module):
    """Turns every logit over if some row of the batch is this one."""

    def __init__(self, row: Tensor) -> None:
        super().__init__()
        self.row, self.drawn = row, 0

    def forward(self, batch: Tensor) -> Tensor:
        self.drawn += len(batch) * (len(batch) == 256)
        wary = (batch == self.row).flatten(1).all(1).any()
        return batch.flatten(1)[:, :4] * (-1.0 if bool(wary) else 1.0)


def test_what_a_short_run_cannot_pay_for_is_tried_as_it_goes_on() -> None:
    """And at once if the run is long enough, before a vote counts."""
    model = WaryOf(image()).eval()
    short = SmoothedClassifier(model, 0.5, 4)
    with pytest.raises(ModelError, match="beside"):
        [short.counts(image(), 1000, seed=0, index=index) for index in range(20)]
    assert 4096 < model.drawn < 8192
    model = WaryOf(image()).eval()
    with pytest.raises(ModelError, match="beside"):
        SmoothedClassifier(model, 0.5, 4).counts(image(), 10_000, seed=0, index=0)
    assert model.drawn == 2 * 256, "the first micro-batch, and one to say what was seen"
    model = WaryOf(image()).eval()
    told = db.Certifier(SmoothedClassifier(model, 0.5, 4), db.CertifyConfig(n=1000, n0=500, methods=("cohen",)))
    with pytest.raises(ModelError, match="beside"):
        told.certify_many([image(seed) for seed in range(7)], range(7))
    assert model.drawn == 2 * 256, "all inputs that are certified together pay for it"


@pytest.mark.parametrize(
    "model",
    [
        *(Majority(bias) for bias in (-50.0, -40.0, -36.0, -30.0, 0.0)),
        batch_norm(),
        Toggling(1),
        Toggling(6),
        Dropping(),
        Growing(),
        Counting(),
        Counting(5),
        Placed(),
        Wary(zeros=True),
        Wary(zeros=False),
        Sized(1),
        Sized(rows.FEW),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("inputs", [1, 2])
def test_no_run_is_too_short_to_refuse_them_before_a_vote_counts(model: nn.Module, inputs: int) -> None:
    """At the usual micro-batch, where the first look is twelve rows; `WaryOf` shows what those do not see."""
    classes = 2 if isinstance(model, (Majority, Counting)) else 4
    smoothed = SmoothedClassifier(copy.deepcopy(model).eval(), 0.5, classes)
    counted: list[object] = []
    with (
        mock.patch.object(Accumulator, "add", lambda *votes: counted.append(votes)),
        pytest.raises(ModelError, match=r"not a function of one row|in training mode|changes its input"),
    ):
        smoothed.tallies([Request(image(seed), 100, Stream(0, seed, "select")) for seed in range(inputs)])
    assert counted == []


def test_a_model_that_was_refused_is_refused_again() -> None:
    smoothed = SmoothedClassifier(Majority().eval(), 0.5, 2, batch_size=16)
    for index in range(3):
        with pytest.raises(ModelError, match="not a function of one row"):
            smoothed.counts(image(), 50, seed=0, index=index)


def test_a_mode_that_is_toggled_in_the_last_call_of_a_run() -> None:
    """What was drawn after it is not handed out."""
    with pytest.raises(ModelError, match=r"in training mode"):
        counted(Toggling(8 + 5), n=16 * 10)
    smoothed = SmoothedClassifier(Toggling(8 + 5).eval(), 0.5, 4, batch_size=16)
    stream = smoothed.open_votes(Request(image(), 160, Stream(0, 0, "certify")))
    with pytest.raises(ModelError, match=r"in training mode"):
        smoothed.extend([(stream, 160)])


class Repeating(nn.Module):
    """Asked the same twice in a row, it gives another answer."""

    def __init__(self) -> None:
        super().__init__()
        self.last = torch.empty(0)

    def forward(self, batch: Tensor) -> Tensor:
        same = torch.equal(batch, self.last)
        self.last = batch.clone()
        return batch.flatten(1)[:, :4] + float(same)


def test_a_row_twice_in_a_row() -> None:
    with pytest.raises(ModelError, match=r"run twice in a row"):
        counted(Repeating(), n=1000, batch_size=256)


class Summing(nn.Module):
    """Its last bits depend on all rows of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def forward(self, batch: Tensor) -> Tensor:
        self.sizes.append(len(batch))
        logits = batch.flatten(1)[:, :2]
        return logits + 1e-6 * logits.mean()


def test_company_in_the_last_bit_is_found_where_there_is_padding_and_the_call_done_again() -> None:
    model = Summing().eval()
    smoothed = SmoothedClassifier(model, 0.5, 2, batch_size=16)
    smoothed.counts(image(), 16, seed=0, index=9)
    requests = [Request(image(seed), 20, Stream(0, seed, "certify")) for seed in range(2)]
    together = smoothed.tallies(requests)
    full = sum(size == 16 for size in model.sizes)
    assert full == 1 + 1 + 4, "one that was shared, and then two for each"
    for request, tally in zip(requests, together, strict=True):
        alone = SmoothedClassifier(Summing().eval(), 0.5, 2, batch_size=16).tally(request)
        assert tally.counts.tolist() == alone.counts.tolist()


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
