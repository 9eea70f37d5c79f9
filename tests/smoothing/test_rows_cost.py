"""What looks at rows cost, and what a run that is short can still see before a vote counts."""

import copy
from unittest import mock

import pytest
from torch import Tensor, nn

import doublebubble as db
from doublebubble.errors import ModelError
from doublebubble.smoothing import SmoothedClassifier, row_trials, rows
from doublebubble.streams import Stream
from doublebubble.tally import Accumulator, Request
from tests.smoothing.strange_models import (
    Counting,
    Dropping,
    Growing,
    Majority,
    Placed,
    Repeating,
    Sized,
    Toggling,
    Wary,
    batch_norm,
    counted,
)
from tests.smoothing.subjects import Recorder, image, looked_at


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
        Sized(row_trials.FEW),
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
