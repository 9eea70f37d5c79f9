"""Functionals of a profile from tables of votes: coverage, what the control variate gains, and (R7) off the line."""

from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

from doublebubble.bounds import (
    VoteBounds,
    clopper_pearson,
    mean_upper_bound,
    vote_weights,
)
from doublebubble.bounds.profile import (
    FunctionalTest,
    ProfileCounts,
    ProfileTest,
    SectorTest,
    design_functional_test,
    functional_lower_bound,
    profile_bound,
    rounded_test,
)
from doublebubble.bounds.ray_gradient import RayMoments, RayTest, ray_gradient_bound
from doublebubble.errors import BudgetError, InputError, SettingError
from doublebubble.geometry import cohen_radius
from doublebubble.geometry.profile import (
    GuessedProfile,
    Prices,
    Sector,
    bin_masses,
    checked_guess,
    covered_radius,
    default_edges,
    design_sectors,
    sector_ends,
)
from doublebubble.types import Counts, Floats

EDGES = default_edges(12)
MIDDLES = np.concatenate((EDGES[:1] - 0.4, 0.5 * (EDGES[1:] + EDGES[:-1]), EDGES[-1:] + 0.4))
F_A = ndtr(1.2 - 1.5 * MIDDLES)
GUESS = checked_guess(EDGES, F_A, 0.7 * (1 - F_A), 0.1)
PRICES = Prices(EDGES, np.exp(0.8 * MIDDLES - 0.2), np.exp(0.8 * MIDDLES - 0.1) + 0.1, 0.3)
FOR_A = Prices(EDGES, np.ones(len(EDGES) + 1), np.zeros(len(EDGES) + 1), 0.0)
AGAINST_B = Prices(EDGES, np.zeros(len(EDGES) + 1), np.ones(len(EDGES) + 1), 0.0)
"""Functionals that are plain probabilities: P(A) and P(not B)."""
MASSES = bin_masses(EDGES)


def chances(guess: GuessedProfile) -> Floats:
    other = np.maximum(1 - guess.f_a - guess.f_b, 0)
    p: Floats = MASSES[:, None] * np.stack([guess.f_a, guess.f_b, other], axis=1)
    return p


def truth(prices: Prices, guess: GuessedProfile) -> float:
    return float(MASSES @ (prices.k_a * guess.f_a + prices.k_b * (1 - guess.f_b)))


def tables(guess: GuessedProfile, n: int, times: int, seed: int) -> Counts:
    p = chances(guess).ravel()
    return np.random.default_rng(seed).multinomial(n, p / p.sum(), times).reshape(times, -1, 3)


@pytest.mark.parametrize("prices", [PRICES, FOR_A, AGAINST_B])
@pytest.mark.parametrize("alpha", [0.2, 0.05])
def test_coverage_whatever_the_guess(prices: Prices, alpha: float) -> None:
    wrong = checked_guess(EDGES, ndtr(0.3 - MIDDLES), 0.2 * np.ones(12), 0.1)
    for guess in (GUESS, wrong):
        test = design_functional_test(prices, guess, 500, alpha)
        bounds = [functional_lower_bound(test, table, alpha) for table in tables(GUESS, 500, 400, 3)]
        misses = int(np.sum(np.array(bounds) > truth(prices, GUESS)))
        assert binomtest(misses, len(bounds), alpha, "greater").pvalue > 1e-4


def test_many_draws_give_the_truth_for_every_control_variate() -> None:
    n = 10**10
    table = np.round(chances(GUESS) * n).astype(np.int64)
    for c in (np.zeros(12), np.linspace(-1, 2, 12), PRICES.k_a):
        test = FunctionalTest(PRICES, c, 1e-5)
        assert functional_lower_bound(test, table, 0.01) == pytest.approx(truth(PRICES, GUESS), abs=2e-4)


def test_the_known_part_uses_exact_masses() -> None:
    """Draws that happen to lie in a few bins do not change what is known of the bins."""
    table = np.zeros((12, 3), np.int64)
    table[2, 0], table[9, 1], table[6, 2] = 300, 40, 60
    c = np.linspace(-0.5, 1.0, 12)
    test = FunctionalTest(PRICES, c, 0.05)
    values = np.stack([-c, PRICES.k_a + PRICES.k_b - c, PRICES.k_a - c], axis=1)
    low, high = float(values.min()), float(values.max())
    upper = mean_upper_bound(values.ravel(), table.ravel(), 0.05, 0.01, low, high)
    expected = float(MASSES @ (PRICES.k_a + PRICES.k_b - c)) - upper
    assert functional_lower_bound(test, table, 0.01) == pytest.approx(expected, abs=1e-9)


