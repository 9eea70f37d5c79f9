"""Bets: rounding against 60 digits, the mean wealth and the chance of a wrong claim by exact sums over all outcomes."""

import json
import math
import pickle
from dataclasses import asdict

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr as Phi
from scipy.stats import binom, binomtest

from doublebubble.bounds.sequences import (
    Bet,
    informed_bet,
    largest_stake,
    log_wealth,
    miss_bet,
    miss_payoffs,
    reach,
    spread_bet,
    target,
    vote_bet,
    vote_payoffs,
    weighed,
)
from doublebubble.errors import InputError, SettingError
from tests.bounds.exact import crossing_chance


def exact_log_wealth(bet: Bet, counts: list[int]) -> mp.mpf:
    """(Q2) in 60 digits, from the floats of the bet taken as exact numbers."""
    with mp.workdps(60):
        total = mp.mpf(0)
        for stake, weight in zip(bet.stakes, bet.weights, strict=True):
            factors = [c * mp.log1p(mp.mpf(stake) * mp.mpf(d)) for c, d in zip(counts, bet.payoffs, strict=True)]
            total += mp.mpf(weight) * mp.exp(mp.fsum(factors))
        return mp.log(total)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 2.5, 6.0])
@pytest.mark.parametrize("make", [vote_bet, miss_bet])
def test_the_log_wealth_is_rounded_down_and_by_little(t: float, make: object) -> None:
    bet = (vote_bet if make is vote_bet else miss_bet)(t, 0.001, 10**5)
    rng = np.random.default_rng(int(10 * t))
    for n in (1, 7, 100, 10**4, 10**6, 10**7):
        misses = {0, 1, n, *rng.binomial(n, Phi(-t) * np.array([0.1, 0.9, 0.99, 1.0, 1.01, 1.5]).clip(0, 0.6)).tolist()}
        for miss in misses:
            counts = [n - miss, miss] if miss <= n else [0, n]
            ours, truth = float(log_wealth(bet, counts)), exact_log_wealth(bet, counts)
            assert ours <= truth
            assert ours >= truth - 1e-12 - 5e-14 * (n + abs(float(truth)))


def test_the_log_wealth_of_many_cells_is_rounded_down() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        payoffs = np.append(rng.normal(size=5) - 0.1, -rng.random())
        bet = spread_bet(payoffs.tolist(), 0.01, 10**6, 1.0)
        counts = rng.multinomial(10 ** int(rng.integers(0, 8)), rng.dirichlet(np.ones(6))).tolist()
        ours, truth = float(log_wealth(bet, counts)), exact_log_wealth(bet, counts)
        assert truth - 1e-12 - 1e-13 * (sum(counts) + abs(float(truth))) <= ours <= truth


@given(st.floats(0, 8))
def test_payoffs_are_rounded_down(t: float) -> None:
    with mp.workdps(50):
        p0, rest = mp.ncdf(mp.mpf(t)), mp.ncdf(-mp.mpf(t))
        hit, miss = vote_payoffs(t)
        assert rest * (1 - mp.mpf("1e-12")) <= hit <= rest
        assert -p0 - mp.mpf("1e-12") <= miss <= -p0
        hit, miss = miss_payoffs(t)
        assert -rest * (1 + mp.mpf("1e-12")) <= hit <= -rest
        assert p0 - mp.mpf("1e-12") <= miss <= p0


def mean_wealth(bet: Bet, n: int, p: float) -> float:
    hits = np.arange(n + 1)
    logs = np.asarray(log_wealth(bet, np.stack([hits, n - hits], -1)))
    return math.fsum(np.exp(binom.logpmf(hits, n, p) + logs))


