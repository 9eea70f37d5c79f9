"""(F3) against brute force: sets chosen by sorting a fine grid, and random regions of votes."""

from itertools import pairwise
from math import inf, log

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtri
from scipy.stats import norm

from doublebubble.bounds.cumulant import cumulant, tail_supremum

GRID = np.linspace(-11, 11, 220001)
MASS = norm.pdf(GRID) * (GRID[1] - GRID[0])


def by_sorting(up: float, down: float, q: float) -> float:
    """Fill the best set of mass q cell by cell."""
    h = np.exp(up * GRID) - np.exp(down * GRID) - (up - down) * GRID
    order = np.argsort(-h)
    kept = np.minimum(MASS[order], np.maximum(0, q - np.cumsum(MASS[order]) + MASS[order]))
    return float(np.sum(kept * np.maximum(h[order], 0)))


@pytest.mark.parametrize("s", [0.01, 0.1, 0.5, 1.9])
@pytest.mark.parametrize("offset", [0.0, 0.2, 0.499, 0.5, 0.6, 0.95, 1.0])
@pytest.mark.parametrize("q", [1e-4, 0.03, 0.4, 0.9, 1.0])
@pytest.mark.parametrize(("after", "before"), [(1, 0), (2, 0), (2, 1)])
def test_supremum_over_sets(s: float, offset: float, q: float, after: int, before: int) -> None:
    up, down = s * (after - offset), s * (before - offset)
    brute = by_sorting(up, down, q)
    bound = tail_supremum(up, down, q)
    assert bound >= brute * (1 - 1e-7) - 1e-12
    assert bound <= brute * 1.004 + 1e-6 * s * s


@pytest.mark.parametrize("offset", [0.0, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("s", [0.03, 0.3, 1.5])
def test_no_region_of_votes_exceeds_it(offset: float, s: float) -> None:
    """Random and adversarial assignments of grid cells to A, B and others."""
    rng = np.random.default_rng(int(1000 * (offset + s)))
    z, mass = GRID[::20], MASS[::20] * 20
    worst = 0.0
    for trial in range(60):
        key = (np.abs(z), z, -z, rng.standard_normal(len(z)), np.abs(z - rng.normal()))[trial % 5]
        lead, step = np.sort(rng.uniform(size=2)) ** rng.choice([0.3, 1, 3])
        order = np.argsort(-key)
        filled = np.cumsum(mass[order])
        level = np.empty(len(z))
        level[order] = (filled <= lead).astype(float) + (filled <= step)
        x = s * (level - offset) * z
        true = float(np.sum(mass * (np.exp(x) - 1 - x)))
        bound = cumulant(s, offset, float(mass[level >= 1].sum()), float(mass[level == 2].sum()))
        assert true <= bound * (1 + 1e-6) + 1e-12
        worst = max(worst, true / bound)
    assert worst > 0.75  # the bound is not vacuous: both tails come near it


def test_binary_case_is_exact() -> None:
    """With the complement as rival no vote lies between, and the best set is attained."""
    s, q = 0.2, 0.1
    assert cumulant(s, 0.0, q, q) == pytest.approx(by_sorting(2 * s, 0.0, q), rel=1e-3)
    assert cumulant(s, 1.0, q, q) == pytest.approx(by_sorting(s, -s, q) + np.expm1(s * s / 2), rel=1e-3)


def test_it_grows_with_s_and_with_both_masses() -> None:
    for offset in (0.0, 0.4, 0.7, 1.0):
        in_s = [cumulant(s, offset, 0.3, 0.2) for s in (0.0, 0.01, 0.1, 0.5, 1.0, 2.0)]
        in_q = [cumulant(0.1, offset, 0.3, q) for q in (0.0, 0.01, 0.1, 0.3)]
        in_not_a = [cumulant(0.1, offset, Q, 0.1) for Q in (0.1, 0.3, 0.6, 1.0)]
        for values in (in_s, in_q, in_not_a):
            assert all(a <= b * (1 + 2e-3) for a, b in pairwise(values))
    assert cumulant(2.1, 0.5, 0.3, 0.2) == inf


@pytest.mark.parametrize(("q", "expected"), [(0.001, 0.0022), (0.04, 0.0093)])
def test_deviation_of_one_class_without_offset(q: float, expected: float) -> None:
    """The best Chernoff deviation of a mean of 5e4 terms f z at level 1.25e-4, figures known beforehand."""

    def deviation(s: float) -> float:
        return (tail_supremum(s, 0.0, q) + log(1 / 1.25e-4) / 5e4) / s

    best = minimize_scalar(deviation, bounds=(1e-3, 2.0), method="bounded")
    assert best.fun == pytest.approx(expected, abs=6e-5)


def test_small_s_gives_the_second_moment_of_two_tails() -> None:
    q, s = 0.05, 1e-3
    a = -ndtri(q / 2)
    assert tail_supremum(s, 0.0, q) / (s * s / 2) == pytest.approx(q + 2 * a * norm.pdf(a), rel=1e-3)
