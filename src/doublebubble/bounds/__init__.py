"""Statistics of counts: exact bounds, asymptotic intervals, and the budget that pays for them. No torch."""

from doublebubble.bounds.asymptotic import AsymptoticBounds, goodman, sison_glaz
from doublebubble.bounds.binomial import clopper_pearson
from doublebubble.bounds.budget import AlphaBudget, AlphaPart
from doublebubble.bounds.gradient import (
    GradientTest,
    HalfMoments,
    VoteBounds,
    design_test,
    largest_lead_gradient,
    lead_gradient_bound,
    vote_weights,
)
from doublebubble.bounds.pairs import pair_mass
from doublebubble.bounds.stakes import mean_lower_bound, mean_upper_bound, near_best_stake
from doublebubble.bounds.votes import Joint, RivalBound, VotesRule, choose_rule, others, votes_bound

__all__ = [
    "AlphaBudget",
    "AlphaPart",
    "AsymptoticBounds",
    "GradientTest",
    "HalfMoments",
    "Joint",
    "RivalBound",
    "VoteBounds",
    "VotesRule",
    "choose_rule",
    "clopper_pearson",
    "design_test",
    "goodman",
    "largest_lead_gradient",
    "lead_gradient_bound",
    "mean_lower_bound",
    "mean_upper_bound",
    "near_best_stake",
    "others",
    "pair_mass",
    "sison_glaz",
    "vote_weights",
    "votes_bound",
]
