"""Models that take batches of one size alone: what the first trials see, what they cost, and what is seen later."""

import copy
from unittest import mock

import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import FunctionError, ModelError
from doublebubble.models.fixed_batch import in_batches
from doublebubble.smoothing import SmoothedClassifier, rows
from doublebubble.streams import Stream
from doublebubble.tally import Accumulator, Request
from tests.smoothing.strange_models import (
    Counting,
    Dropping,
    Growing,
    LateNeighbour,
    Later,
    Majority,
    Placed,
    Repeating,
    Stern,
    Toggling,
    Wary,
    batch_norm,
    counted,
)
from tests.smoothing.subjects import Recorder, image, small_net

ALL = 2 + 8 + 1 + 2
"""Micro-batches of all trials: the first two, copies of each of the company, other places, twice as they stood."""


class Exported(nn.Module):
    """As exported files are: any number of rows goes through it, in batches of one size."""

    def __init__(self, size: int, inner: nn.Module) -> None:
        super().__init__()
        self.fixed_batch, self.inner = size, inner

    def forward(self, batch: Tensor) -> Tensor:
        return in_batches(self.inner, batch, self.fixed_batch)


class Quorum(nn.Module):
    """Every row gets another answer if more than three quarters of the batch are on the other side."""

    def forward(self, batch: Tensor) -> Tensor:
        flat = batch.flatten(1)
        return flat[:, :2] + 5.0 * bool((flat.sum(1) > 0).float().mean() < 0.25)


