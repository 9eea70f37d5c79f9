"""The cost of one slice against 40 digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from doublebubble.geometry.profile.slices import slice_cost, slice_cost_without_weight


def exact(k: float, mu: float, b: float, log_a: float) -> mpmath.mpf:
    """E[(k + mu y - w)_+] from the exact roots, by Lambert's function where there are two."""
    k, mu, b, A = mpmath.mpf(k), mpmath.mpf(mu), mpmath.mpf(b), mpmath.exp(mpmath.mpf(log_a))
    if b == 0 and mu == 0:
        return max(k - A, mpmath.mpf(0))
    if b == 0:
        left, right = (A - k) / mu, mpmath.inf
    elif mu == 0:
        if k <= 0:
            return mpmath.mpf(0)
        left, right = -mpmath.inf, mpmath.log(k / A) / b + b / 2
    else:
        inside = -(b * A / mu) * mpmath.exp(-b * b / 2 - b * k / mu)
        if inside <= -mpmath.exp(-1):
            return mpmath.mpf(0)
        left, right = (-mpmath.lambertw(inside, branch).real / b - k / mu for branch in (0, -1))
    mass, moved = mpmath.ncdf(right) - mpmath.ncdf(left), mpmath.ncdf(right - b) - mpmath.ncdf(left - b)
    return k * mass + mu * (mpmath.npdf(left) - mpmath.npdf(right)) - A * moved


@given(
    k=st.floats(-5, 60),
    mu=st.one_of(st.just(0.0), st.floats(1e-6, 3)),
    b=st.one_of(st.just(0.0), st.floats(1e-3, 3)),
    log_a=st.floats(-12, 8),
)
@example(k=1.0, mu=0.5, b=0.5, log_a=-0.125)  # a tangent bracket: a root of order two
@example(k=0.0, mu=0.0, b=1.0, log_a=0.0)
@example(k=50.0, mu=1e-6, b=1e-3, log_a=-10.0)
def test_cost_against_forty_digits(k: float, mu: float, b: float, log_a: float) -> None:
    found = float(slice_cost(*(np.array([v]) for v in (k, mu, b, log_a)))[0])
    with mpmath.workdps(40):
        truth = exact(k, mu, b, log_a)
    assert found >= truth
    size = 1 + abs(k) + mu + mu / max(b, 1e-3) + float(np.exp(log_a))
    assert found <= truth + 1e-8 * size


def test_without_weight_is_the_limit_of_small_weights() -> None:
    k, mu = np.array([-1.0, 0.0, 2.0]), np.array([0.3, 0.3, 0.3])
    for b in (0.0, 0.5):
        near = slice_cost(k, mu, np.full(3, b), np.full(3, -60.0))
        assert near == pytest.approx(slice_cost_without_weight(k, mu), abs=1e-9)


def test_an_empty_bracket_costs_almost_nothing() -> None:
    assert slice_cost(*(np.array([v]) for v in (-3.0, 0.5, 1.0, 2.0)))[0] < 1e-11
