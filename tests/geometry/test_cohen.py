"""The Cohen radius against 50-digit quantiles, its ceiling, and its edges."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.bounds import VotesRule, clopper_pearson, votes_bound
from doublebubble.errors import InputError, SettingError
from doublebubble.geometry import cohen_ceiling, cohen_radius

probabilities = st.floats(1e-300, 1 - 2**-53)


def quantile(p: float) -> mp.mpf:
    """The p-quantile of the standard normal by Newton's method on erfc from the nearer tail, to 40 digits."""
    if p > 0.5:
        return -_lower_quantile(1 - mp.mpf(p))
    return _lower_quantile(mp.mpf(p))


def _lower_quantile(p: mp.mpf) -> mp.mpf:
    if p == 0.5:
        return mp.mpf(0)
    x = -mp.sqrt(-2 * mp.log(2 * p)) if p < 0.1 else mp.sqrt(2 * mp.pi) * (p - mp.mpf(1) / 2)
    for _ in range(200):
        cdf = mp.erfc(-x / mp.sqrt(2)) / 2
        step = mp.log(cdf / p) * cdf * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
        x -= step
        if abs(step) < mp.mpf(10) ** -38:
            return x
    raise AssertionError(f"no convergence at {p}")


@given(probabilities, probabilities, st.floats(1e-3, 100))
def test_never_above_the_exact_radius_and_close_to_it(p_a: float, p_b: float, sigma: float) -> None:
    with mp.workdps(60):
        a, b, s = quantile(p_a), quantile(p_b), mp.mpf(sigma)
        for got, exact, size in (
            (cohen_radius(p_a, p_b, sigma), s / 2 * (a - b), s / 2 * (abs(a) + abs(b))),
            (cohen_radius(p_a, None, sigma), s * a, s * abs(a)),
        ):
            assert got <= exact
            assert got >= exact - 1e-14 * size - mp.mpf(10) ** -300


def test_never_above_on_a_dense_grid() -> None:
    near_one = 1 - 10.0 ** -np.linspace(0.31, 15.9, 150)
    for p in [*near_one, *(0.5 + 10.0 ** -np.linspace(0.4, 15, 60)), 0.5]:
        with mp.workdps(60):
            assert cohen_radius(float(p), None, 1.0) <= quantile(float(p))
            assert cohen_radius(float(p), float(1 - p), 1.0) <= (quantile(float(p)) - quantile(float(1 - p))) / 2


def test_known_values() -> None:
    assert cohen_radius(0.9772498680518208, None, 0.5) == pytest.approx(1.0, abs=1e-12)
    assert cohen_radius(0.8413447460685429, 0.15865525393145707, 0.25) == pytest.approx(0.25, abs=1e-12)
    assert cohen_radius(0.3, 0.05, 1.0) == pytest.approx((-0.5244005127080407 + 1.6448536269514729) / 2, abs=1e-12)
    assert -1e-14 < cohen_radius(0.4, 0.4, 1.0) < 0


def test_broadcasts() -> None:
    p_a, sigma = np.array([[0.6], [0.9]]), np.array([0.5, 1.0, 2.0])
    got = cohen_radius(p_a, 0.1, sigma)
    assert got.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            assert got[i, j] == cohen_radius(float(p_a[i, 0]), 0.1, float(sigma[j]))
    assert type(cohen_radius(0.6, 0.1, 0.5)) is float


def test_monotone_and_scales_with_sigma() -> None:
    p = np.linspace(0.001, 0.998, 500)
    assert (np.diff(cohen_radius(p, 0.2, 1.0)) > 0).all()
    assert (np.diff(cohen_radius(np.full(500, 0.7), p, 1.0)) < 0).all()
    np.testing.assert_allclose(cohen_radius(p, 0.2, 3.0), 3 * cohen_radius(p, 0.2, 1.0), rtol=1e-12)


def test_edges_are_stated_outcomes() -> None:
    assert cohen_radius(0.0, None, 1.0) == -np.inf
    assert cohen_radius(0.0, 1.0, 1.0) == -np.inf
    assert cohen_radius(0.7, 1.0, 1.0) == -np.inf
    for p_a, p_b in [(1.0, None), (1.0, 0.5), (1.1, None), (-0.1, None), (float("nan"), None), (0.5, 0.0), (0.5, 1.5)]:
        with pytest.raises(InputError, match="expected a probability"):
            cohen_radius(p_a, p_b, 1.0)
    for sigma in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(SettingError, match="sigma"):
            cohen_radius(0.6, None, sigma)


def test_ceiling_values() -> None:
    for n, expected in ((10**3, 2.46), (10**4, 3.20), (10**5, 3.81)):
        assert round(cohen_ceiling(n, 0.001, 1.0), 2) == expected
        assert cohen_ceiling(n, 0.001, 0.25) == pytest.approx(cohen_ceiling(n, 0.001, 1.0) / 4, rel=1e-12)
    assert cohen_ceiling(1, 0.4, 1.0) < 0 < cohen_ceiling(1, 0.6, 1.0)
    for n, alpha in ((0, 0.1), (10, 0.0), (10, 1.0)):
        with pytest.raises(SettingError):
            cohen_ceiling(n, alpha, 1.0)


@given(st.integers(1, 10**6), st.floats(1e-12, 0.5), st.integers(0, 20))
def test_no_counts_exceed_the_ceiling(n: int, alpha: float, failures: int) -> None:
    ceiling = cohen_ceiling(n, alpha, 1.0)
    k = max(n - failures, 0)
    assert cohen_radius(clopper_pearson(k, n, alpha), None, 1.0) <= ceiling
    for rule in (VotesRule(0, binary=True), VotesRule(0, binary=False)):
        assert min(bound.radius for bound in votes_bound(np.array([k, n - k, 0]), rule, alpha, 1.0)) <= ceiling
