"""Statistics of counts: exact bounds, asymptotic intervals, and the budget that pays for them. No torch."""

from doublebubble.bounds.asymptotic import AsymptoticBounds, goodman, sison_glaz
from doublebubble.bounds.binomial import clopper_pearson
from doublebubble.bounds.budget import AlphaBudget, AlphaPart
from doublebubble.bounds.forecast import Forecast, RivalGuess, guess_lead_gradient, predict_first_order
from doublebubble.bounds.gradient import (
    GradientTest,
    HalfMoments,
    Votes,
    design_test,
    largest_lead_gradient,
    lead_gradient_bound,
    vote_weights,
)
from doublebubble.bounds.multinomial import ClassBounds, ClassPlan, PartBound, Partition, choose_plan, class_bounds
from doublebubble.bounds.pairs import pair_mass
from doublebubble.bounds.stakes import mean_lower_bound, mean_upper_bound, near_best_stake

__all__ = [
    "AlphaBudget",
    "AlphaPart",
    "AsymptoticBounds",
    "ClassBounds",
    "ClassPlan",
    "Forecast",
    "GradientTest",
    "HalfMoments",
    "PartBound",
    "Partition",
    "RivalGuess",
    "Votes",
    "choose_plan",
    "class_bounds",
    "clopper_pearson",
    "design_test",
    "goodman",
    "guess_lead_gradient",
    "largest_lead_gradient",
    "lead_gradient_bound",
    "mean_lower_bound",
    "mean_upper_bound",
    "near_best_stake",
    "pair_mass",
    "predict_first_order",
    "sison_glaz",
    "vote_weights",
]
