"""What judges a search: statistics chosen for each ball by fresh search draws, within the ball's share of alpha."""

import numpy as np
import torch

import doublebubble as db
from doublebubble.audit.coverage import Case
from doublebubble.bounds import choose_plan
from doublebubble.config import CertifyConfig
from doublebubble.search.plan import Plan
from doublebubble.search.propose import propose
from doublebubble.search.scout import Scout
from doublebubble.search.sharper import further_design, lead_probe
from doublebubble.search.verdict import judge
from doublebubble.streams import Stream
from doublebubble.tally import Request
from doublebubble.types import Method
from tests.protocols.cases import corridor_case


def proposed(case: Case, method: Method, index: int, n: int = 20_000) -> Plan:
    smoothed = case.smoothed
    config = CertifyConfig(n=n, methods=(method,))
    selected = smoothed.counts(case.x, 500, seed=0, index=index, stage="select")
    classes = choose_plan(selected, n, config.alpha)
    return propose(smoothed, config, case.x, index, classes, selected).plans[method]


def test_a_further_ball_uses_its_gradient_where_that_pays() -> None:
    plans = [proposed(corridor_case(), "boundary", index) for index in range(5)]
    moved = [plan.balls[0] for plan in plans if plan.balls[0].part != 0]
    assert len(moved) >= 4
    assert all(ball.gradient is not None for ball in moved)


def test_the_gradient_of_a_further_ball_pays() -> None:
    """The same centres, draws and alpha, with first-order statistics and with votes alone."""
    case = corridor_case()
    for index in range(3):
        config = CertifyConfig(n=20_000, methods=("boundary",))
        cert = db.Certifier(case.smoothed, config).certify(case.x, index=index)
        (ball,) = cert.balls
        assert ball.statistic == "first_order"
        lower = db.bounds.clopper_pearson(int(ball.counts[1]), ball.n, cert.alpha, "lower")
        plain = db.geometry.cohen_radius(lower, None, cert.sigma)
        assert ball.centre is not None
        votes_alone = db.geometry.certified_radius(case.x, [ball.centre], [plain], 0.0, 1.0).radius
        assert votes_alone * 1.02 < cert.radius <= case.truth[1]


def test_judging_gradients_costs_no_draws() -> None:
    case = corridor_case()
    config = CertifyConfig(n=5000)
    selected = case.smoothed.counts(case.x, 500, seed=0, index=0, stage="select")
    scout = Scout(case.smoothed, config, 0, choose_plan(selected, config.n, config.alpha))
    centres = (case.x + torch.eye(len(case.x))[0] * 0.1, case.x + torch.eye(len(case.x))[0] * 0.2)
    verdict = judge(scout, case.x, centres, True, selected)
    assert len(verdict.gradients) == 2
    assert scout.cost.draws == scout.cost.forward_equivalents == 3 * scout.per_verdict


def test_an_eta_is_that_of_the_faces_of_its_own_centre() -> None:
    """On the face what the box blocks is taken off; a coordinate that has left its face must not be relied on."""
    case, n = corridor_case(), 50_000
    selected = case.smoothed.counts(case.x, 500, seed=0, index=0, stage="select")
    scout = Scout(case.smoothed, CertifyConfig(n=n), 0, choose_plan(selected, n, 0.001))
    probe = lead_probe(scout, len(case.x), selected)
    assert probe is not None
    on, off = case.x, case.x + 0.01 * torch.eye(6)[0]
    designs = [
        further_design(scout, centre, tally, probe, 1)[0]
        for centre, tally in zip((on, off), scout.votes([on, off], 0, probe.weights, probe.split), strict=True)
    ]
    assert designs[0] is not None
    assert designs[0].eta is not None
    assert designs[0].eta[0] > 0
    assert (designs[0].eta[1:] == 0).all()
    assert designs[1] is not None
    assert designs[1].eta is None


def test_no_probe_where_gradients_cannot_pay() -> None:
    case = corridor_case()
    selected = np.array([0, 500])
    classes = choose_plan(selected, 6, 0.001)
    assert lead_probe(Scout(case.smoothed, CertifyConfig(n=6), 0, classes), 6, selected, balls=2) is None
    assert lead_probe(Scout(case.smoothed, CertifyConfig(n=5000), 0, classes), 6, np.array([500, 0])) is None


def test_moments_do_not_change_the_votes_that_judge() -> None:
    case = corridor_case()
    stream = Stream(0, 0, "search", 0)
    plain, summed = case.smoothed.tallies(
        [
            Request(case.x, 300, stream, keep_votes=True),
            Request(case.x, 300, stream, ((0.0, 1.0),), 150, keep_votes=True),
        ]
    )
    assert (plain.counts == summed.counts).all()
