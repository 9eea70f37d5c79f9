"""(F2) by simulation: coverage on regions whose gradient is known, in low and high dimension."""

from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from doublebubble.bounds import (
    GradientTest,
    HalfMoments,
    VoteBounds,
    design_test,
    gradient,
    lead_gradient_bound,
    vote_weights,
)
from doublebubble.bounds.cumulant import cumulant
from doublebubble.bounds.gradient import descended, expected_square, largest_lead_gradient
from doublebubble.errors import SettingError
from doublebubble.types import Floats

ALPHA = 0.01  # small, so that an error in the exponent shows as many times alpha


@dataclass(frozen=True)
class Regions:
    """Votes that depend on two coordinates: B where z1 > a or z1 < -left, else C where z2 > b, else A."""

    a: float
    left: float
    b: float

    def level(self, z1: Floats, z2: Floats) -> Floats:
        return np.where((z1 > self.a) | (z1 < -self.left), 2.0, np.where(z2 > self.b, 1.0, 0.0))

    @property
    def votes(self) -> VoteBounds:
        rival = float(norm.sf(self.a) + norm.sf(self.left))
        return VoteBounds(rival + (1 - rival) * float(norm.sf(self.b)), rival)

    @property
    def gradient(self) -> float:
        along = (norm.pdf(self.a) - norm.pdf(self.left)) * (1 + norm.cdf(self.b))
        return float(np.hypot(along, norm.pdf(self.b) * (1 - self.votes.rival)))


# Not a half-space: its gradient is the largest for its mass, and no bound that knows the mass can miss it.
UNEVEN = Regions(0.6, 1.5, inf)
SLAB = Regions(1.6, 1.6, inf)
THREE = Regions(0.5, 2.0, 1.0)


