"""The one forecast: counts to expect, the radius that follows, and its derivative."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.bounds import VotesRule, votes_bound
from doublebubble.search.forecast import expected_counts, outlook


@given(st.lists(st.integers(0, 300), min_size=2, max_size=12).filter(any), st.integers(0, 11), st.integers(1, 200_000))
def test_expected_counts_add_up_and_lean_against_the_class(raw: list[int], top: int, n: int) -> None:
    counts, top = np.array(raw), top % len(raw)
    expected = expected_counts(counts, top, n)
    seen = int(counts.sum())
    assert expected.sum() == n
    assert expected.min() >= 0
    assert expected[top] <= n * counts[top] / (seen + 1) + 1e-6
    assert np.abs(expected - n * counts / (seen + 1)).max() <= n / (seen + 1) + 1


def test_the_forecast_is_the_bound_at_the_counts_to_expect() -> None:
    """What is forecast is what the certify draws give if they turn out like the draws already seen."""
    counts = np.array([350, 100, 30, 20])
    for n in (1000, 100_000):
        found = outlook(counts, 0, n, 0.001, 0.5)
        again = votes_bound(expected_counts(counts, 0, n), found.rule, 0.001, 0.5)
        assert found.radius == min(bound.radius for bound in again)
    rng = np.random.default_rng(0)
    draws = rng.multinomial(100_000, counts / 500, size=50)
    radii = [min(b.radius for b in votes_bound(c, found.rule, 0.001, 0.5)) for c in draws]
    assert np.mean(radii) == pytest.approx(found.radius, rel=0.01)


def test_the_gradient_is_the_derivative_of_the_radius() -> None:
    counts = np.array([7000, 2000, 600, 400])
    base = outlook(counts, 0, 10**9, 0.001, 0.5)
    assert not base.rule.binary
    for k, step in ((0, 20), (1, 20)):
        moved = counts.copy()
        moved[k] += step
        moved[3] -= step
        change = outlook(moved, 0, 10**9, 0.001, 0.5).radius - base.radius
        assert change == pytest.approx((base.weights[k] - base.weights[3]) * step / 10_001, rel=0.05)


def test_the_gradient_of_the_binary_rule() -> None:
    counts = np.array([9000, 1000])
    base = outlook(counts, 0, 10**9, 0.001, 0.5)
    change = outlook(np.array([9020, 980]), 0, 10**9, 0.001, 0.5).radius - base.radius
    assert base.rule == VotesRule(0, binary=True)
    assert change == pytest.approx((base.weights[0] - base.weights[1]) * 20 / 10_001, rel=0.05)


def test_nothing_is_promised_for_a_class_without_votes() -> None:
    found = outlook(np.array([0, 10]), 0, 100, 0.001, 0.5)
    assert found.radius == -math.inf
    assert not found.weights.any()