def test_the_control_variate_narrows() -> None:
    n, alpha = 20_000, 0.001
    (table,) = tables(GUESS, n, 1, 5)
    test = design_functional_test(PRICES, GUESS, n, alpha)
    plain = test._replace(control=np.zeros(12), stake=test.stake * 0.6)
    with_it, without = (truth(PRICES, GUESS) - functional_lower_bound(t, table, alpha) for t in (test, plain))
    assert 0 < with_it < 0.85 * without


def test_a_plain_count_beats_the_exact_interval() -> None:
    n, alpha = 20_000, 0.001
    test = design_functional_test(FOR_A, GUESS, n, alpha)
    drawn = tables(GUESS, n, 60, 9)
    ours = [functional_lower_bound(test, table, alpha) for table in drawn]
    exact = [clopper_pearson(int(table[:, 0].sum()), n, alpha, "lower") for table in drawn]
    assert np.mean(ours) > np.mean(exact)
    assert np.std(ours) < 0.8 * np.std(exact)


def test_the_range_is_not_what_was_seen() -> None:
    """A stake that suits the votes seen, but not those possible, is refused."""
    table = np.zeros((12, 3), np.int64)
    table[:, 0] = 50
    with pytest.raises(SettingError, match="stake"):
        functional_lower_bound(FunctionalTest(PRICES, np.zeros(12), 1.0), table, 0.01)


def test_what_cannot_be_meant() -> None:
    test = design_functional_test(PRICES, GUESS, 100, 0.01)
    for bad in (np.zeros((12, 2), np.int64), np.zeros((11, 3), np.int64), np.zeros((12, 3))):
        with pytest.raises(InputError):
            functional_lower_bound(test, bad, 0.01)
    with pytest.raises(InputError):
        functional_lower_bound(test._replace(control=np.full(12, np.nan)), np.ones((12, 3), np.int64), 0.01)


@pytest.mark.parametrize("shift", [0.0, 0.2])
def test_gradient_off_the_line(shift: float) -> None:
    """Means projected off u0 = e1, eta = shift e2, a control variate that follows z1: |D_off - eta| is covered."""
    rng, n, dim, alpha, times = np.random.default_rng(2), 300, 8, 0.05, 400
    test, weights = RayTest(n, n, 0.5, 60.0, 3.0), vote_weights(3, 0, [1], 0.0)

    def votes(z: Floats) -> Counts:
        return np.where(z[..., 0] + 0.6 * z[..., 1] > 0.8, 1, np.where(z[..., 2] > 1.0, 2, 0))

    many = rng.standard_normal((400_000, 3))
    vote = votes(many)
    lead = (vote == 0).astype(float) - (vote == 1)
    off = (lead[:, None] * many).mean(axis=0)[1:]
    target = float(np.hypot(off[0] - shift, off[1]))
    bounds = VoteBounds(float(np.mean(vote != 0)), float(np.mean(vote == 1)))
    misses, eta = 0, np.zeros(dim)
    eta[1] = shift
    for _ in range(times):
        one, two = rng.standard_normal((2, n, dim))
        g = ((weights[votes(one)] - 0.5)[:, None] * one).mean(axis=0)
        g[0] = 0.0
        g += eta  # the mean estimates -D_off
        length = float(np.linalg.norm(g))
        control = np.where(two[:, 0] > 0.5, 1.4, 0.3)
        v = (weights[votes(two)] - control) * np.clip(two @ g / length, -3.0, 3.0)
        powers = (float((v**power).mean()) for power in (1, 2, 3, 4))
        moments = RayMoments(length, float(g @ eta) / length, *powers)
        misses += ray_gradient_bound(moments, test, alpha, bounds, shift or None) < target - 5e-3
    assert binomtest(misses, times, alpha, "greater").pvalue > 1e-4


# From tables and moments to a radius

