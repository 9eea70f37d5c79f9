"""What draws are reduced to, against the obvious computation on all of them at once."""

import numpy as np
import pytest
import torch

from doublebubble.errors import DoubleBubbleError, SettingError
from doublebubble.streams import NormalDraws, Stream
from doublebubble.tally import Request
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
    request = Request(image(1), 500, stream, antithetic=True, pairs=((0,), (1, 3)))
    tally = smoothed(batch_size=33).tally(request)
    noise = torch.empty((250, *SHAPE))
    NormalDraws(stream, image(1)).fill(noise)
    with torch.no_grad():
        plus, minus = (small_net()(image(1) + sign * 0.5 * noise).argmax(1) for sign in (1, -1))
    assert tally.pairs is not None
    for row, classes in zip(tally.pairs, ([0], [1, 3]), strict=True):
        hits = torch.isin(plus, torch.tensor(classes)).long() + torch.isin(minus, torch.tensor(classes)).long()
        assert row.tolist() == [int((hits == 2).sum()), int((hits == 1).sum()), int((hits == 0).sum())]
    assert tally.counts.tolist() == (torch.bincount(plus, minlength=4) + torch.bincount(minus, minlength=4)).tolist()


def test_kept_votes_are_those_of_the_single_draws_in_order() -> None:
    stream = Stream(0, 1, "search", 2)
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
        {"pairs": ((0,),)},
        {"antithetic": True, "keep_votes": True},
    ):
        with pytest.raises(DoubleBubbleError, match="input 0"):
            Request(**{"x": image(), "n": 10, "stream": stream, **wrong})  # type: ignore[arg-type]
