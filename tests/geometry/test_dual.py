"""The rounded value of (D1) against rational arithmetic: never above, and hardly below."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublebubble.geometry import bound_at, certified_radius, dual_value
from tests.geometry.truth import Case, exact_dual

SCALES = st.sampled_from([1e-160, 1e-30, 1e-8, 1e-3, 1.0, 1e3, 1e8, 1e30])


def adversarial(rng: np.random.Generator, scale: float) -> tuple[Case, float, float]:
    """Few coordinates of very different sizes, some at the faces; balls near and far; a box of width `scale`."""
    d, m = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    low, high = -scale * rng.uniform(0.1, 1.0), scale * rng.uniform(0.1, 1.0)
    x1 = np.clip(scale * rng.normal(size=d) * 10.0 ** rng.integers(-12, 1, d), low, high)
    x1 = np.where(rng.uniform(size=d) < 0.3, rng.choice([low, high], size=d), x1)
    c = scale * rng.normal(size=(m, d)) * 10.0 ** rng.integers(-9, 1, (m, 1))
    if m > 1 and rng.uniform() < 0.5:
        c[1] = -c[0] * rng.uniform(0.1, 3.0)
    centres = x1 + c
    radii = np.linalg.norm(centres - x1, axis=1) * (
        1.0 + rng.choice([1e-12, 1e-6, 0.1, 1.0], m) * rng.uniform(-0.2, 1.0, m)
    )
    return Case(x1, centres, radii), low, high


def multipliers(rng: np.random.Generator, m: int) -> np.ndarray:
    """Sums well below 1, just below, at and just above it, and large."""
    lam = rng.uniform(size=m) * (rng.uniform(size=m) < 0.8)
    total = rng.choice([0.3, 1 - 1.5e-6, 1 - 1e-12, 1.0, 1 + 1e-12, 1.7, 1e6])
    return lam * total / lam.sum() if lam.any() else lam


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=SCALES, free=st.booleans())
def test_never_above_the_exact_value_for_any_multipliers(seed: int, scale: float, free: bool) -> None:
    rng = np.random.default_rng(seed)
    case, low, high = adversarial(rng, scale)
    box = (None, None) if free else (low, high)
    lam = multipliers(rng, len(case.radii))
    value = dual_value(lam, case.x1, case.centres, case.radii, *box)
    if value == -math.inf:
        assert free
        assert lam.sum() > 1 - 1e-6 - 1e-12
        return
    exact = exact_dual(lam, case, *box)
    assert Fraction(value) <= exact
    size = float(np.sum(lam * (case.radii**2 + np.sum((case.centres - case.x1) ** 2, axis=1))))
    size += 0.0 if free else abs(1 - lam.sum()) * len(case.x1) * (high - low) ** 2
    size += float(np.sum(np.abs(lam @ np.abs(case.centres - case.x1)))) * (high - low)
    if scale > 1e-100 and not free:
        assert exact - Fraction(value) <= Fraction(1e-13 * size)
    bound = bound_at(lam, case.x1, case.centres, case.radii, *box)
    assert Fraction(bound.radius) ** 2 <= max(exact, Fraction(0))


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=SCALES, free=st.booleans())
def test_certified_radius_never_above_what_its_multipliers_prove(seed: int, scale: float, free: bool) -> None:
    case, low, high = adversarial(np.random.default_rng(seed), scale)
    box = (None, None) if free else (low, high)
    bound = certified_radius(case.x1, case.centres, case.radii, *box)
    exact = exact_dual(bound.multipliers, case, *box)
    assert Fraction(bound.radius) ** 2 <= max(exact, Fraction(0))
    farthest = sum(
        max((Fraction(low) - Fraction(x)) ** 2, (Fraction(high) - Fraction(x)) ** 2) for x in case.x1.tolist()
    )
    if bound.whole_domain:
        assert exact > farthest >= Fraction(bound.radius) ** 2
    if not free:
        assert Fraction(bound.radius) ** 2 <= farthest


def test_many_coordinates_lose_little_to_the_rounding_bound() -> None:
    rng = np.random.default_rng(0)
    x1, c = rng.uniform(size=150_528), rng.normal(size=150_528) * 1e-3
    r = float(np.linalg.norm(c)) + 0.3
    value = dual_value([0.25], x1, [x1 + c], [r])
    y = np.clip(-c / 3.0, -x1, 1.0 - x1)
    plain = 0.25 * (r**2 - math.fsum(c * c)) + math.fsum(0.75 * y * y + 0.5 * c * y)
    assert value == pytest.approx(plain, rel=1e-11)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 8, 9, 1000])
def test_every_coordinate_counts_once(d: int) -> None:
    """All y_k at the face: G = lam (r^2 - d^2) - 2 lam c a, with c = a = 1/4 in every coordinate."""
    x1, x2 = np.full(d, 0.25), np.full(d, 0.5)
    value = dual_value([1.0], x1, [x2], [100.0])
    assert value == pytest.approx(100.0**2 - d / 16 - d / 8, rel=1e-12)
