"""Two further balls: they share draws and alpha, and all they say can be computed again."""

import numpy as np
import pytest

import doublebubble as db
from doublebubble.geometry import double_bubble_radius
from doublebubble.method import PublishedBall, PublishedBalls
from tests.methods.faces import at_faces, certify
from tests.methods.made import method
from tests.spent import shares_of_alpha


def test_the_balls_of_a_plan_share_the_draws_and_alpha() -> None:
    """A pair of balls is compared with Cohen at equal draws, and all its statements hold together at alpha."""
    for index in range(20):
        cert = certify(10_000, ("double",), index)
        assert sum(ball.n for ball in cert.balls) <= 10_000
        assert sum(ball.alpha for ball in cert.balls) <= cert.alpha
        for ball in cert.balls:
            assert max(shares_of_alpha(ball)) <= ball.alpha
        if len(cert.balls) == 2:
            centres = np.stack([ball.centre for ball in cert.balls if ball.centre is not None])
            radii = [ball.radius for ball in cert.balls]
            rebuilt = db.geometry.bound_at(np.array(cert.multipliers), at_faces(), centres, radii)
            assert rebuilt.radius == cert.radius
            return
    pytest.fail("no pair of balls was proposed in twenty tries: the test has nothing to look at")


def test_the_published_radius_is_the_larger_of_single_and_the_double_bubble() -> None:
    x1 = at_faces().double().numpy()
    two, three = PublishedBall(x1, 0.9, 0.2), PublishedBall(x1, 0.8, 0.1)
    found = method("double").published(PublishedBalls(x1, None, 0.4, two, three))
    assert found == max(0.7, double_bubble_radius(0.9, 0.2, 0.8, 0.1))
    assert method("double").published(PublishedBalls(x1, None, 0.4, two)) == pytest.approx(0.7)
    assert method("double").published(PublishedBalls(x1, None, 0.4)) == 0.4
