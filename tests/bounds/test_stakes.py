"""(R2): coverage by enumeration and by repetition, and its value against 50 digits."""

from itertools import product
from math import comb, log, sqrt
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm

from doublebubble.bounds.stakes import mean_lower_bound, mean_upper_bound, near_best_stake
from doublebubble.errors import InputError, SettingError

TWO = ([0.0, 1.0], [0.9, 0.1])
RARE = ([-0.3, 2.0], [0.98, 0.02])
THREE = ([-1.0, 0.25, 1.5], [0.2, 0.5, 0.3])
FOUR = ([-0.4, 0.0, 0.1, 3.0], [0.3, 0.3, 0.3, 0.1])


def outcomes(n: int, kinds: int) -> list[tuple[int, ...]]:
    heads = product(range(n + 1), repeat=kinds - 1)
    return [(*head, n - sum(head)) for head in heads if sum(head) <= n]


def chance(counts: tuple[int, ...], p: list[float]) -> float:
    ways, left = 1, sum(counts)
    for k in counts:
        ways *= comb(left, k)
        left -= k
    return ways * float(np.prod(np.power(p, counts)))


@pytest.mark.parametrize(("values", "p"), [TWO, RARE, THREE, FOUR])
@pytest.mark.parametrize("alpha", [0.3, 0.05])
@pytest.mark.parametrize("part", [0.2, 0.6, 1.0])
def test_coverage_by_enumeration(values: list[float], p: list[float], alpha: float, part: float) -> None:
    low, high = min(values), max(values)
    mean, stake = float(np.dot(values, p)), part / (high - low)
    for n in (1, 3, 10 if len(values) > 3 else 25):
        all_outcomes = outcomes(n, len(values))
        weights = [chance(counts, p) for counts in all_outcomes]
        assert sum(weights) == pytest.approx(1)
        above = below = 0.0
        for counts, weight in zip(all_outcomes, weights, strict=True):
            above += weight * (mean_upper_bound(values, counts, stake, alpha, low, high) < mean)
            below += weight * (mean_lower_bound(values, counts, stake, alpha, low, high) > mean)
        assert above <= alpha
        assert below <= alpha


def test_enumeration_sees_a_bound_that_is_too_small() -> None:
    """Half of alpha would be missed by a bound computed at five times alpha: the test above has power."""
    values, p = TWO
    misses = sum(
        chance(counts, p) * (mean_upper_bound(values, counts, 0.6, 0.25, 0.0, 1.0) < 0.1) for counts in outcomes(25, 2)
    )
    assert misses > 0.05


@pytest.mark.parametrize(("values", "p"), [TWO, THREE, FOUR])
def test_coverage_by_repetition(values: list[float], p: list[float]) -> None:
    rng, n, alpha, times = np.random.default_rng(7), 4000, 0.05, 3000
    low, high, mean = min(values), max(values), float(np.dot(values, p))
    stake = near_best_stake(n, float(np.dot(np.square(values), p)) - mean**2, alpha, low, high)
    tables = rng.multinomial(n, p, times)
    misses = sum(mean_upper_bound(values, counts, stake, alpha, low, high) < mean for counts in tables)
    assert binomtest(int(misses), times, alpha, "greater").pvalue > 1e-4
    # Asymptotically P[N > sqrt(2 ln 20)] = 0.0072: neither far more nor far fewer misses.
    assert binomtest(int(misses), times, float(norm.sf(sqrt(2 * log(1 / alpha))))).pvalue > 1e-4


@given(
    data=st.data(),
    alpha=st.sampled_from([0.5, 0.05, 1e-3, 1e-9]),
    part=st.floats(1e-4, 1),
    scale=st.sampled_from([1.0, 1e-3, 50.0]),
)
def test_value_against_fifty_digits(data: st.DataObject, alpha: float, part: float, scale: float) -> None:
    values = data.draw(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=6))
    counts = data.draw(st.lists(st.integers(0, 10**6), min_size=len(values), max_size=len(values)))
    values = [scale * v for v in values]
    low, high = min(values) - 0.01 * scale, max(values)
    stake = part / (high - low)
    bound = mean_upper_bound(values, counts, stake, alpha, low, high)
    if bound >= high:
        assert bound == high
        exact_end = sum(counts) and wealth(high - 1e-9 * scale, values, counts, stake) > -mpmath.log(alpha)
        assert not exact_end
        return
    assert wealth(bound, values, counts, stake) >= -mpmath.log(mpmath.mpf(alpha))
    # and not far above the root
    nearer = bound - 1e-9 * scale
    assert nearer < low or wealth(nearer, values, counts, stake) < -mpmath.log(mpmath.mpf(alpha))


