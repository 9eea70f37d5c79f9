"""One ball in free space: Fact L says that it cannot gain, and the search says so instead of trying."""

import pytest

import doublebubble as db
from doublebubble.method import PublishedBall, PublishedBalls
from tests.methods.faces import at_faces, smoothed
from tests.methods.made import method


def test_free_space_and_one_ball_gain_nothing() -> None:
    config = db.CertifyConfig(n=10_000, methods=("cohen", "single", "boundary"))
    cert = db.Certifier(smoothed(domain=None), config).certify(at_faces(), index=1)
    assert cert.method == "cohen"
    assert cert.radii["single"] == cert.radii["boundary"] == cert.radii["cohen"]


def test_the_published_radius_is_the_larger_of_two() -> None:
    x1 = at_faces().double().numpy()
    for radius, expected in ((0.9, 0.7), (0.5, 0.4), (0.1, 0.4)):
        balls = PublishedBalls(x1, None, 0.4, PublishedBall(x1, radius, 0.2))
        assert method("single").published(balls) == pytest.approx(expected)
    assert method("single").published(PublishedBalls(x1, None, 0.4)) == 0.4
