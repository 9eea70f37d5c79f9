"""The search before a sound certificate: it finds what the box gives, stays within its means, and claims nothing."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from torch import Tensor

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds import choose_plan
from doublebubble.geometry import certified_radius
from doublebubble.search.plan import BallPlan, Plan, Proposal
from doublebubble.search.predict import outlook
from doublebubble.search.propose import propose
from doublebubble.tally import Request, Tally
from doublebubble.types import GradientKind, Method
from tests.spent import shares_of_alpha

D, BLOCKED, R, SIGMA = 16, 8, 0.4, 0.5
W = np.ones(D) / math.sqrt(D)
S = math.sqrt(BLOCKED / D)  # the slope that the box blocks
TRUTH = R / math.sqrt(1 - S * S)


def at_faces() -> Tensor:
    """Half of the coordinates at the lower face, where the gradient points inwards."""
    x = torch.full((D,), 0.5)
    x[:BLOCKED] = 0.0
    return x


def smoothed(domain: tuple[float, float] | None = (0.0, 1.0)) -> db.SmoothedClassifier:
    offset = R - float(W @ at_faces().double().numpy())
    return db.SmoothedClassifier(HalfSpace(W, offset), SIGMA, 2, domain, batch_size=1000)


def certify(n: int, methods: tuple[Method, ...], index: int = 0, gradient: GradientKind = "full") -> db.Certificate:
    config = db.CertifyConfig(n=n, methods=methods, gradient=gradient)
    return db.Certifier(smoothed(), config).certify(at_faces(), index=index)


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


def test_free_space_and_one_ball_gain_nothing() -> None:
    """Fact L: one ball in free space cannot gain, and the search says so instead of trying."""
    config = db.CertifyConfig(n=10_000, methods=("cohen", "single", "boundary"))
    cert = db.Certifier(smoothed(domain=None), config).certify(at_faces(), index=1)
    assert cert.method == "cohen"
    assert cert.radii["single"] == cert.radii["boundary"] == cert.radii["cohen"]


@pytest.mark.parametrize("gradient", ["full", "approximate"])
def test_all_stages_before_certify_cost_less_than_certify(gradient: GradientKind) -> None:
    every: tuple[Method, ...] = ("cohen", "single", "boundary", "double", "first_order", "dipole")
    for index in range(5):
        spent = certify(10_000, every, index, gradient).forward_equivalents
        assert spent["select"] + spent["search"] <= 10_000 <= spent["certify"]


def test_draws_are_counted_as_they_are_made() -> None:
    """The account in the certificate against a count at the model's own door."""
    seen = 0
    classifier = smoothed()
    before = classifier._forward.logits

    def counting(batch: Tensor, rows: int, indices: list[int]) -> Tensor:
        nonlocal seen
        seen += rows
        return before(batch, rows, indices)

    classifier._forward.logits = counting  # type: ignore[method-assign, assignment]
    config = db.CertifyConfig(n=5000, methods=("cohen", "boundary", "double"), gradient="approximate")
    cert = db.Certifier(classifier, config).certify(at_faces(), index=0)
    probing = 3 * classifier.batch_size  # whether rows may share a batch is tried out once
    assert seen - probing <= sum(cert.draws.values()) <= seen
    assert cert.draws == cert.forward_equivalents


@pytest.mark.parametrize("kind", [BallPlan, Plan, Proposal])
def test_a_plan_has_no_place_for_a_radius(kind: type) -> None:
    assert not [
        f.name
        for f in dataclasses.fields(kind)
        if "radius" in f.name or "radii" in f.name or f.type in (float, "float")
    ]


def test_the_search_does_not_see_the_certify_draws() -> None:
    """Another certify stream leaves the plan as it was; another search stream may change it."""
    asked: list[str] = []
    classifier = smoothed()
    original = classifier.tallies

    def recording(requests: list[Request]) -> list[Tally]:
        asked.extend(request.stream.stage for request in requests)
        return original(requests)

    classifier.tallies = recording  # type: ignore[method-assign, assignment]
    selected = classifier.counts(at_faces(), 500, seed=0, index=0, stage="select")
    asked.clear()
    config = db.CertifyConfig(n=10_000, methods=("boundary", "double", "first_order", "dipole"))
    propose(classifier, config, at_faces(), 0, choose_plan(selected, 10_000, 0.001), selected)
    assert set(asked) == {"search"}


def test_outlook_gradient_is_the_derivative_of_the_radius_it_predicts() -> None:
    counts = np.array([700, 200, 60, 40])
    plan = choose_plan(counts, 100_000, 0.001)
    assert not plan.binary
    base = outlook(counts, plan, 10**9, 0.001, 0.5)
    for k, step in ((0, 20), (1, 20)):
        moved = counts.copy()
        moved[k] += step
        moved[3] -= step
        change = outlook(moved, plan, 10**9, 0.001, 0.5).radius - base.radius
        expected = (base.weights[k] - base.weights[3]) * step / 1001
        assert change == pytest.approx(expected, rel=0.05)


def test_outlook_promises_nothing_for_a_class_without_votes() -> None:
    counts = np.array([0, 10])
    plan = choose_plan(np.array([10, 0]), 100, 0.001)
    assert outlook(counts, plan, 100, 0.001, 0.5).radius == -math.inf


def test_the_balls_of_a_plan_share_the_draws_and_alpha() -> None:
    """A pair of balls is compared with Cohen at equal draws, and all its statements hold together at alpha."""
    for index in range(20):
        cert = certify(10_000, ("double",), index)
        assert sum(ball.n for ball in cert.balls) <= 10_000
        assert sum(ball.alpha for ball in cert.balls) <= cert.alpha
        for ball in cert.balls:
            assert sum(shares_of_alpha(ball)) <= ball.alpha
        if len(cert.balls) == 2:
            centres = np.stack([ball.centre for ball in cert.balls if ball.centre is not None])
            radii = [ball.radius for ball in cert.balls]
            rebuilt = db.geometry.bound_at(np.array(cert.multipliers), at_faces(), centres, radii)
            assert rebuilt.radius == cert.radius
            return
    pytest.fail("no pair of balls was proposed in twenty tries: the test has nothing to look at")
