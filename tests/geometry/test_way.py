"""The point of a way against its definition, and against many points that it must beat."""

import numpy as np
import pytest

from doublebubble.geometry.way import way_point


@pytest.mark.parametrize("domain", [None, (0.0, 1.0), (-2.0, 3.0)])
def test_it_lies_at_the_distance_and_no_point_within_it_goes_farther_that_way(
    domain: tuple[float, float] | None,
) -> None:
    rng = np.random.default_rng(0)
    low, high = (-5.0, 5.0) if domain is None else domain
    for _ in range(200):
        x = np.round(rng.uniform(low, high, (2, 3)) * 2) / 2 if rng.random() < 0.5 else rng.uniform(low, high, (2, 3))
        x = np.clip(x, low, high)
        direction = rng.standard_normal((2, 3)) * (rng.random((2, 3)) < 0.8)
        distance = float(rng.uniform(0.05, 2.0))
        y = way_point(x, direction, distance, domain)
        reached = float(np.linalg.norm(y - x))
        if domain is None:
            assert reached == pytest.approx(distance * bool(direction.any()), rel=1e-12)
            others = x + rng.standard_normal((500, 2, 3))
        else:
            assert y.min() >= low
            assert y.max() <= high
            room = np.where(direction > 0, high - x, np.where(direction < 0, x - low, 0.0))
            assert reached == pytest.approx(min(distance, float(np.linalg.norm(room))), rel=1e-9, abs=1e-12)
            others = rng.uniform(low, high, (500, 2, 3))
        lengths = np.linalg.norm((others - x).reshape(500, -1), axis=1)
        others = x + (others - x) * np.minimum(1.0, distance / lengths)[:, None, None]
        best = float(((others - x) * direction).sum(axis=(1, 2)).max())
        assert ((y - x) * direction).sum() >= best - 1e-9


def test_a_direction_of_zero_and_one_that_is_blocked_lead_nowhere() -> None:
    x = np.array([0.0, 1.0])
    for domain in (None, (0.0, 1.0)):
        assert (way_point(x, np.zeros(2), 1.0, domain) == x).all()
    assert (way_point(x, np.array([-1.0, 2.0]), 1.0, (0.0, 1.0)) == x).all()
