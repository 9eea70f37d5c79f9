"""One ball and the box: the search finds what the box gives, which is known in closed form."""

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble.audit.cases import corridor_case
from doublebubble.audit.oracles import HalfSpace
from doublebubble.geometry import certified_radius, published_boundary_radius
from doublebubble.method import PublishedBall, PublishedBalls
from doublebubble.types import GradientKind
from tests.methods.faces import SIGMA, TRUTH, R, S, W, at_faces, certify, smoothed
from tests.methods.made import method


def test_the_truth_is_the_closed_form() -> None:
    oracle = HalfSpace(W, R - float(W @ at_faces().double().numpy()))
    assert oracle.robust_distance(at_faces(), SIGMA, 0.0, 1.0) == pytest.approx(TRUTH, rel=1e-6)
    assert oracle.robust_distance(at_faces(), SIGMA) == pytest.approx(R, rel=1e-6)


def test_a_ball_at_the_best_point_approaches_the_truth() -> None:
    """x2 = x1 + t* e/|e| with t* = r s / (1 - s^2), certified by exact statistics and (D1)."""
    e = np.where(at_faces().numpy() == 0, W, 0.0)
    x2 = at_faces() + torch.from_numpy(R * S / (1 - S * S) * e / np.linalg.norm(e)).float()
    bounds = []
    for n in (10_000, 100_000, 1_000_000):
        counts = smoothed().counts(x2, n, seed=0, index=0)
        lower = db.bounds.clopper_pearson(int(counts[1]), n, 0.001, "lower")
        bounds.append(certified_radius(at_faces(), [x2], [db.geometry.cohen_radius(lower, None, SIGMA)]).radius)
    assert R < bounds[0] < bounds[1] < bounds[2] <= TRUTH * (1 + 1e-6)
    assert bounds[2] >= 0.985 * TRUTH


@pytest.mark.parametrize("gradient", ["full", "approximate"])
def test_the_search_finds_the_true_gain_of_the_box(gradient: GradientKind) -> None:
    shortfall = []
    for n in (10_000, 400_000):
        certs = [certify(n, ("cohen", "boundary"), index, gradient) for index in range(4)]
        gains = [cert.radii["boundary"] / cert.radii["cohen"] for cert in certs]
        assert max(cert.radii["boundary"] for cert in certs) <= TRUTH * (1 + 1e-6)
        assert np.mean(gains) > 1.15
        shortfall.append(1 - np.mean([cert.radii["boundary"] for cert in certs]) / TRUTH)
    assert shortfall[1] < shortfall[0]
    assert shortfall[1] < 0.05
    assert certs[0].method == "boundary"
    assert certs[0].radius == certs[0].radii["boundary"]


def test_the_gradient_of_a_further_ball_pays() -> None:
    """The same centres, draws and alpha, with first-order statistics and with votes alone."""
    case = corridor_case()
    for index in range(3):
        config = db.CertifyConfig(n=20_000, methods=("boundary",))
        cert = db.Certifier(case.smoothed, config).certify(case.x, index=index)
        (ball,) = cert.balls
        assert ball.statistic == "first_order"
        lower = db.bounds.clopper_pearson(int(ball.counts[1]), ball.n, cert.alpha, "lower")
        plain = db.geometry.cohen_radius(lower, None, cert.sigma)
        assert ball.centre is not None
        votes_alone = db.geometry.certified_radius(case.x, [ball.centre], [plain], 0.0, 1.0).radius
        assert votes_alone * 1.02 < cert.radius <= case.truth[1]


def test_the_published_radius_is_the_printed_formula_in_the_unit_box() -> None:
    x1, x2 = np.array([0.49, 0.51]), np.array([0.49, 0.41])
    ball = PublishedBall(x2, 0.52, 0.1)
    printed = published_boundary_radius(x1, x2, 0.52)
    assert method("boundary").published(PublishedBalls(x1, (0.0, 1.0), 0.3, ball)) == pytest.approx(printed)
    twice = PublishedBall(2 * x2 - 1, 1.04, 0.2)
    scaled = PublishedBalls(2 * x1 - 1, (-1.0, 1.0), 0.3, twice)
    assert method("boundary").published(scaled) == pytest.approx(2 * printed)
    assert method("boundary").published(PublishedBalls(x1, None, 0.3, ball)) == pytest.approx(0.42)
