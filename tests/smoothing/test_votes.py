"""Votes: reproducible, and independent of company."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import SettingError
from doublebubble.lines import Line
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import NormalDraws, Stream
from doublebubble.tally import Request
from tests.smoothing.subjects import SHAPE, Recorder, image, looked_at, slow_tally, small_net, smoothed


def test_counts_equal_the_obvious_computation() -> None:
    stream = Stream(0, 3, "certify", "boundary/2")
    votes, _ = slow_tally(small_net(), image(), 1000, stream, 0.5)
    counts = smoothed().counts(image(), 1000, seed=0, index=3, part="boundary/2")
    assert counts.tolist() == torch.bincount(votes, minlength=4).tolist()
    assert (counts > 0).sum() > 1, "a network that always says the same tests nothing"


class Bright(nn.Module):
    """Class 1 where the mean is above a half; rows of zeros are of class 0."""

    def forward(self, batch: Tensor) -> Tensor:
        mean = batch.flatten(1).mean(1)
        return torch.stack([0.5 - mean, mean - 0.5], 1)


@pytest.mark.parametrize("n", [1, 10, 63, 64, 70])
def test_padding_has_no_vote(n: int) -> None:
    classifier = SmoothedClassifier(Bright().eval(), 0.01, 2, batch_size=64)
    for index in range(2):  # the second time it is zeros
        assert classifier.counts(torch.ones(SHAPE), n, seed=0, index=index).tolist() == [0, n]


@pytest.mark.parametrize("batch_size", [2, 7, 64, 1000])
def test_the_same_noise_at_every_batch_size(batch_size: int) -> None:
    recorder = Recorder().eval()
    looked_at(SmoothedClassifier(recorder, 0.25, 2, batch_size=batch_size), recorder).counts(
        image(), 130, seed=1, index=2
    )
    fed = torch.cat(recorder.seen)[:130]
    noise = torch.empty((130, *SHAPE))
    NormalDraws(Stream(1, 2, "certify"), image()).fill(noise)
    assert torch.equal(fed, torch.add(image(), noise, alpha=0.25))
    assert {len(batch) for batch in recorder.seen} == {batch_size}, "the forward pass always runs at the recorded shape"


def test_the_same_votes_in_any_order_and_after_a_restart() -> None:
    inputs = [image(seed) for seed in range(5)]
    forwards = smoothed()
    votes = [forwards.counts(x, 300, seed=0, index=i).tolist() for i, x in enumerate(inputs)]
    backwards = smoothed()
    again = [backwards.counts(x, 300, seed=0, index=i).tolist() for i, x in reversed(list(enumerate(inputs)))]
    assert votes == again[::-1]


@pytest.mark.parametrize("antithetic", [False, True])
def test_requests_scheduled_together_give_what_each_gives_alone(antithetic: bool) -> None:
    weights = () if antithetic else ((1.0, 0.0, 0.0, 0.0), (-0.5, 2.0, 0.25, 0.0))
    requests = [
        Request(image(seed), 2 * seed + 20, Stream(0, seed, "select"), weights, antithetic=antithetic)
        for seed in range(9)
    ]
    recorder = smoothed(batch_size=63)
    together = recorder.tallies(requests)
    for request, tally in zip(requests, together, strict=True):
        alone = smoothed(batch_size=63).tally(request)
        assert tally.counts.tolist() == alone.counts.tolist()
        if antithetic:
            assert tally.pairs is not None
            assert alone.pairs is not None
            assert tally.pairs.tolist() == alone.pairs.tolist()
        else:
            assert tally.sums is not None
            assert alone.sums is not None
            np.testing.assert_array_equal(tally.sums, alone.sums)


def test_sharing_a_batch_saves_forward_passes() -> None:
    recorder = Recorder().eval()
    classifier = looked_at(SmoothedClassifier(recorder, 0.25, 2, batch_size=100), recorder)
    classifier.tallies([Request(image(seed), 20, Stream(0, seed, "select")) for seed in range(10)])
    assert len(recorder.seen) == 2


class Neighbourly(nn.Module):
    """Rows influence each other in the last bits, as in a model that sums in an order that depends on the batch."""

    def forward(self, batch: Tensor) -> Tensor:
        first = batch.flatten(1)[:, 0]
        return torch.stack([first, 1e-6 * first.roll(1)], 1)


def test_rows_that_influence_each_other_by_rounding_are_never_shared() -> None:
    requests = [Request(image(seed), 20, Stream(0, seed, "select")) for seed in range(6)]
    classifier = SmoothedClassifier(Neighbourly().eval(), 0.5, 2, batch_size=64)
    together = [tally.counts.tolist() for tally in classifier.tallies(requests)]
    alone = [SmoothedClassifier(Neighbourly().eval(), 0.5, 2, batch_size=64).tally(r).counts.tolist() for r in requests]
    assert together == alone


@pytest.mark.parametrize("batch_size", [2, 7, 64, 1000])
def test_a_stream_of_votes_is_the_votes_in_order(batch_size: int) -> None:
    """Drawn in any pieces, beside any others: vote i is that of draw i of the request."""
    together = smoothed(batch_size=batch_size)
    requests = [Request(image(seed), 200, Stream(0, seed, "certify")) for seed in range(4)]
    streams = [together.open_votes(request) for request in requests]
    for upto in ([1, 30, 5, 0], [70, 31, 5, 3], [71, 200, 100, 9]):
        together.extend(list(zip(streams, upto, strict=True)))
        assert all(stream.drawn >= most for stream, most in zip(streams, upto, strict=True))
    for request, stream in zip(requests, streams, strict=True):
        votes = smoothed().tally(replace(request, keep_votes=True)).votes
        assert votes is not None
        assert stream.votes_from(0) == votes[: stream.drawn].tolist()
        assert stream.votes_from(3) == votes[3 : stream.drawn].tolist()
        with pytest.raises(AssertionError):
            stream.votes_from(2)
    together.extend([(streams[0], 10**6)])
    assert streams[0].drawn == 200, "a request is never exceeded"


def test_draws_that_are_asked_for_again_are_the_same() -> None:
    """Inputs that turn out not to be allowed to share a micro-batch, in the middle of their streams."""
    requests = [Request(image(seed), 200, Stream(0, seed, "certify")) for seed in range(2)]
    classifier = SmoothedClassifier(Neighbourly().eval(), 0.5, 2, batch_size=64)
    first, second = (classifier.open_votes(request) for request in requests)
    classifier.extend([(first, 64)])
    classifier.extend([(first, 80), (second, 20)])
    assert not classifier._votes._rows[(SHAPE, torch.float32)].interchangeable
    for request, stream in zip(requests, (first, second), strict=True):
        alone = SmoothedClassifier(Neighbourly().eval(), 0.5, 2, batch_size=64).tally(replace(request, keep_votes=True))
        assert alone.votes is not None
        assert stream.votes_from(0) == alone.votes[: stream.drawn].tolist()


def test_rows_without_a_taker_hold_further_votes() -> None:
    recorder = Recorder().eval()
    classifier = looked_at(SmoothedClassifier(recorder, 0.25, 2, batch_size=100), recorder)
    streams = [classifier.open_votes(Request(image(seed), 500, Stream(0, seed, "certify"))) for seed in range(3)]
    classifier.extend([(stream, 10) for stream in streams])
    assert len(recorder.seen) == 1
    assert sum(stream.drawn for stream in streams) == 100
    classifier.extend([(stream, 10) for stream in streams])
    assert len(recorder.seen) == 1, "what was drawn already is not drawn again"


def test_a_stream_of_votes_has_no_pairs_and_no_moments() -> None:
    for request in (
        Request(image(), 10, Stream(0, 0, "certify"), antithetic=True),
        Request(image(), 10, Stream(0, 0, "certify"), ((1.0, 0.0, 0.0, 0.0),)),
    ):
        with pytest.raises(SettingError, match="no pairs and no moments"):
            smoothed().open_votes(request)


@pytest.mark.parametrize("batch_size", [2, 7, 64])
def test_a_line_that_is_followed_late_knows_the_bins_of_all_draws(batch_size: int) -> None:
    """Against the noise of the stream itself, whatever was drawn ahead, and with the votes beside it."""
    classifier = smoothed(batch_size=batch_size)
    request = Request(image(1), 300, Stream(0, 1, "certify"))
    stream = classifier.open_votes(request)
    stream.keep_past()
    classifier.extend([(stream, 50)])
    line = Line.along(np.arange(1.0, image(1).numel() + 1), (-0.5, 0.5))
    noise = torch.empty((300, *image(1).shape))
    classifier.noise.source(request.stream, classifier.checked(image(1), 1)).fill(noise)
    bins = line.places(noise.reshape(300, -1).double()).tolist()
    votes = classifier.tally(replace(request, keep_votes=True)).votes
    assert votes is not None
    assert stream.past_votes(40).tolist() == votes[:40].tolist()
    made = torch.cat([rows for _, rows in stream.past_noise(40)])
    assert torch.equal(made, noise[:40].reshape(40, -1).double())
    assert stream.votes_from(30) == votes[30 : stream.drawn].tolist()
    assert stream.follow(line) == bins[: stream.drawn]
    assert stream.bins_from(30) == bins[30 : stream.drawn]
    classifier.extend([(stream, 200)])
    assert stream.votes_from(60) == votes[60 : stream.drawn].tolist()
    assert stream.bins_from(60) == bins[60 : stream.drawn]


def test_a_line_cannot_be_followed_twice_nor_where_noise_is_not_kept() -> None:
    line = Line.along(np.ones(image().numel()), (0.0,))
    stream = smoothed().open_votes(Request(image(), 10, Stream(0, 0, "certify")))
    for wrong in (lambda: stream.past_votes(1), lambda: stream.bins_from(0)):
        with pytest.raises(AssertionError):
            wrong()
    assert stream.follow(line) == []
    with pytest.raises(AssertionError, match="one line"):
        stream.follow(line)
    smoothed().extend([(stream, 2)])
    with pytest.raises(AssertionError, match="drawn already"):
        stream.keep_past()
    exact = SmoothedClassifier(small_net(), 0.5, 4, None, noise="gaussian64")
    with pytest.raises(AssertionError, match="under gaussian noise"):
        exact.open_votes(Request(image(), 10, Stream(0, 0, "certify"))).follow(line)
