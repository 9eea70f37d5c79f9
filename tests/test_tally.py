"""What draws are reduced to, against the obvious computation on all of them at once."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from doublebubble.bounds.gradient import SUM_ERROR
from doublebubble.errors import DoubleBubbleError, SettingError
from doublebubble.lines import Line
from doublebubble.streams import NormalDraws, Stream
from doublebubble.tally import Accumulator, Request, summation_error, summing_device
from tests.smoothing.subjects import SHAPE, image, slow_tally, small_net, smoothed


@pytest.mark.parametrize("split", [None, 0, 100, 137, 400])
def test_moments_equal_the_obvious_computation(split: int | None) -> None:
    n, stream = 400, Stream(0, 1, "certify")
    weights = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (-0.25, 1.75, 0.75, 0.5))
    tally = smoothed(batch_size=32).tally(Request(image(1), n, stream, weights, split))
    votes, noise = slow_tally(small_net(), image(1), n, stream, 0.5)
    cut = n if split is None else split
    assert tally.halves == (cut, n - cut)
    assert tally.sums is not None
    for half, rows in ((0, slice(0, cut)), (1, slice(cut, n))):
        for number, row in enumerate(weights):
            weighted = torch.tensor(row, dtype=torch.float64)[votes[rows], None, None, None] * noise[rows].double()
            expected = weighted.sum(0).reshape(-1).numpy()
            np.testing.assert_allclose(tally.sums[half, number], expected, atol=1e-9)


def test_antithetic_pairs_equal_the_obvious_computation() -> None:
    stream = Stream(0, 1, "certify")
    request = Request(image(1), 500, stream, antithetic=True)
    tally = smoothed(batch_size=33).tally(request)
    noise = torch.empty((250, *SHAPE))
    NormalDraws(stream, image(1)).fill(noise)
    with torch.no_grad():
        plus, minus = (small_net()(image(1) + sign * 0.5 * noise).argmax(1) for sign in (1, -1))
    assert tally.pairs is not None
    assert len(tally.pairs) == 4
    for label, row in enumerate(tally.pairs):
        hits = (plus == label).long() + (minus == label).long()
        assert row.tolist() == [int((hits == 2).sum()), int((hits == 1).sum()), int((hits == 0).sum())]
    assert tally.counts.tolist() == (torch.bincount(plus, minlength=4) + torch.bincount(minus, minlength=4)).tolist()


def test_kept_votes_are_those_of_the_single_draws_in_order() -> None:
    stream = Stream(0, 1, "search", "look/2")
    requests = [Request(image(1), 300, stream, keep_votes=True), Request(image(2), 50, stream)]
    kept, other = smoothed(batch_size=64).tallies(requests)
    votes, _ = slow_tally(small_net(), image(1), 300, stream, 0.5)
    assert kept.votes is not None
    assert kept.votes.tolist() == votes.tolist()
    assert other.votes is None


@pytest.mark.parametrize("n", [0, -5, 1.5, True])
def test_fewer_than_one_draw_is_refused(n: object) -> None:
    with pytest.raises(SettingError, match="n must be"):
        smoothed().counts(image(), n, seed=0, index=0)  # type: ignore[arg-type]


def test_malformed_requests_are_refused() -> None:
    stream = Stream(0, 0, "certify")
    for wrong in (
        {"split": 11},
        {"antithetic": True, "n": 9},
        {"antithetic": True, "moments": ((0.0, 1.0),)},
        {"antithetic": True, "keep_votes": True},
    ):
        with pytest.raises(DoubleBubbleError, match="input 0"):
            Request(**{"x": image(), "n": 10, "stream": stream, **wrong})  # type: ignore[arg-type]


def test_requests_of_one_name_share_their_draws() -> None:
    stream = Stream(0, 0, "certify")
    one = Request(image(), 10, stream, ((0.0, 1.0, 0.0, 0.0),), split=5)
    two = Request(image(), 10, stream, ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)), split=5)
    both = one.merged(two).merged(Request(image(), 10, stream))
    assert both.moments == ((0.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    assert both.split == 5
    tally = smoothed().tally(both)
    for request in (one, two):
        alone = smoothed().tally(request)
        for row in request.moments:
            for mine, other in zip(tally.half_means(row), alone.half_means(row), strict=True):
                np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12)
    with pytest.raises(SettingError, match="asked for"):
        tally.half_means((0.0, 0.0, 0.0, 1.0))


def test_two_centres_under_one_name_are_an_error() -> None:
    """Else a ball would be certified with the votes of another centre."""
    stream = Stream(0, 0, "certify", "boundary/2")
    with pytest.raises(SettingError, match="two centres under the name boundary/2"):
        Request(image(1), 10, stream).merged(Request(image(2), 10, stream))
    for other in (Request(image(1), 12, stream), Request(image(1), 10, stream, antithetic=True)):
        with pytest.raises(SettingError, match="two kinds of draws"):
            Request(image(1), 10, stream).merged(other)
    halves = [Request(image(1), 10, stream, ((0.0, 1.0, 0.0, 0.0),), split=split) for split in (4, 5)]
    with pytest.raises(SettingError, match="two kinds of draws"):
        halves[0].merged(halves[1])


class Narrow(Tensor):
    """A tensor on a device without float64, as MPS is: it may only be widened once it has left."""

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[no-untyped-call]
        if func is Tensor.to and any(isinstance(argument, torch.device) for argument in args):
            return result.as_subclass(Tensor)
        if isinstance(result, cls) and result.dtype == torch.float64:
            raise TypeError("this device has no float64")
        return result


def test_moments_of_a_device_without_float64_are_exact_to_what_the_bound_assumes() -> None:
    n, dim = 4000, 5
    noise = torch.randn((n, dim), generator=torch.Generator().manual_seed(0))
    votes = torch.randint(2, (n,), generator=torch.Generator().manual_seed(1))
    request = Request(torch.zeros(dim), n, Stream(0, 0, "certify"), ((-0.3, 1.7),), split=1500)
    accumulator = Accumulator(request, 2, torch.device("cpu"))
    for first in range(0, n, 250):
        accumulator.add(votes[first : first + 250], noise[first : first + 250].as_subclass(Narrow), first)
    sums = accumulator.result().sums
    assert sums is not None
    weights = np.array([-0.3, 1.7])[votes.numpy()]
    for half, rows in ((0, slice(0, 1500)), (1, slice(1500, n))):
        exact = [math.fsum(weights[rows] * noise[rows, k].double().numpy()) for k in range(dim)]
        assert np.abs(sums[half, 0] - exact).max() < 1e-11, "float32 sums are wrong by 1e-4"


def test_moments_are_summed_where_there_is_float64() -> None:
    assert summing_device(torch.device("mps")).type == "cpu"
    assert [summing_device(torch.device(name)).type for name in ("cpu", "cuda")] == ["cpu", "cuda"]


def test_what_an_addition_rounds_away_is_not_lost() -> None:
    """One long draw and many short ones, each below half a unit in the last place of the total."""
    n = 10_000
    request = Request(torch.zeros(1), n, Stream(0, 0, "certify"), ((1.0, 0.0),))
    accumulator = Accumulator(request, 2, torch.device("cpu"), block=2)
    for first in range(0, n, 2):
        noise = torch.full((2, 1), 2.0**-55, dtype=torch.float64)
        if first == 0:
            noise[0] = 1.0
        accumulator.add(torch.zeros(2, dtype=torch.int64), noise, first)
    sums = accumulator.result().sums
    assert sums is not None
    assert sums[0, 0, 0] - 1.0 == pytest.approx((n - 1) * 2.0**-55, abs=2.0**-52)


def test_a_large_piece_is_summed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many draws come at once, no more than the bound knows of are summed by one product."""
    seen: list[int] = []
    one = Accumulator._sum

    def watched(self: Accumulator, half: int, votes: Tensor, noise: Tensor) -> None:
        seen.append(len(votes))
        one(self, half, votes, noise)

    monkeypatch.setattr(Accumulator, "_sum", watched)
    request = Request(torch.zeros(1), 3000, Stream(0, 0, "certify"), ((1.0, 0.0),), split=1500)
    accumulator = Accumulator(request, 2, torch.device("cpu"), block=3000)
    accumulator.add(torch.zeros(3000, dtype=torch.int64), torch.ones(3000, 1), 0)
    sums = accumulator.result().sums
    assert sums is not None
    assert sums.reshape(-1).tolist() == [1500.0, 1500.0]
    assert seen == [1024, 476, 1024, 476]


