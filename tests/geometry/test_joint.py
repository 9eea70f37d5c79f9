"""The joint functional: its cost against 50 digits, its radius against (S3), its inequality against classifiers."""

from math import exp, inf

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from doublebubble.errors import InputError, SettingError
from doublebubble.geometry.cohen import cohen_radius
from doublebubble.geometry.joint import best_prices, joint_cost, joint_radius

PROBABILITIES = st.floats(1e-6, 1 - 1e-6)


@given(log_k=st.floats(-12, 12), t=st.one_of(st.floats(1e-6, 8), st.sampled_from([1e-6, 1e-3, 0.5])))
def test_cost_against_fifty_digits(log_k: float, t: float) -> None:
    k = exp(log_k)
    with mpmath.workdps(50):
        exact_k, exact_t = mpmath.mpf(k), mpmath.mpf(t)
        h = mpmath.log(exact_k) / exact_t + exact_t / 2
        exact = exact_k * mpmath.ncdf(h) - mpmath.ncdf(h - exact_t)
        assert joint_cost(k, t) >= exact
        assert joint_cost(k, t) <= exact + 3e-13 * (1 + k)


def test_cost_is_the_integral_of_the_positive_part() -> None:
    z = np.linspace(-12, 12, 400_001)
    for k, t in [(0.3, 0.7), (1.0, 1.0), (4.0, 2.0)]:
        integral = np.trapezoid(np.maximum(k - np.exp(t * z - t * t / 2), 0) * norm.pdf(z), z)
        assert joint_cost(k, t) == pytest.approx(integral, abs=1e-8)
    assert joint_cost(3.0, 0.0) == pytest.approx(2.0)
    assert joint_cost(0.5, 0.0) == 0.0


@given(log_k=st.floats(-5, 5), t=st.floats(0, 5), more=st.floats(1e-3, 3))
def test_cost_rises_with_distance(log_k: float, t: float, more: float) -> None:
    assert joint_cost(exp(log_k), t + more) >= joint_cost(exp(log_k), t) - 1e-11 * (1 + exp(log_k))


@given(p_a=PROBABILITIES, part=st.floats(1e-3, 1), sigma=st.sampled_from([0.25, 1.0]))
def test_exact_probabilities_and_best_prices_give_the_cohen_radius(p_a: float, part: float, sigma: float) -> None:
    p_b = part * (1 - p_a)
    k_a, k_b = best_prices(p_a, p_b)
    radius = joint_radius(k_a * p_a + k_b * (1 - p_b), k_a, k_b, sigma)
    cohen = max(0.0, cohen_radius(p_a, p_b, sigma))
    slope = sigma * 1e-10 * (1 + k_a + k_b)
    assert radius <= cohen + slope
    assert radius >= cohen - slope - sigma * 2e-3 * (cohen < sigma * 1e-3)


@given(p_a=PROBABILITIES, part=st.floats(1e-3, 1), log_a=st.floats(-3, 3), log_b=st.floats(-3, 3))
def test_no_prices_beat_the_half_spaces(p_a: float, part: float, log_a: float, log_b: float) -> None:
    """At exact probabilities (S3) is attained by half-spaces, so a larger radius would be false."""
    p_b, k_a, k_b = part * (1 - p_a), exp(log_a), exp(log_b)
    radius = joint_radius(k_a * p_a + k_b * (1 - p_b), k_a, k_b, 1.0)
    assert radius <= max(0.0, cohen_radius(p_a, p_b, 1.0)) + 1e-8


def test_a_larger_mean_certifies_more() -> None:
    k_a, k_b = best_prices(0.7, 0.2)
    mean = k_a * 0.7 + k_b * 0.8
    radii = [joint_radius(mean - d, k_a, k_b, 1.0) for d in (0.0, 0.01, 0.1, 1.0)]
    assert radii == sorted(radii, reverse=True)
    assert radii[0] > radii[1] > radii[2]
    assert joint_radius(-5.0, k_a, k_b, 1.0) == 0.0


def test_what_cannot_be_meant() -> None:
    with pytest.raises(InputError):
        joint_radius(3.0, 1.0, 1.0, 1.0)
    with pytest.raises(InputError):
        joint_radius(float("nan"), 1.0, 1.0, 1.0)
    for k, t in [(0.0, 1.0), (inf, 1.0), (1.0, -1.0), (1.0, float("nan")), (float("nan"), 1.0)]:
        with pytest.raises(SettingError):
            joint_cost(k, t)
    with pytest.raises(SettingError):
        joint_radius(1.5, 1.0, 1.0, 0.0)
    with pytest.raises(SettingError):
        best_prices(1.2, 0.1)