def wealth(u: float, values: list[float], counts: list[int], stake: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        exact_stake, exact_u = mpmath.mpf(stake), mpmath.mpf(u)
        table = [(v, n) for v, n in zip(values, counts, strict=True) if n]
        return mpmath.fsum(n * mpmath.log(1 + exact_stake * (exact_u - mpmath.mpf(v))) for v, n in table)


@pytest.mark.parametrize(("alpha", "factor"), [(0.001, 1.203), (0.05, 1.488)])
def test_excess_over_the_normal_quantile(alpha: float, factor: float) -> None:
    n = 10**7
    counts = [int(0.7 * n), n - int(0.7 * n)]
    stake = near_best_stake(n, 0.21, alpha, 0.0, 1.0)
    excess = mean_upper_bound([0.0, 1.0], counts, stake, alpha, 0.0, 1.0) - 0.3
    assert excess / (norm.isf(alpha) * sqrt(0.21 / n)) == pytest.approx(factor, abs=0.003)


@pytest.mark.parametrize(
    ("p", "n", "alpha", "factor", "fails"),
    [(0.3, 1000, 0.001, 1.24, 1.1e-4), (0.1, 10_000, 0.001, 1.245, 1.0e-4), (0.3, 10_000, 0.05, 1.50, 0.0073)],
)
def test_the_figures_of_the_mathematics(p: float, n: int, alpha: float, factor: float, fails: float) -> None:
    """Width over a normal quantile's at moderate n, and the exact chance to fail: docs/math.md, (R2)."""
    stake = near_best_stake(n, p * (1 - p), alpha, 0.0, 1.0)

    def upper(k: int) -> float:
        return mean_upper_bound([0.0, 1.0], [n - k, k], stake, alpha, 0.0, 1.0)

    hits = round(n * p)
    assert (upper(hits) - p) / (norm.isf(alpha) * sqrt(p * (1 - p) / n)) == pytest.approx(factor, abs=0.01)
    last = max(k for k in range(hits - round(6 * sqrt(hits)), hits) if upper(k) < p)
    assert float(binom.cdf(last, n, p)) == pytest.approx(fails, rel=0.1)


def test_the_near_best_stake_is_near_the_best() -> None:
    n, alpha = 10_000, 0.001
    counts = [9000, 1000]
    bounds = [mean_upper_bound([0.0, 1.0], counts, s, alpha, 0.0, 1.0) for s in np.geomspace(0.005, 1, 400)]
    stake = near_best_stake(n, 0.09, alpha, 0.0, 1.0)
    ours = mean_upper_bound([0.0, 1.0], counts, stake, alpha, 0.0, 1.0)
    assert ours - 0.1 <= 1.01 * (min(bounds) - 0.1)
    assert near_best_stake(n, 0.0, alpha, -1.0, 1.0) * 2 == pytest.approx(1)
    assert near_best_stake(10, 0.01, alpha, 0.0, 1.0) <= 1


def test_extremes() -> None:
    assert mean_upper_bound([0.0, 1.0], [0, 0], 1.0, 0.01, 0.0, 1.0) == 1.0
    assert mean_upper_bound([0.5], [7], 1.0, 0.01, 0.5, 0.5) == 0.5
    assert mean_upper_bound([0.0, 1.0], [0, 9], 1.0, 0.01, 0.0, 1.0) == 1.0
    # n zeros at full stake: (1 + U)^n = 1/alpha
    assert mean_upper_bound([0.0], [100], 1.0, 0.01, 0.0, 1.0) == pytest.approx(0.01 ** (-1 / 100) - 1)
    assert mean_lower_bound([0.0, 1.0], [0, 100], 1.0, 0.01, 0.0, 1.0) == pytest.approx(2 - 0.01 ** (-1 / 100))


def test_values_seen_do_not_set_the_range() -> None:
    seen = mean_upper_bound([0.0], [100], 0.5, 0.01, 0.0, 1.0)
    assert seen > 0
    with pytest.raises(InputError, match="values"):
        mean_upper_bound([2.0], [3], 0.5, 0.01, 0.0, 1.0)


def test_what_cannot_be_meant() -> None:
    good = ([0.0, 1.0], [3, 4], 1.0, 0.01, 0.0, 1.0)
    cases: list[tuple[int, Any, type[Exception]]] = [
        (1, [3], InputError),
        (1, [3, -1], InputError),
        (1, [3.0, 4.0], InputError),
        (0, [0.0, float("nan")], InputError),
        (2, 1.01, SettingError),
        (2, 0.0, SettingError),
        (2, float("nan"), SettingError),
        (3, 0.0, SettingError),
        (3, 1.0, SettingError),
        (5, float("nan"), SettingError),
        (5, -1.0, SettingError),
    ]
    for place, bad, error in cases:
        arguments: list[Any] = [*good[:place], bad, *good[place + 1 :]]
        with pytest.raises(error):
            mean_upper_bound(*arguments)
    with pytest.raises(SettingError):
        near_best_stake(0, 1.0, 0.01, 0.0, 1.0)
    with pytest.raises(SettingError):
        near_best_stake(5, float("nan"), 0.01, 0.0, 1.0)