def test_moments_that_cannot_be_summed_to_the_allowed_error_are_refused() -> None:
    assert summation_error(150_528, 2.0) < 0.2 * SUM_ERROR
    wide = torch.zeros(1).expand(20_000_000)
    with pytest.raises(SettingError, match="cannot be summed to 1e-08"):
        Accumulator(Request(wide, 2, Stream(0, 0, "certify"), ((2.0, 0.0),)), 2, torch.device("cpu"))


@pytest.mark.parametrize("split", [None, 70, 90])
def test_sums_are_the_same_to_the_bit_however_the_draws_come(split: int | None) -> None:
    """A run that is resumed shares its micro-batches otherwise: its records are to be the same all the same."""
    n, dim = 200, 64
    noise = torch.randn((n, dim), generator=torch.Generator().manual_seed(0))
    votes = torch.randint(2, (n,), generator=torch.Generator().manual_seed(1))
    request = Request(torch.zeros(dim), n, Stream(0, 0, "certify"), ((-0.3, 1.7), (0.9, 0.1)), split=split)
    found = set()
    for ends in ([32, 64, 96, 128, 160, 192, n], [1, 40, 41, 130, n], [n], [*range(3, n, 7), n]):
        accumulator, first = Accumulator(request, 2, torch.device("cpu"), block=32), 0
        buffer = torch.empty_like(noise)
        for end in ends:
            buffer[: end - first] = noise[first:end]  # the next piece overwrites it, as the next micro-batch does
            accumulator.add(votes[first:end], buffer[: end - first], first)
            first = end
        sums = accumulator.result().sums
        assert sums is not None
        found.add(sums.tobytes())
    assert len(found) == 1


