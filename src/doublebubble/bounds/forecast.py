"""Whether a bound on gradients will pay: radii to expect at the certify size, from estimates of the select draws.

Forecasts only: nothing here is a guarantee, and nothing here may be fed with the draws that certify.
"""

from collections.abc import Sequence
from math import inf, sqrt
from typing import NamedTuple

from doublebubble.bounds.binomial import clopper_pearson
from doublebubble.bounds.gradient import (
    GradientTest,
    HalfMoments,
    Votes,
    design_test,
    expected_square,
    largest_lead_gradient,
    lead_gradient_bound,
)
from doublebubble.errors import SettingError
from doublebubble.geometry.first_order import Rival, first_order_radius

USUAL_GRADIENT = 0.8
"""Gradient of the lead over its largest possible value that networks usually show."""

_SHARES = (0.1, 0.25, 0.5)


class RivalGuess(NamedTuple):
    """Estimates for one rival: its probability, and sigma |grad (p_A - p_B)|."""

    p: float
    gamma: float


class Forecast(NamedTuple):
    """Expected radii with and without gradients, and the way of spending alpha that gives the larger one."""

    plain: float
    first_order: float
    gradient_alpha: float
    """Part of alpha for each gradient bound; 0 if gradients do not pay."""
    tests: tuple[GradientTest, ...]
    """One test for each of the first rivals that get a gradient bound."""


def predict_first_order(
    p_a: float, rivals: Sequence[RivalGuess], n: int, dim: int, alpha: float, sigma: float
) -> Forecast:
    """Return the radii to expect from n certify draws in R^dim, plain and with gradient bounds.

    Counts share what gradients leave of alpha equally: one event for A and one for each rival. Rivals should come in
    falling order of probability; gradient bounds are tried for the first, the first two and the first three.
    """
    if not 0 < p_a < 1 or not rivals or n < 4 or not 0 < alpha < 1:
        raise SettingError(f"forecast: expected p_a, alpha in (0, 1), rivals and n >= 4, got {p_a}, {alpha}, {n}")
    plain, _ = _radius(p_a, rivals, n, dim, alpha, 0.0, 0, sigma)
    best = Forecast(plain, plain, 0.0, ())
    for used in range(1, min(3, len(rivals)) + 1):
        for share in _SHARES:
            gradient_alpha = share * alpha / used
            radius, tests = _radius(p_a, rivals, n, dim, alpha, gradient_alpha, used, sigma)
            if radius > best.first_order:
                best = Forecast(plain, radius, gradient_alpha, tests)
    return best


def guess_lead_gradient(votes: Votes, dot: float, test: GradientTest, dim: int) -> float:
    """Return an estimate of the gradient norm from `dot` = g1 . g2 of a few draws, drawn towards the usual value.

    The fewer the draws, the less `dot` counts against the usual share of the largest possible gradient.
    """
    top = largest_lead_gradient(votes)
    usual = (USUAL_GRADIENT * top) ** 2
    noise = expected_square(test.offset, test.n1, dim, votes, 0.0)
    variance = noise * noise * test.n1 / (dim * test.n2) + 4 * usual * noise / dim
    prior = (0.4 * usual) ** 2
    square = (usual * variance + dot * prior) / (variance + prior)
    return min(max(sqrt(max(square, 0.0)), 0.05 * top), top)


def _radius(
    p_a: float,
    rivals: Sequence[RivalGuess],
    n: int,
    dim: int,
    alpha: float,
    gradient_alpha: float,
    used: int,
    sigma: float,
) -> tuple[float, tuple[GradientTest, ...]]:
    each = (alpha - used * gradient_alpha) / (1 + len(rivals))
    low_a = clopper_pearson(round(n * p_a), n, each, "lower")
    bounds, tests = [], []
    for position, (p, gamma) in enumerate(rivals):
        q = min(clopper_pearson(round(n * p), n, each, "upper"), 1 - low_a)
        limit = inf
        if position < used:
            guess = Votes(1 - p_a, min(p, 1 - p_a))
            test = design_test(n, dim, gradient_alpha, guess, gamma)
            norm = sqrt(expected_square(test.offset, test.n1, dim, guess, gamma))
            moments = HalfMoments(gamma * gamma, norm, norm)
            limit = lead_gradient_bound(moments, test, gradient_alpha, Votes(1 - low_a, q))
            tests.append(test)
        bounds.append(Rival(q, limit))
    return first_order_radius(low_a, bounds, sigma), tuple(tests)