N, ALPHA = 20_000, 0.001
SOFT_A = ndtr(0.8 - 0.8 * MIDDLES)
SOFT = checked_guess(EDGES, SOFT_A, 0.7 * (1 - SOFT_A), 0.12)
GRADIENT = RayTest(N // 2, N // 2, 0.5, 600.0, 4.0)


def seen_along(gamma: float, norm: float, spread: float = 0.4) -> RayMoments:
    return RayMoments(norm, 0.0, gamma * gamma / norm, spread, 0.0, 5 * spread)


def profile_test(**changes: Any) -> ProfileTest:
    sectors = tuple(
        SectorTest(low, high, design_functional_test(prices, SOFT, N, ALPHA))
        for low, high, prices in design_sectors(SOFT, 0.85, sector_ends(12))
    )
    return ProfileTest(1, GRADIENT, sectors, 3.0, 0.2, 0.6)._replace(**changes)


def shown(**changes: Any) -> ProfileCounts:
    table = np.rint(chances(SOFT) * N).astype(np.int64)
    return ProfileCounts(table.sum(axis=0), table, seen_along(0.02, 0.06), 1e-6)._replace(**changes)


def test_a_profile_is_what_its_parts_say() -> None:
    test, seen = profile_test(), shown()
    bound = profile_bound(seen, 0, test, ALPHA, 0.5)
    slope, bins, functional, low, high = bound.alphas
    assert (slope, bins, functional) == (0.2 * ALPHA, 1e-6, 0.6 * ALPHA)
    assert low == high
    assert sum(bound.alphas) <= ALPHA
    n = int(seen.votes.sum())
    p_a = clopper_pearson(int(seen.votes[0]), n, low, "lower")
    p_b = clopper_pearson(int(seen.votes[1]), n, high, "upper")
    gamma = ray_gradient_bound(seen.moments, GRADIENT, slope, VoteBounds(1 - p_a, p_b))
    assert bound.numbers["gamma"] == pytest.approx(gamma, rel=1e-9)
    sectors = [
        Sector(
            s.low,
            s.high,
            s.test.prices,
            functional_lower_bound(s.test, seen.table, functional) - 1 - s.test.prices.mu * gamma,
        )
        for s in test.sectors
    ]
    r0 = cohen_radius(p_a, p_b, 1.0)
    assert bound.radius == pytest.approx(0.5 * covered_radius(sectors, r0, 3.0), rel=1e-9)
    assert bound.radius > 1.03 * 0.5 * r0
    assert bound.rivals == (1,)


def test_a_shift_lengthens_what_the_slope_starts_from() -> None:
    plain, shifted = (profile_bound(shown(shift=shift), 0, profile_test(), ALPHA, 0.5) for shift in (None, 0.3))
    assert "shift" not in plain.numbers
    assert shifted.numbers["shift"] == 0.3
    assert shifted.numbers["gamma"] != plain.numbers["gamma"]


def test_more_slope_off_the_line_or_worse_votes_never_gain() -> None:
    best = profile_bound(shown(), 0, profile_test(), ALPHA, 0.5).radius
    assert profile_bound(shown(moments=seen_along(0.2, 0.3)), 0, profile_test(), ALPHA, 0.5).radius < best
    table = shown().table.copy()
    table[5:7, 1] += table[5:7, 0] // 20
    table[5:7, 0] -= table[5:7, 0] // 20
    assert profile_bound(shown(table=table, votes=table.sum(axis=0)), 0, profile_test(), ALPHA, 0.5).radius < best


def test_votes_alone_remain_where_sectors_prove_nothing() -> None:
    hopeless = tuple(
        s._replace(test=s.test._replace(prices=s.test.prices._replace(mu=50.0))) for s in profile_test().sectors
    )
    bound = profile_bound(shown(), 0, profile_test(sectors=hopeless), ALPHA, 0.5)
    assert bound.radius == pytest.approx(
        0.5 * cohen_radius(bound.numbers["lower_a"], bound.numbers["q"], 1.0), rel=1e-9
    )
    tied = np.zeros((12, 3), np.int64)
    tied[:, :2] = 10
    assert profile_bound(shown(table=tied, votes=tied.sum(axis=0)), 0, profile_test(), ALPHA, 0.5).radius < 0


def test_no_more_than_alpha_is_handed_out() -> None:
    for test, seen in (
        (profile_test(gradient_share=0.5, functional_share=0.5), shown()),
        (profile_test(), shown(misplaced=0.3 * ALPHA)),
    ):
        with pytest.raises(BudgetError):
            profile_bound(seen, 0, test, ALPHA, 0.5)


def test_shorter_numbers_keep_the_stake_possible() -> None:
    test = design_functional_test(PRICES, GUESS, 50, 0.001)
    short = rounded_test(test, 2)
    assert short.prices.k_a.tolist() == np.round(PRICES.k_a, 2).tolist()
    assert functional_lower_bound(short, shown().table, 0.01) == pytest.approx(
        functional_lower_bound(test, shown().table, 0.01), abs=0.02
    )
