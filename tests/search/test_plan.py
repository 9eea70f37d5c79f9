"""Plans say where and how, never how far."""

import dataclasses
import math

import pytest
import torch

from doublebubble.bounds import RivalBound
from doublebubble.search.plan import BallPlan, Finding, MethodPlan, Proposal, Proposals, best_of, plan_at_input
from tests.methods.made import proposal


@pytest.mark.parametrize("kind", [BallPlan, MethodPlan, Proposals])
def test_a_plan_has_no_place_for_a_radius(kind: type) -> None:
    assert not [
        f.name
        for f in dataclasses.fields(kind)
        if "radius" in f.name or "radii" in f.name or f.type in (float, "float")
    ]


def test_the_radius_of_a_finding_is_the_least_of_its_bounds() -> None:
    bounds = tuple(RivalBound("counts", (k,), (0.1,), radius, {}) for k, radius in enumerate((0.5, -0.2, 0.7)))
    assert Finding(bounds).radius == -0.2
    assert Finding(()).radius == -math.inf


def test_the_best_proposal_is_the_first_among_equals() -> None:
    found = proposal("boundary")
    same, better = Proposal(found.plan, found.gain), Proposal(found.plan, found.gain + 1)
    assert best_of([found, same]) is found
    assert best_of([found, better]) is better


def test_a_plan_at_the_input_has_one_ball_there() -> None:
    statistic = proposal("cohen").plan.balls[0].statistic
    plan = plan_at_input("cohen", torch.zeros(2), 10, statistic, "because")
    assert [(ball.part, ball.at_input, ball.n) for ball in plan.balls] == [("input", True, 10)]
    assert not plan.boxed