@pytest.mark.parametrize("n", [1, 2, 5, 30, 300])
@pytest.mark.parametrize("t", [0.1, 1.0, 2.0])
def test_the_mean_wealth_is_one_at_the_threshold_and_less_below(n: int, t: float) -> None:
    bets = [vote_bet(t, 0.001, 1000), informed_bet(vote_bet(t, 0.001, 1000), (18, 2))]
    p0 = float(Phi(t))
    for bet in bets:
        assert 1 - 1e-8 < mean_wealth(bet, n, p0) <= 1
        assert max(mean_wealth(bet, n, p) for p in (0.99 * p0, 0.5 * p0, 0.0)) < 1
    against = miss_bet(t, 0.05, 1000)
    assert 1 - 1e-8 < mean_wealth(against, n, p0) <= 1
    assert mean_wealth(against, n, (1 + p0) / 2) < 1


def test_each_draw_keeps_the_mean_wealth() -> None:
    """A supermartingale, state by state: the mean after the next draw is at most the wealth now, for every p <= p0."""
    bet, p0 = vote_bet(0.7, 0.01, 500), float(Phi(0.7))
    for n in range(40):
        for k in range(n + 1):
            now, hit, miss = (math.exp(log_wealth(bet, c)) for c in ((k, n - k), (k + 1, n - k), (k, n - k + 1)))
            for p in (p0, 0.9 * p0):
                assert p * hit + (1 - p) * miss <= now * (1 + 1e-12)


@pytest.mark.parametrize(("t", "alpha"), [(0.2, 0.05), (1.0, 0.05), (1.0, 0.001), (2.0, 0.05)])
def test_wrong_claims_at_every_draw_are_at_most_alpha_exactly(t: float, alpha: float) -> None:
    p0 = float(Phi(t))
    at, below = crossing_chance(vote_bet(t, alpha, 1000), alpha, [p0, 0.98 * p0], 1000)
    assert alpha / 4 < at <= alpha  # a good part of alpha is used within the cap
    assert below < at
    refused = crossing_chance(miss_bet(t, alpha, 1000), alpha, [p0], 1000)[0] if t < 2 else alpha / 2
    assert alpha / 4 < refused <= alpha


def test_wrong_claims_in_simulation_with_the_exact_test() -> None:
    rng, alpha, runs, draws = np.random.default_rng(5), 0.05, 20_000, 400
    bet, p0 = vote_bet(0.5, alpha, draws), float(Phi(0.5))
    hits, wrong = np.zeros(runs, np.int64), np.zeros(runs, bool)
    for n in range(1, draws + 1):
        hits += rng.random(runs) < p0
        table = np.arange(n + 1)
        won = np.asarray(log_wealth(bet, np.stack([table, n - table], -1))) >= target(alpha)
        wrong |= won[hits]
    assert binomtest(int(wrong.sum()), runs, alpha, alternative="greater").pvalue > 1e-4
    assert wrong.mean() > alpha / 3


@pytest.mark.parametrize("t", [0.0, 0.5, 1.0])
def test_a_class_far_below_the_threshold_hardly_ever_wins(t: float) -> None:
    """The bound that lets the class be chosen by the draws themselves: at most alpha^(ln p / ln p0)."""
    alpha, p0 = 0.2, float(Phi(t))
    ps = [p0 * share for share in (1.0, 0.95, 0.8, 0.5, 0.2)]
    for p, chance in zip(ps, crossing_chance(vote_bet(t, alpha, 200), alpha, ps, 200), strict=True):
        assert chance <= alpha ** (math.log(p) / math.log(p0))


@pytest.mark.parametrize(
    ("t", "alpha", "beta", "cap"), [(0.5, 0.01, 0.1, 300), (1.0, 0.001, 0.05, 1000), (2, 0.05, 0.2, 400)]
)
def test_what_is_out_of_reach_is_rarely_certified(t: float, alpha: float, beta: float, cap: int) -> None:
    far = reach(t, alpha, beta, cap)
    assert far > t + 0.01
    assert crossing_chance(vote_bet(t, alpha, cap), alpha, [float(Phi(far))], cap)[0] <= beta


