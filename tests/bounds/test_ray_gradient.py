"""A gradient from the second half of the draws along the mean of the first: coverage, the proof written out, size."""

from math import inf, sqrt
from typing import cast

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binomtest, norm

from doublebubble.audit.reverify.numbers import Unconfirmed, mp
from doublebubble.audit.reverify.rays import ray_bound
from doublebubble.audit.reverify.votes import Rule
from doublebubble.bounds import VoteBounds, design_test, lead_gradient_bound, ray_gradient
from doublebubble.bounds.gradient import HalfMoments, expected_square, largest_lead_gradient
from doublebubble.bounds.ray_gradient import (
    RayMoments,
    RayTest,
    clip_bias,
    design_ray,
    expected_ray,
    largest_stake,
    ray_gradient_bound,
    stake_for,
)
from doublebubble.errors import SettingError
from doublebubble.types import Floats
from tests.bounds.test_gradient import ALPHA, SLAB, THREE, UNEVEN, Regions, half_means, slow_psi


def means(v: Floats) -> tuple[float, float, float, float]:
    return float(v.mean()), float((v**2).mean()), float((v**3).mean()), float((v**4).mean())


def drawn(
    regions: Regions, test: RayTest, dims: list[int], control: float, rng: np.random.Generator
) -> list[RayMoments]:
    """What the bound sees, from its exact distribution: noise outside two coordinates is Gaussian in both halves."""
    x, y, sd = half_means(regions, test.n1, test.offset, rng)
    z1, z2, z3 = rng.standard_normal((3, test.n2))
    weights = regions.level(z1, z2) - control
    result = []
    for dim in dims:
        rest = sd * sqrt(rng.chisquare(dim - 2)) if dim > 2 else 0.0
        length = sqrt(x * x + y * y + rest * rest)
        along = (x * z1 + y * z2 + rest * z3) / length
        result.append(RayMoments(length, 0.0, *means(weights * np.clip(along, -test.clip, test.clip))))
    return result


@pytest.mark.parametrize("regions", [UNEVEN, SLAB, THREE], ids=["uneven", "slab", "three"])
@pytest.mark.parametrize(("n", "repetitions"), [(1000, 120), (10_000, 60), (100_000, 8)])
def test_misses_are_no_more_frequent_than_alpha(regions: Regions, n: int, repetitions: int) -> None:
    rng = np.random.default_rng(n + repetitions)
    dims = [2, 784, 3072]
    Q, q = regions.votes
    test = design_ray(n, 784, ALPHA, regions.votes, regions.gradient, Q + 3 * q)
    misses = np.zeros(3, int)
    for _ in range(repetitions):
        for place, seen in enumerate(drawn(regions, test, dims, 0.3, rng)):
            misses[place] += ray_gradient_bound(seen, test, ALPHA, regions.votes) < regions.gradient
    for missed in misses.tolist():
        assert binomtest(missed, repetitions, ALPHA, "greater").pvalue > 1e-4


def test_a_narrow_bound_is_missed_too_often() -> None:
    """The same draws without ln(1/alpha) and without the noise of the first half: coverage sees it."""
    rng, n = np.random.default_rng(3), 10_000
    test = design_ray(n, 784, ALPHA, UNEVEN.votes, UNEVEN.gradient, 0.5)
    seen = [drawn(UNEVEN, test, [784], 0.3, rng)[0] for _ in range(60)]
    misses = sum(sqrt(max(each.norm1 * each.mean, 0.0)) < UNEVEN.gradient for each in seen)
    assert binomtest(misses, 60, ALPHA, "greater").pvalue < 1e-4


@pytest.mark.parametrize("clip", [2.5, 3.5])
@pytest.mark.parametrize(("offset", "ahead", "shift"), [(0.1, 0.0, None), (0.4, 0.05, 0.2), (1.0, -0.03, 0.1)])
def test_it_is_the_largest_norm_that_the_proof_leaves(
    offset: float, ahead: float, shift: float | None, clip: float
) -> None:
    """Markov's inequality at the bound, with every factor of the wealth and psi by sorting: nothing is missing."""
    n1, n2, lam, q, alpha, length = 4000, 6000, 300.0, 0.15, 1e-3, 0.3
    test, votes = RayTest(n1, n2, offset, lam, clip), VoteBounds(q, q)
    rng = np.random.default_rng(7)
    v = rng.choice([0.0, 1.0, 2.0], n2, p=[0.85, 0.05, 0.1]) * np.clip(rng.standard_normal(n2), -clip, clip) + 0.05
    x = ray_gradient_bound(RayMoments(length, ahead, *means(v)), test, alpha, votes, shift)
    most, bias, stake = largest_lead_gradient(votes), clip_bias(clip), lam * length / n2
    ends = np.clip([-x - ahead, x - ahead], -most, most) + np.array([-bias, bias])
    lost = [lam * length * (m + ahead + bias) - np.log1p(stake * (m - v)).sum() for m in ends]
    used = max(lost) + n1 * slow_psi(lam * x / n1, offset, q) - np.log(alpha)
    assert lam * x * x == pytest.approx(used, rel=2e-3)
    assert x < most


