"""(F1), (F4), (F5) against linear programs, closed forms and 60-digit arithmetic."""

from math import inf, nextafter, sqrt

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import ndtri
from scipy.stats import norm

from doublebubble.errors import SettingError
from doublebubble.geometry import Rival, cohen_radius, first_order_lower, first_order_radius
from doublebubble.geometry.first_order import _lead, _side, interval, profile
from doublebubble.types import Floats

GRID = np.linspace(-7, 7, 701)
MASS = norm.pdf(GRID) / norm.pdf(GRID).sum()


def top(p_a: float, q: float) -> float:
    return profile(1 - p_a) + profile(q)


def weights(t: float) -> Floats:
    result: Floats = MASS * np.exp(t * GRID - t * t / 2)
    return result


def least_probability(p: float, gamma: float, t: float) -> float:
    """Solve Theorem F on a grid: all f with values in [0, 1], mass at least p, |first moment| at most gamma."""
    rows = np.array([-MASS, -MASS * GRID, MASS * GRID])
    result = linprog(weights(t), A_ub=rows, b_ub=[-p, gamma, gamma], bounds=(0, 1))
    assert result.fun is not None
    return float(result.fun)


def least_lead(p_a: float, q: float, gamma: float, t: float) -> float:
    """Solve Theorem J on a grid: disjoint f_A, f_B, joint constraint on the moment of f_A - f_B, both signs."""
    w, zero = weights(t), np.zeros_like(MASS)
    moment = np.r_[MASS * GRID, -MASS * GRID]
    sums = np.array([np.r_[-MASS, zero], np.r_[zero, MASS], moment, -moment])
    disjoint = np.hstack([np.eye(len(GRID))] * 2)
    result = linprog(
        np.r_[w, -w],
        A_ub=np.vstack([sums, disjoint]),
        b_ub=np.r_[-p_a, q, gamma, gamma, np.ones(len(GRID))],
        bounds=(0, 1),
    )
    assert result.fun is not None
    return float(result.fun)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("share", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("t", [0.3, 1.5])
def test_lower_bound_is_the_minimum_over_all_classifiers(p: float, share: float, t: float) -> None:
    gamma = share * profile(1 - p)
    assert first_order_lower(p, gamma, t) == pytest.approx(least_probability(p, gamma, t), abs=2e-4)


@pytest.mark.parametrize(("p_a", "q"), [(0.9, 0.1), (0.6, 0.3), (0.5, 0.2), (0.35, 0.1), (0.8, 0.02), (0.2, 0.15)])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_the_lead_vanishes_exactly_at_the_radius(p_a: float, q: float, share: float) -> None:
    gamma = share * top(p_a, q)
    t = first_order_radius(p_a, [Rival(q, gamma)], 1.0)
    assert least_lead(p_a, q, gamma, t) == pytest.approx(0.0, abs=3e-4)
    assert least_lead(p_a, q, gamma, 0.97 * t) > 1e-3 * t
    assert least_lead(p_a, q, gamma, 1.03 * t) < -1e-3 * t


@pytest.mark.parametrize(("p", "gain"), [(0.9, 0.28), (0.7, 0.87)])
def test_without_a_gradient_the_worst_case_is_the_slab(p: float, gain: float) -> None:
    radius = first_order_radius(p, [Rival(1 - p, 0.0)], 1.0)
    a = float(ndtri((1 + p) / 2))
    assert norm.cdf(a - radius) - norm.cdf(-a - radius) == pytest.approx(0.5, abs=1e-10)
    assert radius / ndtri(p) - 1 == pytest.approx(gain, abs=0.005)


@given(p=st.floats(1e-9, 1 - 1e-12), ratio=st.floats(1e-6, 1.0), sigma=st.floats(0.01, 10))
def test_without_a_bound_it_is_the_multiclass_radius(p: float, ratio: float, sigma: float) -> None:
    q = max(ratio * min(p, 1 - p), 1e-15)  # smaller tails count as this
    plain = max(0.0, sigma / 2 * float(ndtri(p) - ndtri(q)))
    radius = first_order_radius(p, [Rival(q)], sigma)
    assert 0 <= radius <= plain * (1 + 1e-13) + 1e-13 * sigma
    if p >= 1e-3:  # 1 - p loses digits of a smaller p, and a lead near 0 drowns in its rounding: both shrink the radius
        assert radius == pytest.approx(max(0.0, cohen_radius(p, q, sigma)), rel=1e-8, abs=1e-9 * sigma)


@settings(deadline=None)
@given(p=st.floats(1e-9, 1 - 1e-12), ratio=st.floats(0, 1.1), share=st.floats(0, 1.2))
def test_always_finite_and_never_below_the_plain_radius(p: float, ratio: float, share: float) -> None:
    q = min(1.0, ratio * min(p, 1 - p))
    radius = first_order_radius(p, [Rival(q, share * top(p, max(q, 1e-15)))], 1.0)
    assert np.isfinite(radius)
    assert radius >= first_order_radius(p, [Rival(q)], 1.0) >= 0


@settings(deadline=None, max_examples=60)
@given(
    p=st.floats(0.01, 1 - 1e-9),
    ratio=st.floats(1e-3, 1.0),
    share=st.floats(0, 1.2),
    more=st.floats(0, 0.3),
    worse=st.floats(1.0, 1.5),
)
def test_monotone_in_every_bound(p: float, ratio: float, share: float, more: float, worse: float) -> None:
    q = ratio * min(p, 1 - p)
    gamma = share * top(p, q)
    radius = first_order_radius(p, [Rival(q, gamma)], 1.0)
    slack = 1e-5 * radius + 1e-7
    assert first_order_radius(p, [Rival(q, gamma * (1 + more))], 1.0) <= radius + slack
    assert first_order_radius(p, [Rival(min(1.0, q * worse), gamma)], 1.0) <= radius + slack
    assert first_order_radius(p + more * (1 - p), [Rival(q, gamma)], 1.0) >= radius - slack


@settings(deadline=None)
@given(p=st.floats(1e-6, 1 - 1e-12), share=st.floats(0, 1.1), t=st.floats(0, 6))
def test_complement_as_rival_is_the_binary_statement(p: float, share: float, t: float) -> None:
    gamma = share * profile(1 - p)
    lower = first_order_lower(p, gamma, t)
    assert 0 <= lower <= p * (1 + 1e-12)
    assert lower >= first_order_lower(p, inf, t) * (1 - 1e-9) - 1e-13
    if p > 0.5:
        radius = first_order_radius(p, [Rival(1 - p, 2 * gamma)], 1.0)
        if t < radius * (1 - 1e-5):
            assert lower > 0.5
        if t > radius * (1 + 1e-5) + 1e-7:
            assert lower < 0.5


def exact_interval(Q: mp.mpf, g: mp.mpf, c: float, L: float) -> tuple[mp.mpf, mp.mpf]:
    def system(c: mp.mpf, L: mp.mpf) -> list[mp.mpf]:
        return [(mp.ncdf(-c) + mp.ncdf(-L) - Q) / Q, (mp.npdf(c) - mp.npdf(L) - g) / Q]

    solution = mp.findroot(system, (mp.mpf(c), mp.mpf(L)))
    return solution[0], solution[1]


@pytest.mark.parametrize("p", [0.51, 0.7, 0.9, 0.999, 1 - 1e-6, 1 - 1e-12])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_never_above_the_exact_radius_and_close_to_it(p: float, share: float) -> None:
    gamma = share * profile(1 - p)
    radius = first_order_radius(p, [Rival(1 - p, 2 * gamma)], 1.0)
    with mp.workdps(60):
        Q = 1 - mp.mpf(p)
        c, L = exact_interval(Q, mp.mpf(gamma), *interval(1 - p, gamma))
        exact = mp.findroot(lambda t: mp.ncdf(c - t) - mp.ncdf(-L - t) - mp.mpf(1) / 2, radius)
        assert mp.mpf(radius) <= exact
        assert mp.mpf(radius) >= exact * (1 - mp.mpf(10) ** -9)


@pytest.mark.parametrize(("p_a", "q"), [(0.6, 0.3), (0.45, 0.2), (0.95, 0.01), (1 - 1e-5, 2e-6)])
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_never_above_the_exact_radius_with_two_classes(p_a: float, q: float, share: float) -> None:
    gamma = share * top(p_a, q)
    radius = first_order_radius(p_a, [Rival(q, gamma)], 1.0)
    with mp.workdps(50):
        Q, q_, g = 1 - mp.mpf(p_a), mp.mpf(q), mp.mpf(gamma)

        def crossing(split: float) -> mp.mpf:
            """Where one way of dividing gamma leaves no lead; the exact radius is the least of these."""
            a = exact_interval(Q, mp.mpf(split), *interval(1 - p_a, split))
            b = exact_interval(q_, g - split, *interval(q, gamma - split))
            return mp.findroot(
                lambda t: mp.ncdf(a[0] - t) - mp.ncdf(-a[1] - t) - mp.ncdf(t - b[0]) - mp.ncdf(-b[1] - t), radius
            )

        low, high = gamma - profile(q), profile(1 - p_a)
        low, high = max(low, -high), min(high, gamma + profile(q))
        splits = low + (high - low) * np.linspace(0.02, 0.98, 25)
        assert mp.mpf(radius) <= min(crossing(float(split)) for split in splits)


@settings(deadline=None, max_examples=60)
@given(
    p=st.floats(0.3, 0.999),
    ratio=st.floats(0.05, 1.0),
    parts=st.tuples(st.floats(0.05, 0.95), st.floats(0.05, 0.95)),
    share=st.floats(0, 1),
    t=st.floats(0.05, 2.5),
)
@example(p=0.7, ratio=0.5, parts=(0.9, 0.1), share=0.3, t=1.0)
@example(p=0.7, ratio=0.5, parts=(0.1, 0.9), share=0.3, t=1.0)
def test_the_lead_is_theorem_j_for_any_two_intervals(
    p: float, ratio: float, parts: tuple[float, float], share: float, t: float
) -> None:
    """(F4) in fifty digits, with intervals that no solver chose: the lines need not have one slope."""
    q = ratio * (1 - p)
    sides = [_side(tail, *interval(tail, part * profile(tail))) for tail, part in zip((1 - p, q), parts, strict=True)]
    gamma = share * top(p, q)
    found = _lead(t, sides[0], sides[1], gamma)
    with mp.workdps(50):
        value, slopes, caps = mp.mpf(-1), [], []
        for side, mass in zip(sides, (1 - mp.mpf(1 - p), 1 - mp.mpf(q)), strict=True):
            c, L = mp.mpf(side.c), mp.mpf(side.L)
            ends = [mp.exp(t * z - mp.mpf(t) ** 2 / 2) for z in (-L, c)]
            slope = (ends[1] - ends[0]) / (c + L)
            intercept = ends[1] - slope * c
            assert intercept >= 0
            value += mp.ncdf(c - t) - mp.ncdf(-L - t) + intercept * (mass - mp.ncdf(c) + mp.ncdf(-L))
            value += slope * (mp.npdf(c) - mp.npdf(L))
            slopes.append(slope)
            tail = 1 - mass
            half = mp.npdf(mp.sqrt(2) * mp.erfinv(1 - 2 * tail))
            caps.append(half if tail <= 0.5 else mp.npdf(0))
        mu = min(slopes)
        value -= mu * mp.mpf(gamma) + sum((s - mu) * m for s, m in zip(slopes, caps, strict=True))
        assert mp.mpf(found) <= value
        assert found == pytest.approx(float(value), abs=1e-9)


def test_the_smallest_rival_radius_counts() -> None:
    rivals = [Rival(0.2, 0.3), Rival(0.15), Rival(0.05, 0.1)]
    each = [first_order_radius(0.6, [rival], 0.5) for rival in rivals]
    assert first_order_radius(0.6, rivals, 0.5) == min(each)
    assert first_order_radius(0.6, rivals, 1.0) == pytest.approx(2 * min(each), rel=1e-14)


@pytest.mark.parametrize(("p_a", "q"), [(0.0, 0.5), (0.3, 0.3), (0.2, 0.7), (0.5, 0.5)])
def test_no_lead_no_radius(p_a: float, q: float) -> None:
    assert first_order_radius(p_a, [Rival(q, 0.1)], 1.0) == 0.0


def test_two_half_spaces_show_no_gain() -> None:
    p_a, q = 0.7, 0.1
    exact = top(p_a, q)
    gain = first_order_radius(p_a, [Rival(q, exact)], 1.0) / first_order_radius(p_a, [Rival(q)], 1.0)
    assert gain == pytest.approx(1.0, abs=1e-9)


def test_joint_gradient_beats_separate_ones_when_they_are_not_opposite() -> None:
    separate = first_order_radius(0.5, [Rival(0.25, 0.9 * top(0.5, 0.25))], 1.0)
    joint = first_order_radius(0.5, [Rival(0.25, 0.9 * top(0.5, 0.25) * sqrt(0.75))], 1.0)
    assert joint > 1.05 * separate


@given(Q=st.floats(1e-12, 1 - 1e-9), share=st.floats(-1, 1))
def test_interval_solves_its_equations(Q: float, share: float) -> None:
    g = share * profile(Q)
    c, L = interval(Q, g)
    assert norm.sf(c) + norm.sf(L) == pytest.approx(Q, rel=1e-12)
    assert norm.pdf(c) - norm.pdf(L) == pytest.approx(g, abs=1e-11 * profile(Q) + 1e-15)
    assert (c <= L) or g < 0


@pytest.mark.parametrize(
    ("p_a", "rivals", "sigma"),
    [
        (1.0, [Rival(0.1)], 1.0),
        (float("nan"), [Rival(0.1)], 1.0),
        (0.6, [], 1.0),
        (0.6, [Rival(1.5)], 1.0),
        (0.6, [Rival(0.1, -0.1)], 1.0),
        (0.6, [Rival(0.1, float("nan"))], 1.0),
        (0.6, [Rival(0.1)], 0.0),
        (0.6, [Rival(0.1)], inf),
    ],
)
def test_impossible_arguments_are_refused(p_a: float, rivals: list[Rival], sigma: float) -> None:
    with pytest.raises(SettingError, match="expected"):
        first_order_radius(p_a, rivals, sigma)


@pytest.mark.parametrize(("p", "gamma", "t"), [(0.0, 0.1, 1.0), (0.5, -1.0, 1.0), (0.5, 0.1, inf), (0.5, 0.1, -1.0)])
def test_impossible_arguments_of_the_lower_bound_are_refused(p: float, gamma: float, t: float) -> None:
    with pytest.raises(SettingError, match="expected"):
        first_order_lower(p, gamma, t)


def test_lower_bound_at_distance_zero_is_the_probability() -> None:
    assert first_order_lower(0.8, 0.1, 0.0) == pytest.approx(0.8, rel=1e-12)
    assert first_order_lower(0.8, 0.1, 0.0) < nextafter(0.8, 1)
    assert first_order_lower(0.8, inf, 1.0) == pytest.approx(float(norm.cdf(ndtri(0.8) - 1)), rel=1e-12)
