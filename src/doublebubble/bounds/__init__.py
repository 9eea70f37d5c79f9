"""Statistics of counts: exact bounds, asymptotic intervals, and the budget that pays for them. No torch."""

from doublebubble.bounds.asymptotic import AsymptoticBounds, goodman, sison_glaz
from doublebubble.bounds.binomial import clopper_pearson
from doublebubble.bounds.budget import AlphaBudget, AlphaPart
from doublebubble.bounds.multinomial import ClassBounds, ClassPlan, PartBound, Partition, choose_plan, class_bounds

__all__ = [
    "AlphaBudget",
    "AlphaPart",
    "AsymptoticBounds",
    "ClassBounds",
    "ClassPlan",
    "PartBound",
    "Partition",
    "choose_plan",
    "class_bounds",
    "clopper_pearson",
    "goodman",
    "sison_glaz",
]
