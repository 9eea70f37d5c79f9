"""From the fresh votes at one centre to one ball: g is the plan's class inside it, at the ball's part of alpha."""

import math

from doublebubble.bounds import AlphaBudget, class_bounds
from doublebubble.certificate import Ball
from doublebubble.geometry import cohen_radius
from doublebubble.search.plan import CENTRE, BallPlan
from doublebubble.tally import Tally


def certified_ball(plan: BallPlan, tally: Tally, alpha: float, sigma: float) -> Ball:
    """With probability at least 1 - alpha over the tally's draws, g is the plan's class on the open ball returned.

    The plan must not have seen these draws. A radius of 0 claims nothing.
    """
    found = class_bounds(tally.counts, plan.classes, AlphaBudget(alpha))
    radius = cohen_radius(found.lower_a, None if plan.classes.binary else found.upper_other, sigma)  # (S3), (S3b)
    return Ball(
        centre=None if plan.part == CENTRE else plan.centre.detach().cpu().double().numpy(),
        radius=max(0.0, radius) if math.isfinite(radius) else 0.0,
        n=tally.n,
        alpha=alpha,
        counts=tally.counts,
        statistic="binary" if plan.classes.binary else "multiclass",
        bounds={"lower_a": found.lower_a, "upper_other": found.upper_other},
        evidence={"top": plan.classes.partition.top, "named": list(plan.classes.partition.named)},
    )