def half_means(regions: Regions, n: int, offset: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return two coordinates of one half mean, and the standard deviation of each of its other coordinates."""
    z1, z2 = rng.standard_normal((2, n))
    w = regions.level(z1, z2) - offset
    return float(w @ z1) / n, float(w @ z2) / n, sqrt(float(w @ w)) / n


def moments(regions: Regions, test: GradientTest, dims: list[int], rng: np.random.Generator) -> list[HalfMoments]:
    """Draw what the bound sees, from its exact distribution: noise outside the two coordinates is Gaussian."""
    x1, y1, sd1 = half_means(regions, test.n1, test.offset, rng)
    x2, y2, sd2 = half_means(regions, test.n2, test.offset, rng)
    result = []
    for dim in dims:
        along, across = rng.standard_normal(), rng.chisquare(dim - 3) if dim > 3 else 0.0
        size = rng.chisquare(dim - 2) if dim > 2 else 0.0
        dot = x1 * x2 + y1 * y2 + (sd1 * sd2 * sqrt(size) * along if dim > 2 else 0.0)
        norm2 = x2 * x2 + y2 * y2 + (sd2 * sd2 * (along**2 + across) if dim > 2 else 0.0)
        result.append(HalfMoments(dot, sqrt(x1 * x1 + y1 * y1 + sd1 * sd1 * size), sqrt(norm2)))
    return result


@pytest.mark.parametrize("regions", [UNEVEN, SLAB, THREE], ids=["uneven", "slab", "three"])
@pytest.mark.parametrize(("n", "repetitions"), [(1_000, 300), (10_000, 200), (100_000, 60)])
def test_misses_are_no_more_frequent_than_alpha(regions: Regions, n: int, repetitions: int) -> None:
    rng = np.random.default_rng(n + repetitions)
    dims = [2, 784, 3072]
    misses = dict.fromkeys(dims, 0)
    for _ in range(repetitions):
        guess = regions.gradient * rng.uniform(0.5, 1.5)  # fixed before the draws, and not well chosen
        test = design_test(n, int(rng.choice(dims)), ALPHA, regions.votes, guess)
        for dim, seen in zip(dims, moments(regions, test, dims, rng), strict=True):
            misses[dim] += lead_gradient_bound(seen, test, ALPHA, regions.votes) < regions.gradient
    for dim in dims:
        assert binomtest(misses[dim], repetitions, ALPHA, alternative="greater").pvalue > 1e-4, (dim, misses[dim])


@pytest.mark.parametrize(("dim", "limit"), [(10, 0.035), (784, 0.04), (3072, 0.045)])
def test_the_bound_is_close_at_full_size(dim: int, limit: float) -> None:
    """Mean excess over the true gradient at n = 1e5 and the part of alpha = 0.001 that it would get."""
    rng = np.random.default_rng(dim)
    for regions in (UNEVEN, THREE):
        test = design_test(100_000, dim, 2.5e-4, regions.votes, 0.9 * regions.gradient)
        bounds = [
            lead_gradient_bound(moments(regions, test, [dim], rng)[0], test, 2.5e-4, regions.votes) for _ in range(20)
        ]
        assert 0 < np.mean(bounds) / regions.gradient - 1 < limit


def test_a_vector_added_in_a_box_shifts_the_target() -> None:
    """In R^2, with real draws: the bound is on |mean + eta|, and misses no more often than alpha."""
    rng = np.random.default_rng(3)
    eta = np.array([-0.2, 0.05])
    target = float(np.hypot(UNEVEN.gradient + eta[0], eta[1]))
    test = design_test(4_000, 2, ALPHA, UNEVEN.votes, target)
    misses, bounds = 0, []
    for _ in range(200):
        x1, y1, _ = half_means(UNEVEN, test.n1, test.offset, rng)
        x2, y2, _ = half_means(UNEVEN, test.n2, test.offset, rng)
        g1, g2 = np.array([x1, y1]) + eta, np.array([x2, y2]) + eta
        seen = HalfMoments(float(g1 @ g2), float(np.hypot(*g1)), float(np.hypot(*g2)))
        bounds.append(lead_gradient_bound(seen, test, ALPHA, UNEVEN.votes, shift=float(np.hypot(*eta))))
        misses += bounds[-1] < target
    assert binomtest(misses, 200, ALPHA, alternative="greater").pvalue > 1e-4
    assert np.mean(bounds) < 1.25 * target < UNEVEN.gradient


def test_the_exponential_inequality_itself() -> None:
    """E exp(-lam g1.g2 - n2 kappa) <= (1 - c lam x^2/n1 + psi)^n1, small n, where the expectation can be estimated."""
    rng = np.random.default_rng(8)
    n, lam, c, offset, reps = 20, 6.0, 1.1, 0.8, 200_000
    z = rng.standard_normal((2, reps, n))
    g1, g2 = ((UNEVEN.level(z, z) - offset) * z).mean(axis=2)
    psi2 = np.array([cumulant(s, offset, *UNEVEN.votes) for s in np.linspace(0, 2, 401)])
    s2 = lam * np.abs(g1) / n
    assert s2.max() < 2
    above = psi2[np.ceil(s2 * 200).astype(int)]
    x = UNEVEN.gradient
    value = np.exp(-lam * g1 * g2 - n * (c * above + c - 1 - np.log(c)))
    ceiling = (1 - c * lam * x * x / n + cumulant(c * lam * x / n, offset, *UNEVEN.votes)) ** n
    assert value.mean() - 4 * value.std() / sqrt(reps) < ceiling
    assert value.mean() > 0.3 * ceiling


def slow_psi(s: float, offset: float, q: float) -> float:
    """Two tails of equal height, by sorting: the complement as rival, weights -offset and 2 - offset."""
    z = np.linspace(-11, 11, 44001)
    mass = norm.pdf(z) * (z[1] - z[0])
    h = np.exp(s * (2 - offset) * z) - np.exp(-s * offset * z) - 2 * s * z
    order = np.argsort(-h)
    filled = np.minimum(mass[order], np.maximum(0, q - np.cumsum(mass[order]) + mass[order]))
    return float(np.expm1((s * offset) ** 2 / 2) + filled @ np.maximum(h[order], 0))


@pytest.mark.parametrize("shift", [None, 0.2])
@pytest.mark.parametrize(("offset", "tilt"), [(0.1, 1.05), (0.4, 0.9), (1.0, 1.02)])
def test_it_is_the_largest_norm_that_the_proof_leaves(offset: float, tilt: float, shift: float | None) -> None:
    """Markov's inequality written out at the bound, with psi by sorting: nothing is left over, nothing is missing."""
    n1, n2, lam, q, alpha, seen = 4_000, 6_000, 300.0, 0.15, 1e-3, HalfMoments(0.05, 0.3, 0.25)
    x = lead_gradient_bound(seen, GradientTest(n1, n2, offset, lam, tilt), alpha, VoteBounds(q, q), shift)
    psi2 = slow_psi(lam * seen.norm1 / n2, offset, q)
    if shift is None:
        log_value = -lam * seen.dot - n2 * (tilt * (1 + psi2) - 1 - np.log(tilt))
        log_mean = n1 * np.log(1 - tilt * lam * x * x / n1 + slow_psi(tilt * lam * x / n1, offset, q))
    else:
        log_value = -lam * seen.dot - n2 * psi2
        log_mean = -lam * x * x + n1 * slow_psi(lam * x / n1, offset, q)
    assert log_value == pytest.approx(log_mean - np.log(alpha), rel=1e-3)
    assert x < largest_lead_gradient(VoteBounds(q, q))


def test_weights_have_the_gradient_of_the_lead_as_mean() -> None:
    weights = vote_weights(5, 2, [0, 4], 0.25)
    assert weights.tolist() == [1.75, 0.75, -0.25, 0.75, 1.75]
    for rival in ([], [2], [7], [-1]):
        with pytest.raises(SettingError, match="rival"):
            vote_weights(5, 2, rival, 0.25)


def test_more_of_anything_bad_raises_the_bound() -> None:
    votes, seen = VoteBounds(0.3, 0.2), HalfMoments(0.16, 0.45, 0.45)
    test = design_test(20_000, 784, 1e-3, votes, 0.4)
    base = lead_gradient_bound(seen, test, 1e-3, votes)
    assert lead_gradient_bound(seen._replace(dot=0.17), test, 1e-3, votes) > base
    assert lead_gradient_bound(seen._replace(norm1=0.6), test, 1e-3, votes) > base
    assert lead_gradient_bound(seen, test, 1e-4, votes) > base
    assert lead_gradient_bound(seen, test, 1e-3, VoteBounds(0.4, 0.3)) >= base
    assert lead_gradient_bound(seen._replace(dot=-5.0), test, 1e-3, votes) < 0.01
    assert lead_gradient_bound(seen._replace(dot=5.0), test, 1e-3, votes) == largest_lead_gradient(votes)


def test_in_a_box_the_descent_starts_above_every_vector() -> None:
    """Half means that say nothing leave the largest gradient there is, and a vector added makes it longer."""
    votes = VoteBounds(0.3, 0.2)
    test = design_test(20_000, 784, 1e-3, votes, 0.4)
    said = HalfMoments(5.0, 2.3, 2.3)
    for shift in (0.1, 0.4):
        bound = lead_gradient_bound(said, test, 1e-3, votes, shift=shift)
        assert bound == pytest.approx(largest_lead_gradient(votes) + shift, rel=1e-12)


@pytest.mark.parametrize("shift", [None, 0.2])
def test_what_sums_may_lose_is_added(monkeypatch: pytest.MonkeyPatch, shift: float | None) -> None:
    """The bound is that of half means which each are off by the error that is allowed for, the worse way."""
    votes, seen, error = VoteBounds(0.3, 0.2), HalfMoments(0.16, 0.45, 0.5), 1e-3
    test = design_test(20_000, 784, 1e-3, votes, 0.4)
    exact = lead_gradient_bound(seen, test, 1e-3, votes, shift)
    monkeypatch.setattr(gradient, "SUM_ERROR", error)
    found = lead_gradient_bound(seen, test, 1e-3, votes, shift)
    worse = HalfMoments(seen.dot + error * (seen.norm1 + seen.norm2 + error), seen.norm1 + error, seen.norm2 + error)
    monkeypatch.setattr(gradient, "SUM_ERROR", 0.0)
    assert found == pytest.approx(lead_gradient_bound(worse, test, 1e-3, votes, shift), rel=1e-6)
    assert found > exact * (1 + 1e-4)


def test_bounds_on_votes_can_only_loosen() -> None:
    """A gradient cannot exceed that of two half-spaces of the masses given."""
    for votes in (VoteBounds(0.02, 0.01), VoteBounds(0.5, 0.5), VoteBounds(0.9, 0.3), VoteBounds(1.0, 1.0)):
        assert largest_lead_gradient(votes) <= sqrt(2 / np.pi) * (1 + 1e-12)
        assert largest_lead_gradient(votes) >= largest_lead_gradient(VoteBounds(votes.not_a / 2, votes.rival / 2))


@pytest.mark.parametrize("gamma", [0.0, 0.05, 0.3, 5.0])
@pytest.mark.parametrize("n", [10, 1_000, 1_000_000])
@pytest.mark.parametrize(
    "votes", [VoteBounds(0.3, 0.2), VoteBounds(1e-6, 1e-7), VoteBounds(0.95, 0.04), VoteBounds(0.0, 0.0)]
)
def test_designs_are_always_usable(gamma: float, n: int, votes: VoteBounds) -> None:
    test = design_test(n, 3072, 1e-4, votes, gamma)
    assert test.n1 + test.n2 == n
    norm1 = sqrt(expected_square(test.offset, test.n1, 3072, votes, gamma))
    bound = lead_gradient_bound(HalfMoments(gamma * gamma, norm1, norm1), test, 1e-4, votes)
    assert 0 <= bound <= largest_lead_gradient(votes)


@pytest.mark.parametrize(
    ("seen", "test", "alpha", "votes"),
    [
        (HalfMoments(float("nan"), 1, 1), GradientTest(5, 5, 0.5, 1.0), 0.1, VoteBounds(0.1, 0.1)),
        (HalfMoments(0, -1, 1), GradientTest(5, 5, 0.5, 1.0), 0.1, VoteBounds(0.1, 0.1)),
        (HalfMoments(0, 1, 1), GradientTest(0, 5, 0.5, 1.0), 0.1, VoteBounds(0.1, 0.1)),
        (HalfMoments(0, 1, 1), GradientTest(5, 5, 1.5, 1.0), 0.1, VoteBounds(0.1, 0.1)),
        (HalfMoments(0, 1, 1), GradientTest(5, 5, 0.5, 0.0), 0.1, VoteBounds(0.1, 0.1)),
        (HalfMoments(0, 1, 1), GradientTest(5, 5, 0.5, 1.0, 0.0), 0.1, VoteBounds(0.1, 0.1)),
        (HalfMoments(0, 1, 1), GradientTest(5, 5, 0.5, 1.0), 0.0, VoteBounds(0.1, 0.1)),
        (HalfMoments(0, 1, 1), GradientTest(5, 5, 0.5, 1.0), 0.1, VoteBounds(0.1, 1.1)),
    ],
)
def test_impossible_arguments_are_refused(
    seen: HalfMoments, test: GradientTest, alpha: float, votes: VoteBounds
) -> None:
    with pytest.raises(SettingError, match="expected"):
        lead_gradient_bound(seen, test, alpha, votes)


@pytest.mark.parametrize(("square", "expected"), [(nan, 3.0), (-1.0, 0.0), (4.0, 2.0), (16.0, 3.0)])
def test_a_square_that_is_no_number_bounds_nothing(square: float, expected: float) -> None:
    assert descended(3.0, lambda _: square) == pytest.approx(expected, rel=1e-10)
