"""What plans claim once their draws are in: plans and votes by hand, and what may not enter a certificate."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble.audit.cases import boxed_cases, free_cases
from doublebubble.bounds import VotesRule, clopper_pearson
from doublebubble.geometry import certified_radius, cohen_radius
from doublebubble.methods.cohen import VotesStatistic
from doublebubble.protocols import sound
from doublebubble.search.plan import BallPlan, MethodPlan
from doublebubble.smoothing import Input
from doublebubble.tally import Tally

ALPHA = 0.001
SLAB = next(case for case in free_cases() if case.name == "slab")


def tally(*votes: int) -> Tally:
    return Tally(np.array(votes), sum(votes), (sum(votes), 0), None, None)


def test_a_ball_without_a_radius_covers_nothing() -> None:
    """Of two balls one is not confirmed by its votes: the bound is that of the other alone, at its part of alpha."""
    case = next(case for case in boxed_cases() if case.name == "half-space at a corner")
    centres = [case.x + 0.05, case.x + 0.1]
    statistic = VotesStatistic(VotesRule(1, binary=True))
    balls = tuple(BallPlan(f"double/{k}", centre, 2000, statistic) for k, centre in enumerate(centres))
    config = db.CertifyConfig(n=4000, alpha=ALPHA)
    made = sound.claim(
        MethodPlan("double", balls, True, "by hand"),
        Input(0, case.x, None),
        {"double/0": tally(200, 1800), "double/1": tally(1000, 1000)},
        case.smoothed,
        config,
    )
    radius = cohen_radius(clopper_pearson(1800, 2000, ALPHA / 2, "lower"), None, case.sigma)
    assert [ball.radius for ball in made.balls] == [radius, 0.0]
    alone = certified_radius(case.x, centres[:1], [radius], 0.0, 1.0)
    assert made.radius == pytest.approx(alone.radius, rel=1e-12)
    assert alone.radius > 0
    assert made.multipliers[1] == 0.0


@pytest.mark.parametrize("binary", [True, False])
def test_a_ball_is_for_the_class_of_its_plan_whatever_the_votes(binary: bool) -> None:
    plan = BallPlan("input", SLAB.x, 2000, VotesStatistic(VotesRule(0, binary)), at_input=True)
    ball = sound.certified_ball(plan, tally(100, 1800, 100), ALPHA, 0.5)
    assert ball.evidence["top"] == 0
    assert ball.radius == 0.0
    assert all(rule["radius"] == 0.0 for rule in ball.evidence["rules"])


def test_the_label_has_no_part_in_a_certificate() -> None:
    config = db.CertifyConfig(n=1000, n0=100, methods=("cohen", "first_order"))
    certifier = db.Certifier(SLAB.smoothed, config)
    plain = certifier.certify(SLAB.x, index=3)
    assert plain.radius > 0
    for label in (0, 1):
        made = certifier.certify(SLAB.x, index=3, label=label)
        assert {**made.to_dict(), "label": None, "seconds": None} == {**plain.to_dict(), "seconds": None}
        assert made.correct == (label == plain.prediction)


def test_each_method_says_what_it_certifies_alone() -> None:
    """Asked for together, each method has the radius that it has by itself, on the same select and certify draws."""
    names = ("cohen", "double", "dipole", "first_order")
    together = db.Certifier(SLAB.smoothed, db.CertifyConfig(n=4000, n0=200, methods=names)).certify(SLAB.x, index=15)
    assert len(set(together.radii.values())) == len(names)
    for name in names:
        config = db.CertifyConfig(n=4000, n0=200, methods=(name,))
        alone = db.Certifier(SLAB.smoothed, config).certify(SLAB.x, index=15)
        assert together.radii[name] == alone.radius


@pytest.mark.parametrize("chosen", ["cohen", "double", "dipole", "first_order"])
def test_the_radius_is_that_of_the_plan_chosen_before_the_draws(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    """Whichever plan that was, and whichever radius turns out to be the largest."""
    propose = sound.propose
    monkeypatch.setattr(sound, "propose", lambda trials: replace(propose(trials), chosen=chosen))
    config = db.CertifyConfig(n=4000, n0=200, methods=("cohen", "double", "dipole", "first_order"))
    made = db.Certifier(SLAB.smoothed, config).certify(SLAB.x, index=15)
    assert len(set(made.radii.values())) == 4
    assert made.method == chosen
    assert made.radius == made.radii[chosen] > 0


def test_balls_for_two_classes_are_refused() -> None:
    plans = [VotesStatistic(VotesRule(top, binary=True)) for top in (0, 1)]
    balls = tuple(BallPlan(f"double/{k}", SLAB.x, 2000, statistic) for k, statistic in enumerate(plans))
    seen = {"double/0": tally(1800, 200), "double/1": tally(200, 1800)}
    config = db.CertifyConfig(n=4000, alpha=ALPHA)
    with pytest.raises(AssertionError, match="one class"):
        sound.claim(MethodPlan("double", balls, True, "by hand"), Input(0, SLAB.x, None), seen, SLAB.smoothed, config)


def test_a_ball_of_no_finite_radius_claims_nothing() -> None:
    plan = BallPlan("input", torch.zeros(2), 10, VotesStatistic(VotesRule(0, binary=True)), at_input=True)
    assert sound.certified_ball(plan, tally(0, 10), ALPHA, 0.5).radius == 0.0


@pytest.mark.parametrize("radius", [math.inf, math.nan, -math.inf])
def test_no_radius_that_is_not_finite_is_claimed(radius: float) -> None:
    found = SimpleNamespace(radius=radius, bounds=[], evidence={}, vectors={})
    statistic: Any = SimpleNamespace(top=0, name="votes", finding=lambda tally, alpha, sigma: found)
    plan = BallPlan("input", torch.zeros(2), 10, statistic, at_input=True)
    ball = sound.certified_ball(plan, Tally(np.array([10, 0]), 10, (10, 0), None, None), 0.001, 0.5)
    assert ball.radius == 0.0
