"""Votes, moments, pairs and predictions under noise on a grid, against a slow second implementation."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from doublebubble.audit.coverage import misses_allowed
from doublebubble.bounds.prediction import Lead, lead_for
from doublebubble.errors import InputError, SettingError
from doublebubble.lines import Line
from doublebubble.noise import Lattice, LatticeDraws
from doublebubble.search.gradients import Estimator, slopes
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request
from doublebubble.types import ABSTAIN, NOISES, Floats, NoiseName
from tests.smoothing.subjects import SHAPE, Recorder, image, small_net, smoothed

SIGMA, N = 2.0, 300
GRID = Lattice.around(Fraction(1, 255), (0.0, 1.0), SIGMA)
LAW = GRID.law(SIGMA)
STEPS = (255 * image()).round().long()
X = STEPS / 255
STREAM = Stream(0, 3, "certify")


def on_grid(batch_size: int = 64, **settings: object) -> SmoothedClassifier:
    return SmoothedClassifier(small_net(), SIGMA, 4, batch_size=batch_size, noise="lattice", **settings)  # type: ignore[arg-type]


def drawn(n: int, stream: Stream = STREAM) -> np.ndarray:
    steps = np.empty(n * X.numel(), np.int32)
    LatticeDraws(stream, LAW).fill(steps)
    return steps.reshape(n, -1)


def seen(steps: np.ndarray) -> Tensor:
    """What the model is to see: integers added, clipped and looked up."""
    places = np.clip(steps + STEPS.numpy().reshape(-1), -4080, 4335)
    return torch.tensor(places / 255, dtype=torch.float32).view(-1, *SHAPE)


def voted(steps: np.ndarray) -> Tensor:
    with torch.no_grad():
        logits: Tensor = small_net()(seen(steps))
        return logits.argmax(1)


def test_the_model_sees_sums_of_integers_and_nothing_else() -> None:
    recorder = Recorder().eval()
    classifier = SmoothedClassifier(recorder, SIGMA, 2, batch_size=50, noise="lattice")
    classifier.counts(X, 1, seed=9, index=9)
    recorder.seen.clear()
    classifier.counts(X, N, seed=0, index=3)
    assert torch.equal(torch.cat(recorder.seen)[:N], seen(drawn(N)))


@pytest.mark.parametrize("batch_size", [2, 7, 64, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_counts_are_the_same_at_every_batch_size_and_dtype(batch_size: int, dtype: torch.dtype) -> None:
    counts = on_grid(batch_size).counts(STEPS.to(dtype) / 255, N, seed=0, index=3)
    assert counts.tolist() == torch.bincount(voted(drawn(N)), minlength=4).tolist()
    assert (counts > 0).sum() > 1


def test_moments_are_sums_of_the_means_of_cells_in_float64() -> None:
    rows = ((1.0, 0.0, -0.5, 2.0), (0.25, 1.0, 0.0, 0.0))
    tally = on_grid().tally(Request(X, N, STREAM, rows, split=140))
    steps, votes = drawn(N), voted(drawn(N)).numpy()
    assert tally.sums is not None
    for number, row in enumerate(rows):
        for half, part in enumerate((slice(0, 140), slice(140, N))):
            weights = np.array(row)[votes[part]]
            expected = weights @ LAW.means[steps[part] + LAW.last]
            np.testing.assert_allclose(tally.sums[half, number], expected, rtol=0, atol=1e-11)


def test_requests_with_and_without_moments_share_batches() -> None:
    """A request that sums noise finds its own rows, whoever filled the batch before it."""
    rows = ((1.0, 0.0, -0.5, 2.0),)
    requests = [Request(X, 20 + k, Stream(0, k, "certify"), rows if k % 2 else ()) for k in range(6)]
    together = on_grid(63).tallies(requests)
    for request, tally in zip(requests, together, strict=True):
        alone = on_grid(63).tally(request)
        assert tally.counts.tolist() == alone.counts.tolist()
        if tally.sums is not None:
            assert alone.sums is not None
            np.testing.assert_array_equal(tally.sums, alone.sums)


def test_opposite_draws_are_the_integers_with_the_other_sign() -> None:
    steps = drawn(N // 2)
    plus, minus = voted(steps), voted(-steps)
    tally = on_grid(50).tally(Request(X, N, STREAM, antithetic=True))
    assert tally.pairs is not None
    for k in range(4):
        both = int(((plus == k) & (minus == k)).sum())
        one = int(((plus == k) ^ (minus == k)).sum())
        assert tally.pairs[k].tolist() == [both, one, N // 2 - both - one]


@pytest.mark.parametrize("noise", NOISES)
def test_score_function_gradients_use_the_noise_of_the_votes(noise: NoiseName) -> None:
    """(E1): the noise is made once more, and is that of the draws, as moments have it."""
    classifier = SmoothedClassifier(small_net(), SIGMA, 4, noise=noise)
    rows = np.array([[1.0, 0.0, -0.5, 2.0]])
    found = slopes(classifier, Estimator.APPROXIMATE, X, N, Stream(0, 3, "search"), rows)
    tally = classifier.tally(Request(X, N, Stream(0, 3, "search"), (tuple(rows[0].tolist()),)))
    assert tally.sums is not None
    assert found.counts.tolist() == tally.counts.tolist()
    np.testing.assert_allclose(
        found.gradients[0].numpy().reshape(-1), tally.sums[0, 0] / (N * SIGMA), rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("rows", [(), ((0.0, 1.0),)], ids=["bins alone", "with moments"])
def test_bins_of_a_line_hold_normal_numbers_and_sums_are_of_them(rows: tuple[tuple[float, ...], ...]) -> None:
    """On a grid as coarse as sigma: cell means along an axis take few values, Z is normal in every bin.

    The votes are those of the integers, whether bins are asked for or not.
    """
    classifier = SmoothedClassifier(Step(0.25).eval(), 0.5, 2, batch_size=1000, noise="lattice", grid=2)
    direction, edges, n = np.array([0.6, 0.8]), (-1.5, -0.7, -0.1, 0.2, 0.9, 1.6), 50_000
    line, x = Line(direction, edges), torch.tensor([0.5, 0.0])
    tally = classifier.tally(Request(x, n, STREAM, rows, split=n // 2 if rows else None, lines=(line,)))
    assert tally.counts.tolist() == classifier.tally(Request(x, n, STREAM)).counts.tolist()
    table = tally.table(line)
    masses = np.diff(stats.norm.cdf([-np.inf, *edges, np.inf]))
    assert stats.chisquare(table.sum(1), n * masses).pvalue > 1e-4
    # Class 1 is Z_1 > -1/2, an edge of a cell: its share in a bin is known from the joint law of Z_1 and u.Z.
    for number, (low, high) in enumerate(zip((-np.inf, *edges), (*edges, np.inf), strict=True)):
        both = stats.multivariate_normal([0.0, 0.0], [[1.0, -0.6], [-0.6, 1.0]])  # of u.Z and -Z_1
        p = float(both.cdf([high, 0.5]) - (both.cdf([low, 0.5]) if np.isfinite(low) else 0.0))
        assert stats.binomtest(int(table[number, 1]), n, p).pvalue > 1e-5
    if rows:
        assert tally.sums is not None
        for mean in half_means(tally.sums, tally.halves):
            assert abs(mean - float(stats.norm.pdf(0.5))) < 4 / np.sqrt(n / 2)


# What is refused


def test_inputs_off_the_grid_or_out_of_the_domain_are_refused() -> None:
    with pytest.raises(InputError, match="input 5: expected values on the grid of step 1/255, got"):
        on_grid().counts(X + 0.001 * (X < 0.5), 10, seed=0, index=5)
    with pytest.raises(InputError, match=r"input 5: expected values in \[0.0, 1.0\]"):
        on_grid().counts(X + 1, 10, seed=0, index=5)
    with pytest.raises(InputError, match="input 5: expected finite values"):
        on_grid().counts(X * torch.nan, 10, seed=0, index=5)
    with pytest.raises(InputError, match="grid of step 1/16"):
        on_grid(grid=16).counts(X, 10, seed=0, index=5)
    with pytest.raises(SettingError, match="expected a domain"):
        on_grid(domain=None)


def test_it_says_which_noise_it_has() -> None:
    assert "noise='lattice', grid=16" in repr(on_grid(grid=16))
    assert "noise" not in repr(smoothed())
    assert "noise='gaussian64')" in repr(smoothed(noise="gaussian64"))


# Predict


@pytest.mark.parametrize("noise", ["gaussian", "lattice"])
def test_predict_takes_the_loss_off_alpha(noise: NoiseName, monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[float] = []

    def spied(alpha: float, classes: int, cap: int) -> Lead:
        levels.append(alpha)
        return lead_for(alpha, classes, cap)

    monkeypatch.setattr("doublebubble.smoothing.classifier.lead_for", spied)
    loss = LAW.loss(100, X.numel(), 0.01) if noise == "lattice" else 0.0
    assert (loss > 1e-14) == (noise == "lattice")
    SmoothedClassifier(Step(0.5).eval(), SIGMA, 2, noise=noise).predict(X, 100, 0.01, seed=0, index=0)
    assert Fraction(levels[0]) + Fraction(loss) <= Fraction(0.01)
    assert levels == [pytest.approx(0.01 - loss, rel=1e-12)]


class Step(nn.Module):
    """Class 1 where the first value is above a threshold."""

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self.threshold = threshold

    def forward(self, batch: Tensor) -> Tensor:
        over = batch.flatten(1)[:, 0] - self.threshold
        return torch.stack([-over, over], 1)


@pytest.mark.parametrize("noise", NOISES)
def test_predict_holds_where_two_classes_are_as_likely(noise: NoiseName) -> None:
    """A threshold half a step above or below a grid point and votes of one class but for chance: named rarely.

    On the grid the model sees 1/2 exactly at J = 0, which goes to class 0: with the threshold at 1/2, P[class 1] is
    P[J > 0], which is known, and class 1 must not be named.
    """
    grid = {"grid": 2} if noise == "lattice" else {}
    classifier = SmoothedClassifier(Step(0.5).eval(), 0.5, 2, batch_size=500, noise=noise, **grid)  # type: ignore[arg-type]
    named = [classifier.predict(torch.tensor([0.5]), 100, 0.05, seed=0, index=index) for index in range(500)]
    if noise == "lattice":
        assert named.count(1) == 0
        p = stats.norm.cdf(0.5)  # J <= 0: up to half a step of one sigma
        share = classifier.counts(torch.tensor([0.5]), 100_000, seed=1, index=0)[0]
        assert stats.binomtest(int(share), 100_000, p).pvalue > 1e-4
    else:
        assert len(named) - named.count(ABSTAIN) <= misses_allowed(500, 0.05)


def half_means(sums: Floats, halves: tuple[int, int]) -> list[float]:
    return [float(part[0, 0]) / n for part, n in zip(sums, halves, strict=True)]


def test_the_mean_of_votes_times_cell_means_is_the_gradient() -> None:
    """(N4): E[f M] = E[f Z] = phi at the threshold, known in closed form, on a grid as coarse as sigma."""
    classifier = SmoothedClassifier(Step(0.25).eval(), 0.5, 2, batch_size=1000, noise="lattice", grid=2)
    n = 200_000
    tally = classifier.tally(Request(torch.tensor([0.5]), n, STREAM, ((0.0, 1.0),), split=n // 2))
    assert tally.sums is not None
    truth = float(stats.norm.pdf(0.5))  # class 1 is y > 0.25 = x - sigma/2, an edge of a cell
    for mean in half_means(tally.sums, tally.halves):
        assert abs(mean - truth) < 4 / np.sqrt(n / 2)