# Bins along lines


def lines(dim: int) -> tuple[Line, Line]:
    one, two = np.random.default_rng(4).normal(size=(2, dim))
    return Line.along(one, (-1.0, -0.2, 0.1, 0.7)), Line.along(two, (-0.5, 0.0, 0.4, 0.9))


@pytest.mark.parametrize("moments", [(), ((1.0, 0.0, -1.0, 0.5),)])
def test_tables_by_bins_equal_the_obvious_computation(moments: tuple[tuple[float, ...], ...]) -> None:
    n, stream = 400, Stream(0, 1, "certify")
    asked = lines(math.prod(SHAPE))
    tally = smoothed(batch_size=32).tally(Request(image(1), n, stream, moments, 150 if moments else None, lines=asked))
    votes, noise = slow_tally(small_net(), image(1), n, stream, 0.5)
    for line in asked:
        z = noise.reshape(n, -1).double().numpy() @ line.direction
        places = np.searchsorted(line.edges, z, side="right")
        expected = np.zeros((line.bins, 4), np.int64)
        np.add.at(expected, (places, votes.numpy()), 1)
        assert tally.table(line).tolist() == expected.tolist()
        assert tally.table(line).sum() == n
    with pytest.raises(SettingError, match="asked for"):
        tally.table(Line.along(np.ones(math.prod(SHAPE)), (0.0,)))


def test_tables_are_the_same_however_the_draws_come() -> None:
    n, dim = 200, 64
    noise = torch.randn((n, dim), generator=torch.Generator().manual_seed(0))
    votes = torch.randint(2, (n,), generator=torch.Generator().manual_seed(1))
    request = Request(torch.zeros(dim), n, Stream(0, 0, "certify"), lines=lines(dim))
    found = set()
    for ends in ([32, 64, 96, 128, 160, 192, n], [1, 40, 41, 130, n], [n], [*range(3, n, 7), n]):
        accumulator, first = Accumulator(request, 2, torch.device("cpu"), block=32), 0
        for end in ends:
            accumulator.add(votes[first:end], noise[first:end], first)
            first = end
        found.add(tuple(table.tobytes() for table in accumulator.result().tables))
    assert len(found) == 1


def test_lines_are_shared_like_moments() -> None:
    stream = Stream(0, 0, "certify")
    one, two = lines(math.prod(SHAPE))
    both = Request(image(), 10, stream, lines=(one,)).merged(Request(image(), 10, stream, lines=(two, one)))
    assert both.lines == (one, two)
    with pytest.raises(SettingError, match="lines in R"):
        Request(image(), 10, stream, lines=lines(3))
    with pytest.raises(SettingError, match="no lines"):
        Request(image(), 10, stream, lines=(one,), antithetic=True)