class Odd(nn.Module):
    """A row's logits depend on its place, in the second half of a batch that has zeros."""

    def forward(self, batch: Tensor) -> Tensor:
        flat = batch.flatten(1)
        last = (torch.arange(len(batch)) >= len(batch) // 2)[:, None]
        return flat[:, :4] + 0.1 * last * bool((flat == 0).all(1).any())


@pytest.mark.parametrize("wrapped", [Stern, Exported])
@pytest.mark.parametrize("batch_size", [2, 16, 32, 256])
def test_the_first_trials_cost_two_micro_batches(batch_size: int, wrapped: type[Stern] | type[Exported]) -> None:
    recorder = Recorder()
    made = SmoothedClassifier(wrapped(batch_size, recorder).eval(), 0.5, 2, batch_size=batch_size)
    assert made.counts(image(), 3 * batch_size + 1, seed=0, index=0).sum() == 3 * batch_size + 1
    assert len(recorder.seen) == 4 + 2
    assert {len(seen) for seen in recorder.seen} == {batch_size}
    assert made._votes._rows[(tuple(image().shape), torch.float32)].interchangeable


@pytest.mark.parametrize(("batch_size", "from_draws"), [(32, 6400), (256, 51_200)])
def test_all_looks_cost_less_than_a_hundredth_from_two_hundred_micro_batches_on(
    batch_size: int, from_draws: int
) -> None:
    """Of the forward passes, whether the draws are asked for at once or come as a surprise."""
    for pieces in (1, 10):
        for times in (1, 1.5, 2, 2.5, 3, 4, 5, 8, 13):
            if batch_size * times > 1100:
                break
            recorder = Recorder()
            made = SmoothedClassifier(Stern(batch_size, recorder).eval(), 0.5, 2, batch_size=batch_size)
            draws = int(times * from_draws) // pieces
            with mock.patch.object(recorder, "seen", Tallied()) as seen:
                for index in range(pieces):
                    made.counts(image(), draws, seed=0, index=index)
            filled = pieces * -(-draws // batch_size)
            assert 2 <= seen.calls - filled < 0.01 * seen.calls, (pieces, times)


class Tallied(list[Tensor]):
    """A list that keeps how often it was appended to, and nothing else."""

    calls = 0

    def append(self, item: Tensor) -> None:
        self.calls += 1


@pytest.mark.parametrize("batch_size", [2, 3, 4, 5, 7, 8, 16, 100])
def test_honest_models_are_not_refused(batch_size: int) -> None:
    made = SmoothedClassifier(Stern(batch_size, small_net()).eval(), 0.5, 4, batch_size=batch_size)
    draws = batch_size * ALL * rows.EVERY
    made.expect(draws)
    assert made.counts(image(), 50, seed=0, index=0).sum() == 50
    assert made._votes._rows[(tuple(image().shape), torch.float32)]._owed == []


@pytest.mark.parametrize("batch_size", [16, 256])
@pytest.mark.parametrize(
    "model",
    [
        *(Majority(bias) for bias in (-50.0, -40.0, -36.0, -30.0, 0.0)),
        batch_norm(),
        *(Toggling(at) for at in (1, 2, 3)),
        Dropping(),
        Growing(),
        *(Counting(after) for after in (0, 1, 2)),
        Placed(),
        Odd(),
        Wary(zeros=True),
        Wary(zeros=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_run_is_too_short_to_refuse_them_before_a_vote_counts(model: nn.Module, batch_size: int) -> None:
    classes = 2 if isinstance(model, (Majority, Counting)) else 4
    inner = copy.deepcopy(model).eval()
    smoothed = SmoothedClassifier(Stern(batch_size, inner).eval(), 0.5, classes, batch_size=batch_size)
    votes: list[object] = []
    with (
        mock.patch.object(Accumulator, "add", lambda *added: votes.append(added)),
        pytest.raises(ModelError, match=r"not a function of one row|in training mode|changes its input"),
    ):
        smoothed.tallies([Request(image(), 10, Stream(0, 0, "select"))])
    assert votes == []


def test_errors_say_what_was_seen() -> None:
    for inner in (Majority(-36.0), Majority(0.0)):
        with pytest.raises(ModelError, match=r"the same row, beside copies of another row, has"):
            counted(Stern(16, inner), 2)
    with pytest.raises(ModelError, match=r"run twice in a row, .* on chance"):
        counted(Stern(16, Dropping()))
    with pytest.raises(ModelError, match=r"in another place"):
        counted(Stern(16, Placed()))


@pytest.mark.parametrize("batch_size", [2, 3])
def test_the_smallest_batches(batch_size: int) -> None:
    for inner in (batch_norm(), Placed(), Wary(zeros=False)):
        with pytest.raises(ModelError, match="not a function of one row"):
            counted(Stern(batch_size, inner), batch_size=batch_size)


def test_the_first_trials_in_full_batches_show_rows_in_other_places() -> None:
    """More than half are copies of one row; no known row stands where it stood, one stands twice, zeros are there."""
    for size in (16, 17, 256):
        recorder = Recorder()
        SmoothedClassifier(Stern(size, recorder).eval(), 0.5, 2, batch_size=size).counts(image(), size, seed=0, index=0)
        known, *crowds = recorder.seen
        assert len(crowds) == 2
        for crowd in crowds:
            same = (crowd[:, None] == known[None]).flatten(2).all(2)
            assert not bool(same.diagonal().any())
            assert int(same.sum()) >= size // 4
            assert int(same.sum(0).max()) == 2
            assert bool((crowd == 0).flatten(1).all(1).any())
            most = max(int((crowd == row).flatten(1).all(1).sum()) for row in crowd)
            assert size / 2 < most < 0.6 * size


def until_refused(model: nn.Module, classes: int, most: int) -> int:
    """The draws that short calls made before one was refused."""
    made = SmoothedClassifier(Stern(16, model).eval(), 0.5, classes, batch_size=16)
    for drawn in range(0, most, 160):
        try:
            made.counts(image(), 160, seed=0, index=drawn)
        except FunctionError:
            return drawn
    return most


@pytest.mark.parametrize(
    ("model", "classes", "message", "batches"),
    [
        (Repeating(), 4, "run twice in a row", ALL),
        (Quorum(), 2, "beside copies of another row", 4),
        (Counting(11), 2, "beside other rows and in another place", 2 + 8 + 1),
        (Counting(ALL - 1), 2, "run again after a few other batches", ALL),
        (Counting(ALL), 2, "run twice in a row", ALL),
    ],
    ids=["repeating", "quorum", "counting 11", "counting 12", "counting 13"],
)
def test_what_a_run_cannot_pay_for_at_first_is_seen_as_it_goes_on(
    model: nn.Module, classes: int, message: str, batches: int
) -> None:
    """Before the first vote, if the draws that pay for it are announced; else when they were made."""
    needed = batches * 16 * rows.EVERY
    assert until_refused(copy.deepcopy(model), classes, needed - 160) == needed - 160 or isinstance(model, Counting)
    assert until_refused(copy.deepcopy(model), classes, needed + 160) < needed
    with pytest.raises(ModelError, match=message):
        counted(Stern(16, copy.deepcopy(model)), classes, n=needed)


def test_what_begins_during_a_run_is_seen_there() -> None:
    """Looks begin with the four hundredth micro-batch: the first trials were two."""
    n = 16 * 3 * rows.EVERY
    for late in (Later(rows.EVERY), Later(2 * rows.EVERY - 1)):
        with pytest.raises(ModelError, match=r"run again later, beside other rows"):
            counted(Stern(16, late), n=n)
    with pytest.raises(ModelError, match=r"with some of its neighbours replaced"):
        counted(Stern(16, LateNeighbour(50)), n=n)
