"""Multipliers near the maximum of (D1): against a general optimiser, and where the maximum is known."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize

from doublebubble.geometry.arguments import Balls
from doublebubble.geometry.dual import Dual
from doublebubble.geometry.solver import DualProblem, best_multipliers
from doublebubble.types import Floats


def problem(seed: int, boxed: bool, m: int = 3, d: int = 6) -> Dual:
    """Balls that all cover x1, in the unit box or in R^d."""
    rng = np.random.default_rng(seed)
    x1, offsets = rng.uniform(0.2, 0.8, d), rng.normal(size=(m, d))
    centres = x1 + 0.3 * offsets / np.linalg.norm(offsets, axis=1, keepdims=True)
    low, high = (np.zeros(d), np.ones(d)) if boxed else (None, None)
    return Dual.of(Balls(x1, centres, rng.uniform(0.35, 0.5, m), low, high))


def value(dual: Dual, lam: Floats) -> float:
    """(D1) as it is written, without rounding taken care of; needs a sum of multipliers below 1."""
    q, w = 1.0 - lam.sum(), lam @ dual.c
    y = np.clip(-w / q, dual.box.below, dual.box.above)
    return float(lam @ dual.excess + q * (y @ y) + 2 * w @ y)


@pytest.mark.parametrize("boxed", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_no_general_optimiser_does_better(seed: int, boxed: bool) -> None:
    dual = problem(seed, boxed)
    lam, _ = best_multipliers(dual)
    assert (lam >= 0).all()
    found = dual.value(lam)

    def loss(v: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        return -value(dual, v)

    below_one = LinearConstraint(np.ones((1, 3)), ub=1 - 1e-5)
    bounds = Bounds(np.zeros(3), np.full(3, np.inf))
    for start in np.random.default_rng(seed).dirichlet(np.ones(4), 6)[:, :3]:
        other = minimize(loss, 0.9 * start, bounds=bounds, constraints=below_one, method="SLSQP")
        feasible = np.maximum(other.x, 0)
        if feasible.sum() < 1:
            assert found >= value(dual, feasible) - 1e-6


def test_one_ball_in_free_space_gives_its_radius_less_its_distance() -> None:
    dual = Dual.of(Balls(np.zeros(3), np.array([[0.3, 0.0, 0.0]]), np.array([0.5]), None, None))
    lam, y = best_multipliers(dual)
    assert y is None
    assert dual.value(lam) == pytest.approx((0.5 - 0.3) ** 2, rel=1e-9)


def test_slopes_and_curvature_are_the_derivatives() -> None:
    dual = problem(3, boxed=True)
    made = DualProblem(dual.c, dual.excess, -np.ones(3), dual.box, 0.0)
    lam, step = np.array([0.2, 0.1, 0.3]), 1e-6

    def slopes_at(mu: Floats) -> Floats:
        made.value(mu, 1.0 - mu.sum())
        return made.slopes()

    here, bent = slopes_at(lam), made.curvature(1.0 - lam.sum())
    for k, along in enumerate(np.eye(3)):
        ahead, behind = lam + step * along, lam - step * along
        quotient = (made.value(ahead, 1.0 - ahead.sum()) - made.value(behind, 1.0 - behind.sum())) / (2 * step)
        assert here[k] == pytest.approx(quotient, abs=1e-7)
        change = (slopes_at(ahead) - slopes_at(behind)) / (2 * step)
        np.testing.assert_allclose(-bent[k], change, atol=1e-5)