def test_reach_shrinks_to_the_threshold_as_the_cap_grows() -> None:
    steps = [reach(1.0, 0.001, 0.05, cap) - 1.0 for cap in (10**3, 10**5, 10**7)]
    assert steps[0] > 5 * steps[1] > 25 * steps[2] > 0
    # so little power is wanted that even the threshold has it: nothing to add
    assert reach(1.0, 0.05, 0.01, 1000) == 1.0


@settings(max_examples=60)
@given(st.floats(0, 3), st.integers(0, 500), st.integers(0, 500))
def test_a_hit_raises_the_wealth_and_a_miss_lowers_it(t: float, k: int, m: int) -> None:
    bet, against = vote_bet(t, 0.001, 10**4), miss_bet(t, 0.05, 10**4)
    assert log_wealth(bet, (k + 1, m)) > log_wealth(bet, (k, m)) > log_wealth(bet, (k, m + 1))
    assert log_wealth(against, (k + 1, m)) < log_wealth(against, (k, m)) < log_wealth(against, (k, m + 1))


def test_earlier_draws_shift_the_weights_and_keep_a_tenth() -> None:
    bet = vote_bet(1.0, 0.001, 10**5)
    sharper = informed_bet(bet, (95, 5))
    assert math.fsum(sharper.weights) <= 1
    assert all(new > 0.099 * old for new, old in zip(sharper.weights, bet.weights, strict=True))
    assert log_wealth(sharper, (950, 50)) > log_wealth(bet, (950, 50)) + 0.5
    assert log_wealth(sharper, (850, 150)) > log_wealth(bet, (850, 150)) - math.log(10.1)


def test_target_is_not_below_the_logarithm() -> None:
    for alpha in (0.5, 0.05, 0.001, 1e-12):
        with mp.workdps(40):
            assert mp.log(1 / mp.mpf(alpha)) <= target(alpha) <= mp.log(1 / mp.mpf(alpha)) * (1 + mp.mpf("1e-14"))


def test_bets_travel() -> None:
    bet = vote_bet(0.5, 0.001, 1000)
    assert pickle.loads(pickle.dumps(bet)) == bet  # noqa: S301
    data = json.loads(json.dumps(asdict(bet)))
    assert Bet(**{name: tuple(values) for name, values in data.items()}) == bet


def test_what_is_not_a_bet_is_refused() -> None:
    with pytest.raises(SettingError, match="sum at most 1"):
        Bet((0.5, -0.5), (1.0, 0.5), (0.6, 0.5))
    with pytest.raises(SettingError, match="above 0"):
        Bet((0.5, -0.5), (1.0, 0.5), (1.0, 0.0))
    with pytest.raises(SettingError, match="stakes"):
        Bet((0.5, -0.5), (2.0,), (1.0,))
    with pytest.raises(SettingError, match="stakes"):
        Bet((0.5, -0.5), (-0.1,), (1.0,))
    with pytest.raises(SettingError, match="below 0"):
        Bet((0.5, 0.1), (1.0,), (1.0,))
    with pytest.raises(SettingError, match="finite"):
        Bet((0.5, -math.nan), (1.0,), (1.0,))
    with pytest.raises(SettingError, match="weight per stake"):
        Bet((0.5, -0.5), (1.0,), (0.5, 0.5))
    for bad in ((1, 2, 3), (-1, 2), (0.5, 1), (math.nan, 1)):
        with pytest.raises(InputError):
            log_wealth(vote_bet(1.0, 0.001, 10), bad)
    for alpha in (0.0, 1.0, math.nan):
        with pytest.raises(SettingError):
            target(alpha)
    for t in (-0.1, 9.0, math.nan):
        with pytest.raises(SettingError):
            vote_payoffs(t)
        with pytest.raises(SettingError):
            miss_payoffs(t)
    with pytest.raises(SettingError):
        informed_bet(vote_bet(1.0, 0.001, 10), (1, 1), trust=1.0)
    with pytest.raises(SettingError):
        spread_bet((0.5, -0.5), 0.1, 0, 1.0)
    bet = weighed((0.5, -0.5), [largest_stake((0.5, -0.5))], [3.0])
    assert math.fsum(bet.weights) <= 1