@pytest.mark.parametrize(
    ("side", "ahead", "shift"), [(1.0, 0.0, None), (-1.0, 0.0, None), (1.0, 0.15, 0.2), (-1.0, 0.15, 0.2)]
)
def test_it_is_what_the_verifier_proves_and_hardly_more(side: float, ahead: float, shift: float | None) -> None:
    """Few draws, a large stake and a narrow clip, so that every term counts; the verifier shares no code with this."""
    test, votes, alpha = RayTest(1000, 1000, 0.3, 150.0, 2.5), VoteBounds(0.3, 0.25), 1e-2
    rng = np.random.default_rng(5)
    v = side * rng.choice([0.0, 2.0], test.n2, p=[0.95, 0.05]) * np.clip(rng.standard_normal(test.n2) + 1, -2.5, 2.5)
    seen = RayMoments(0.2, ahead, *means(v))
    bound = ray_gradient_bound(seen, test, alpha, votes, shift)

    def confirmed(gamma: float) -> bool:
        numbers = {**test._asdict(), **seen._asdict(), "gamma": gamma, **({} if shift is None else {"shift": shift})}
        rule = {"rule": "profile", "rivals": [1], "alpha": [alpha], "radius": 0.0, "numbers": numbers}
        try:
            ray_bound(cast(Rule, rule), test.n1 + test.n2, 1 - mp.mpf(0.3), mp.mpf(0.25), mp.mpf(alpha))
        except Unconfirmed:
            return False
        return True

    assert confirmed(bound)
    assert not confirmed(bound * (1 - 1e-5))


@pytest.mark.parametrize("ahead", [0.0, 0.15])
def test_where_draws_prove_nothing_the_verifier_allows_the_shift_beside_the_largest_slope(ahead: float) -> None:
    test, votes, shift = RayTest(1000, 1000, 0.3, 1.0, 2.5), VoteBounds(0.3, 0.25), 0.2
    most = largest_lead_gradient(votes)

    def proved(gamma: float) -> None:
        seen = RayMoments(0.2, ahead, *means(np.zeros(test.n2)))
        numbers = {**test._asdict(), **seen._asdict(), "gamma": gamma, "shift": shift}
        rule = {"rule": "profile", "rivals": [1], "alpha": [1e-2], "radius": 0.0, "numbers": numbers}
        ray_bound(cast(Rule, rule), test.n1 + test.n2, 1 - mp.mpf(0.3), mp.mpf(0.25), mp.mpf(1e-2))

    proved((most + shift) * (1 + 1e-9))
    for part in (1e-6, 0.5, 1 - 1e-6):
        with pytest.raises(Unconfirmed):
            proved(most + part * shift)


def test_the_logarithm_is_bounded_from_below() -> None:
    for reach in (1e-3, 0.2, 0.6, 0.9):
        x = np.linspace(-reach, 3 * reach, 4001)
        bound = x - x**2 / 2 + x**3 / 3 - ray_gradient._fourth_term(reach) * x**4
        assert np.all(np.log1p(x) >= bound - 1e-15)
        assert np.log1p(-reach) == pytest.approx(bound[0], rel=1e-4)


@pytest.mark.parametrize("clip", [2.5, 3.0, 4.5])
def test_what_clipping_moves(clip: float) -> None:
    beyond = 2 * quad(lambda z: (z - clip) * norm.pdf(z), clip, clip + 12)[0]
    assert clip_bias(clip) == pytest.approx(2 * beyond, rel=1e-4)
    assert clip_bias(clip) >= 2 * beyond


@pytest.mark.parametrize(("p", "n", "part"), [(0.9, 10_000, 0.8), (0.97, 100_000, 0.8), (0.99, 100_000, 0.7)])
def test_many_dimensions_cost_less_than_by_the_worst_of_both_halves(p: float, n: int, part: float) -> None:
    """(F2) pays for noise that lies in the tails along the first half's mean; it hardly ever does."""
    votes, dim = VoteBounds(1 - p, 0.6 * (1 - p)), 3072
    gamma = 0.12 * largest_lead_gradient(votes)
    left = votes.not_a + 3 * votes.rival
    worst = design_test(n, dim, 1e-4, votes, gamma)
    size = sqrt(expected_square(worst.offset, worst.n1, dim, votes, gamma))
    by_worst = lead_gradient_bound(HalfMoments(gamma * gamma, size, size), worst, 1e-4, votes)
    test = design_ray(n, dim, 1e-4, votes, gamma, left)
    assert ray_gradient_bound(expected_ray(test, dim, votes, gamma, left), test, 1e-4, votes) < part * by_worst


