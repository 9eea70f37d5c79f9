"""Where a certificate says not to look."""

from dataclasses import replace

import numpy as np
import pytest

from doublebubble.audit.attack.guide import Guide
from doublebubble.certificate import Ball
from tests.runs.samples import certificate


def test_only_balls_around_other_points_guide() -> None:
    made, x = certificate(3, centres=2), np.zeros((1, 2, 2))
    guide = Guide.of(made, x, (0.0, 1.0))
    assert [centre.tolist() for centre in guide.centres] == [
        ball.centre.tolist() for ball in made.balls if ball.centre is not None
    ]
    assert guide.radii == (0.7, 0.7)
    assert Guide.of(certificate(3), x, None).weakest() is None


def test_the_weakest_place_is_the_nearest_point_that_no_ball_covers() -> None:
    """Two discs in the plane, above the input to its left and right, against a fine grid of the plane."""
    counts, centres = np.array([1, 9], np.int64), np.array([[-0.7, 0.2], [0.8, 0.3]])
    balls = tuple(Ball(centre, 1.0, 10, 0.1, counts, "binary") for centre in centres)
    made = replace(certificate(0), balls=balls, shape=(2,))
    guide = Guide.of(made, np.zeros(2), None)
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 801)] * 2), axis=-1).reshape(-1, 2)
    free = grid[(np.linalg.norm(grid[:, None] - centres, axis=2) > 1).all(axis=1)]
    nearest = free[np.argmin(np.linalg.norm(free, axis=1))]
    way = guide.weakest()
    assert way is not None
    assert way == pytest.approx(nearest, abs=0.01)
    inside, beside = np.array([0.5, 0.1]), np.array([0.0, -0.9])
    moved = guide.outside(inside)
    assert all(np.linalg.norm(moved - ball.centre) >= 1 - 1e-12 for ball in balls[1:] if ball.centre is not None)
    assert guide.outside(beside) is beside
    far = replace(made, balls=tuple(replace(ball, radius=0.1) for ball in balls))
    assert Guide.of(far, np.zeros(2), None).weakest() is None, "no ball covers the input"
