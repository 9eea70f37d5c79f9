"""Prices near the best: the dual value against a linear program, and what a wrong guess costs."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from doublebubble.errors import SettingError
from doublebubble.geometry.profile import (
    GuessedProfile,
    PriceTable,
    best_profile_prices,
    checked_guess,
    cost,
    default_edges,
    mean_value,
)

from .planar import worst_lead
from .truth import blurred_profile

EDGES = default_edges(14)
MIDDLES = np.concatenate((EDGES[:1] - 0.4, 0.5 * (EDGES[1:] + EDGES[:-1]), EDGES[-1:] + 0.4))


def blurred(p: float, slope: float, gamma: float, share: float = 1.0) -> GuessedProfile:
    """A boundary across u0, blurred to a part of a half-space's slope; the rival takes a share of what A loses."""
    s = slope / np.sqrt(1 - slope**2)
    f_a = ndtr(ndtri(p) * np.sqrt(1 + s * s) - s * MIDDLES)
    return checked_guess(EDGES, f_a, share * (1 - f_a), gamma)


@pytest.mark.parametrize(
    ("p", "share", "gamma", "a", "b"),
    [(0.7, 1.0, 0.05, 0.1, 0.6), (0.8, 0.7, 0.1, 0.6, 0.6), (0.9, 1.0, 0.02, 1.0, 0.8), (0.6, 0.5, 5.0, 0.3, 0.3)],
)
def test_within_a_thousandth_of_the_linear_program(
    p: float, share: float, gamma: float, a: float, b: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    guess = blurred(p, 0.8, gamma, share)
    primal = worst_lead(guess, a, b, parts=6, rows=60)
    (prices,) = best_profile_prices(guess, a, b)
    monkeypatch.setattr(cost, "_CHORD", 0.01)  # the integral itself
    dual = mean_value(prices, guess) - float(prices.cost(a, b)[0])
    assert primal - 1e-3 <= dual <= primal + 1e-7


@pytest.mark.parametrize("seed", range(5))
def test_random_profiles_are_within_a_thousandth_of_the_linear_program(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Probabilities, slopes, shares of the rival and displacements at random, off the line; as many bins as usual.

    With fewer bins the outermost hold more, and the last one is charged the cost at its edge. A grid of cells leaves
    out classifiers, so its optimum lies above the true one: by 2e-4 at 60 rows, hence 120 here.
    """
    rng = np.random.default_rng(seed)
    p, slope, gamma = rng.uniform(0.55, 0.92), rng.uniform(0.5, 0.85), rng.uniform(0.0, 0.2)
    guess = blurred_profile(p, slope, gamma, default_edges(24), rng.uniform(0.4, 1.0))
    length, angle = rng.uniform(0.3, 1.4), rng.uniform(0.3, 1.6)
    a, b = float(length * np.cos(angle)), float(length * np.sin(angle))
    primal = worst_lead(guess, a, b, parts=4, rows=120)
    (prices,) = best_profile_prices(guess, a, b)
    monkeypatch.setattr(cost, "_CHORD", 0.01)
    dual = mean_value(prices, guess) - float(prices.cost(a, b)[0])
    assert primal - 1e-3 <= dual <= primal + 1e-7


def test_displacements_solved_together_get_what_each_gets_alone() -> None:
    guess = blurred(0.8, 0.8, 0.05)
    a, b = np.array([0.7, 0.1, -0.5, 0.9, 0.0]), np.array([0.5, 0.9, 0.3, 0.0, 0.01])
    for prices, x, y in zip(best_profile_prices(guess, a, b), a.tolist(), b.tolist(), strict=True):
        (alone,) = best_profile_prices(guess, x, y)
        found = [mean_value(p, guess) - float(p.cost(x, y)[0]) for p in (prices, alone)]
        assert found[0] == pytest.approx(found[1], abs=1e-3)


def test_far_out_prices_stay_within_what_costs_are_known_for() -> None:
    edges = np.linspace(-3.0, 6.0, 30)
    guess = checked_guess(edges, np.full(31, 1e-9), np.full(31, 1 - 2e-9), 0.0)
    found = best_profile_prices(guess, [5.5, 3.0, -5.5], [0.5, 3.0, 0.0])
    PriceTable(found)  # an error if a price is too large
    assert max(float(prices.k_a.max()) for prices in found) > 1e5


def test_what_cannot_be_meant() -> None:
    with pytest.raises(SettingError):
        checked_guess(EDGES, np.full(14, 1.2), np.zeros(14), 0.1)
    with pytest.raises(SettingError):
        checked_guess(EDGES, np.full(13, 0.2), np.zeros(14), 0.1)
    with pytest.raises(SettingError):
        checked_guess(EDGES, np.full(14, 0.2), np.zeros(14), -0.1)
    with pytest.raises(SettingError):
        best_profile_prices(blurred(0.8, 0.8, 0.1), 0.5, -0.1)