def test_more_slope_more_noise_or_less_alpha_is_never_a_smaller_bound() -> None:
    votes, test = VoteBounds(0.3, 0.2), RayTest(5000, 5000, 0.5, 300.0, 4.0)
    seen = RayMoments(0.3, 0.0, 0.1, 0.5, 0.0, 2.0)
    base = ray_gradient_bound(seen, test, 1e-3, votes)
    for worse in ({"mean": 0.12}, {"square": 0.8}, {"fourth": 4.0}, {"cube": 0.5}):
        assert ray_gradient_bound(seen._replace(**worse), test, 1e-3, votes) > base, worse
    assert ray_gradient_bound(seen, test, 1e-4, votes) > base
    assert ray_gradient_bound(seen, test, 1e-3, VoteBounds(0.4, 0.3)) >= base


def test_what_sums_may_lose_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    votes, test = VoteBounds(0.3, 0.2), RayTest(5000, 5000, 0.5, 300.0, 4.0)
    seen = RayMoments(0.3, 0.0, 0.1, 0.5, 0.0, 2.0)
    base = ray_gradient_bound(seen, test, 1e-3, votes)
    for name in ("SUM_ERROR", "_POWERS_ERROR"):
        with monkeypatch.context() as patch:
            patch.setattr(ray_gradient, name, 1e-3)
            assert ray_gradient_bound(seen, test, 1e-3, votes) > base + 1e-4, name
    short = seen._replace(norm1=0.0)  # nothing is staked: what is left is the rounding of the first half's mean
    base = ray_gradient_bound(short, test, 1e-3, votes)
    monkeypatch.setattr(ray_gradient, "SUM_ERROR", 1e-3)
    assert ray_gradient_bound(short, test, 1e-3, votes) > base + 1e-4


def test_the_descent_starts_above_every_vector() -> None:
    votes, test = VoteBounds(0.3, 0.2), RayTest(50, 50, 0.5, 1.0, 4.0)
    said = RayMoments(3.0, 0.0, 3.0, 9.0, 27.0, 81.0)
    for shift in (None, 0.2):
        assert ray_gradient_bound(said, test, 1e-3, votes, shift) == largest_lead_gradient(votes) + (shift or 0.0)


def test_the_stake_follows_the_first_half_alone_and_leaves_every_factor_positive() -> None:
    test = RayTest(5000, 5000, 0.5, 300.0, 4.0)
    assert stake_for(test, 0.1) == pytest.approx(300 * 0.1 / 5000)
    assert stake_for(test, 1e6) == largest_stake(4.0)
    assert largest_stake(4.0) * (0.8 + clip_bias(4.0) + 8.0) < 1
    assert ray_gradient_bound(RayMoments(1e3, 0, 0, 0.1, 0, 0.1), test, 1e-3, VoteBounds(0.5, 0.5)) <= 0.8


def test_no_draw_against_the_class() -> None:
    test = design_ray(1000, 64, 1e-3, VoteBounds(0.01, 0.005), 0.001, 1e-3)
    assert 0 < ray_gradient_bound(RayMoments(0, 0, 0, 0, 0, 0), test, 1e-3, VoteBounds(0.01, 0.005)) < inf


@pytest.mark.parametrize(
    ("seen", "test", "alpha", "votes"),
    [
        (RayMoments(float("nan"), 0, 0, 0, 0, 0), RayTest(5, 5, 0.5, 1.0, 4.0), 0.1, VoteBounds(0.1, 0.1)),
        (RayMoments(-1, 0, 0, 0, 0, 0), RayTest(5, 5, 0.5, 1.0, 4.0), 0.1, VoteBounds(0.1, 0.1)),
        (RayMoments(1, 0, 0, -1, 0, 0), RayTest(5, 5, 0.5, 1.0, 4.0), 0.1, VoteBounds(0.1, 0.1)),
        (RayMoments(1, 0, 0, 0, 0, 0), RayTest(0, 5, 0.5, 1.0, 4.0), 0.1, VoteBounds(0.1, 0.1)),
        (RayMoments(1, 0, 0, 0, 0, 0), RayTest(5, 5, 1.5, 1.0, 4.0), 0.1, VoteBounds(0.1, 0.1)),
        (RayMoments(1, 0, 0, 0, 0, 0), RayTest(5, 5, 0.5, 0.0, 4.0), 0.1, VoteBounds(0.1, 0.1)),
        (RayMoments(1, 0, 0, 0, 0, 0), RayTest(5, 5, 0.5, 1.0, 1.0), 0.1, VoteBounds(0.1, 0.1)),
        (RayMoments(1, 0, 0, 0, 0, 0), RayTest(5, 5, 0.5, 1.0, 4.0), 0.0, VoteBounds(0.1, 0.1)),
        (RayMoments(1, 0, 0, 0, 0, 0), RayTest(5, 5, 0.5, 1.0, 4.0), 0.1, VoteBounds(0.1, 1.1)),
    ],
)
def test_what_cannot_be_meant(seen: RayMoments, test: RayTest, alpha: float, votes: VoteBounds) -> None:
    with pytest.raises(SettingError):
        ray_gradient_bound(seen, test, alpha, votes)


def test_too_few_draws_to_halve() -> None:
    with pytest.raises(SettingError, match="at least 4"):
        design_ray(3, 10, 0.01, VoteBounds(0.1, 0.1), 0.1, 0.1)
