"""Forecasts against the radii that simulated certify draws then give."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm

from doublebubble.bounds import (
    GradientTest,
    HalfMoments,
    RivalGuess,
    Votes,
    clopper_pearson,
    guess_lead_gradient,
    lead_gradient_bound,
    predict_first_order,
)
from doublebubble.bounds.gradient import largest_lead_gradient
from doublebubble.errors import SettingError
from doublebubble.geometry import Rival, cohen_radius, first_order_radius


def test_forecast_of_a_slab_is_what_certification_gives() -> None:
    """Slab of mass 0.9 in R^784, n = 1e5, alpha = 0.05: predicted, simulated, and within 6 % of the closed form."""
    n, dim, alpha, p = 100_000, 784, 0.05, 0.9
    forecast = predict_first_order(p, [RivalGuess(1 - p, 0.0)], n, dim, alpha, 1.0)
    (test,) = forecast.tests
    rng = np.random.default_rng(5)
    radii = []
    for _ in range(10):
        z = rng.standard_normal(n)
        w = np.where(np.abs(z) > norm.ppf((1 + p) / 2), 2.0, 0.0) - test.offset
        halves = [(w[: test.n1], z[: test.n1]), (w[test.n1 :], z[test.n1 :])]
        g1, g2 = (np.r_[v @ x, sqrt(v @ v) * rng.standard_normal(dim - 1)] / len(v) for v, x in halves)
        low = clopper_pearson(int((w < 1 - test.offset).sum()), n, (alpha - forecast.gradient_alpha) / 2)
        seen = HalfMoments(float(g1 @ g2), float(np.linalg.norm(g1)), float(np.linalg.norm(g2)))
        gamma = lead_gradient_bound(seen, test, forecast.gradient_alpha, Votes(1 - low, 1 - low))
        radii.append(first_order_radius(low, [Rival(1 - low, gamma)], 1.0))
    exact = first_order_radius(p, [Rival(1 - p, 0.0)], 1.0)
    assert np.mean(radii) == pytest.approx(forecast.first_order, rel=0.01)
    assert 0.94 * exact < min(radii) <= max(radii) < exact


def test_no_gain_is_forecast_where_there_is_none() -> None:
    half_spaces = largest_lead_gradient(Votes(0.3, 0.3))
    forecast = predict_first_order(0.7, [RivalGuess(0.3, half_spaces)], 10_000, 3072, 0.001, 0.5)
    assert forecast.first_order == forecast.plain
    assert forecast.gradient_alpha == 0
    assert forecast.tests == ()
    low = clopper_pearson(7_000, 10_000, 0.0005)
    assert forecast.plain == pytest.approx(cohen_radius(low, 1 - low, 0.5), rel=1e-9)


def test_gradients_pay_for_a_usual_network() -> None:
    rivals = [RivalGuess(0.2, 0.8 * largest_lead_gradient(Votes(0.4, 0.2))), RivalGuess(0.19, 0.45)]
    small, large = (predict_first_order(0.6, rivals, n, 3072, 0.001, 0.5) for n in (10_000, 100_000))
    assert 1.03 < small.first_order / small.plain < large.first_order / large.plain
    assert len(large.tests) == 2  # the second rival is as near as the first: it needs a gradient too
    assert len(large.tests) * large.gradient_alpha < 0.001


def test_guess_follows_the_draws_once_there_are_enough() -> None:
    votes = Votes(0.4, 0.3)
    top = largest_lead_gradient(votes)
    many, few = GradientTest(50_000, 50_000, 1.0, 1.0), GradientTest(50, 50, 1.0, 1.0)
    assert guess_lead_gradient(votes, 0.25, many, 3072) == pytest.approx(0.5, rel=0.05)
    assert guess_lead_gradient(votes, 40.0, few, 3072) == pytest.approx(top, rel=0.3)
    assert guess_lead_gradient(votes, 0.0, few, 3072) == pytest.approx(0.8 * top, rel=0.05)
    assert guess_lead_gradient(votes, -1.0, many, 3072) > 0


def test_impossible_arguments_are_refused() -> None:
    for p_a, rivals, n, alpha in ((1.0, [RivalGuess(0.1, 0.1)], 100, 0.1), (0.6, [], 100, 0.1), (0.6, [], 2, 0.1)):
        with pytest.raises(SettingError, match="expected"):
            predict_first_order(p_a, rivals, n, 10, alpha, 1.0)
