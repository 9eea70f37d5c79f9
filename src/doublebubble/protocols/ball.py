"""From the fresh draws at one centre to one ball: g is the plan's class inside it, at the ball's part of alpha.

Three statistics: votes alone (S3), (S3b); votes and the gradient of the lead (F5); pairs of opposite draws (F6).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from doublebubble.bounds import (
    AlphaBudget,
    HalfMoments,
    Votes,
    class_bounds,
    clopper_pearson,
    lead_gradient_bound,
    pair_mass,
)
from doublebubble.certificate import Ball, Statistic
from doublebubble.geometry import Rival, cohen_radius, dipole_radius, first_order_radius
from doublebubble.search.plan import BallPlan, GradientPlan
from doublebubble.tally import Tally
from doublebubble.types import Floats

Evidence = Mapping[str, float | int | list[int] | list[float]]


@dataclass(frozen=True)
class _Finding:
    statistic: Statistic
    radius: float
    bounds: Mapping[str, float]
    evidence: Evidence


def certified_ball(plan: BallPlan, tally: Tally, alpha: float, sigma: float) -> Ball:
    """With probability at least 1 - alpha over the tally's draws, g is the plan's class on the open ball returned.

    With a gradient plan that has an eta, on the part of the ball that lies in the domain. The plan must not have seen
    these draws. A radius of 0 claims nothing.
    """
    budget = AlphaBudget(alpha)
    if plan.antithetic:
        found = _pairs(plan, tally, budget, sigma)
    elif plan.gradient is not None:
        found = _first_order(plan, plan.gradient, tally, budget, sigma)
    else:
        found = _votes(plan, tally, budget, sigma)
    return Ball(
        centre=None if plan.at_input else plan.centre.detach().cpu().double().numpy(),
        radius=max(0.0, found.radius) if math.isfinite(found.radius) else 0.0,
        n=tally.n,
        alpha=alpha,
        counts=tally.counts,
        statistic=found.statistic,
        bounds=found.bounds,
        evidence={
            "top": plan.classes.partition.top,
            "named": list(plan.classes.partition.named),
            "alphas": [part.alpha for part in budget.parts],
            **found.evidence,
        },
    )


def _votes(plan: BallPlan, tally: Tally, budget: AlphaBudget, sigma: float) -> _Finding:
    found = class_bounds(tally.counts, plan.classes, budget)
    radius = cohen_radius(found.lower_a, None if plan.classes.binary else found.upper_other, sigma)  # (S3), (S3b)
    bounds = {"lower_a": found.lower_a, "upper_other": found.upper_other}
    return _Finding("binary" if plan.classes.binary else "multiclass", radius, bounds, {})


def _first_order(plan: BallPlan, gradient: GradientPlan, tally: Tally, budget: AlphaBudget, sigma: float) -> _Finding:
    """(F5): counts bound the probabilities, half means bound the gradient of the lead; all events share alpha."""
    spent = [
        budget.take(gradient.share * budget.alpha, f"gradient {number + 1}") for number in range(len(gradient.tests))
    ]
    lower_a, uppers = _probabilities(plan, tally, budget)
    not_a = min(1.0, math.nextafter(1 - lower_a, 2.0))
    gammas, evidence = [], {}
    for number, (test, alpha) in enumerate(zip(gradient.tests, spent, strict=True)):
        eta = gradient.eta if number == 0 else None
        moments = _half_moments(tally, number, eta)
        shift = None if eta is None else float(np.linalg.norm(eta)) * (1 + 1e-12)
        gammas.append(lead_gradient_bound(moments, test, alpha, Votes(not_a, uppers[number]), shift))  # (F2)
        evidence[f"test {number + 1}"] = [*test, *moments, 0.0 if shift is None else shift]
    rivals = [Rival(q, gammas[i] if i < len(gammas) else math.inf) for i, q in enumerate(uppers)]
    bounds = {"lower_a": lower_a, "upper_other": max(uppers), **{f"gamma {i + 1}": g for i, g in enumerate(gammas)}}
    return _Finding("first_order", first_order_radius(lower_a, rivals, sigma), bounds, evidence)


def _probabilities(plan: BallPlan, tally: Tally, budget: AlphaBudget) -> tuple[float, list[float]]:
    """A lower bound for the class and an upper one for each rival, at equal parts of what remains of alpha.

    Under the binary rule the one rival is everything else, and 1 - p_A bounds it at no further cost.
    """
    counted = [] if plan.classes.binary else [f"upper bound of {list(rival)}" for rival in plan.rivals]
    alphas = budget.take_equal(["lower bound of the class", *counted])
    lower_a = clopper_pearson(int(tally.counts[plan.classes.partition.top]), tally.n, alphas[0], "lower")
    rest = min(1.0, math.nextafter(1 - lower_a, 2.0))
    if plan.classes.binary:
        return lower_a, [rest]
    hits = [int(tally.counts[list(rival)].sum()) for rival in plan.rivals]
    uppers = [clopper_pearson(k, tally.n, a, "upper") for k, a in zip(hits, alphas[1:], strict=True)]
    return lower_a, [min(upper, rest) for upper in uppers]


def _half_moments(tally: Tally, row: int, eta: Floats | None) -> HalfMoments:
    assert tally.sums is not None
    shift = 0.0 if eta is None else eta
    g1, g2 = (tally.sums[half, row] / tally.halves[half] + shift for half in (0, 1))
    return HalfMoments(float(g1 @ g2), float(np.linalg.norm(g1)), float(np.linalg.norm(g2)))


def _pairs(plan: BallPlan, tally: Tally, budget: AlphaBudget, sigma: float) -> _Finding:
    """(F6): how often both draws of a pair, and how often one of them, vote for the class and against each rival."""
    assert tally.pairs is not None
    watched = tally.pairs[:1] if plan.classes.binary else tally.pairs
    alphas = budget.take_equal([f"pairs {number + 1}" for number in range(2 * len(watched))])
    masses = []
    for number, (both, one, none) in enumerate(watched.tolist()):
        agreeing = both if number == 0 else none  # for a rival, pairs that never vote for it
        masses.append(pair_mass(agreeing, one, tally.n // 2, alphas[2 * number], alphas[2 * number + 1]))
    rivals = masses if plan.classes.binary else masses[1:]  # binary: "not the rival" is the class itself
    bounds = {"both": masses[0].both, "single": masses[0].single}
    evidence = {f"pairs {number + 1}": row for number, row in enumerate(tally.pairs.tolist())}
    return _Finding("dipole", dipole_radius(masses[0], rivals, sigma), bounds, evidence)
