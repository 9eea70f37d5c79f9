"""Cohen's radius against one rival from votes by bins of a line: the joint functional with a control variate, (R6).

Functions of integers and of prices in float64. No torch, no model, no randomness. A `ControlledTest` is fixed before
the draws it is applied to; any choice of its numbers gives a valid bound, `design_controlled` aims at a large one.
"""

from typing import NamedTuple

import numpy as np

from doublebubble.bounds.budget import AlphaBudget
from doublebubble.bounds.profile import FunctionalTest, design_functional_test, functional_lower_bound, rounded_test
from doublebubble.bounds.votes import RivalBound
from doublebubble.geometry.joint import best_prices, joint_radius
from doublebubble.geometry.profile import GuessedProfile, Prices
from doublebubble.types import Counts, Floats

_DIGITS = 4


class ControlledTest(NamedTuple):
    """What must be fixed before the draws for one rival, the line and its bins excepted."""

    rival: int
    edges: Floats
    """Inner edges of the bins."""
    k_a: float
    k_b: float
    control: Floats
    """c, one number for each bin."""
    stake: float

    @property
    def functional(self) -> FunctionalTest:
        """The functional of (R1) with the same prices in every bin, and none for the slope off the line."""
        one = np.ones(len(self.edges) + 1)
        return FunctionalTest(Prices(self.edges, self.k_a * one, self.k_b * one, 0.0), self.control, self.stake)


def controlled_bound(table: Counts, misplaced: float, test: ControlledTest, alpha: float, sigma: float) -> RivalBound:
    """With probability at least 1 - alpha over the draws, the class leads the rival on the open ball of this radius.

    `table` counts the draws by bin and vote: A, B, other; `misplaced` bounds the probability that rounding put any of
    them into a wrong bin. Two events share alpha: the bins, and the mean of k_A 1[A] + k_B 1[not B], from whose draws
    the guess c(z) is subtracted and to whose bound the known mean of c is added: (R6). The radius is 0 without a lead.
    """
    budget = AlphaBudget(alpha)
    bins = budget.take(misplaced, "bins")
    (level,) = budget.take_equal(["controlled functional"])
    mean = min(functional_lower_bound(test.functional, table, level), test.k_a + test.k_b)
    radius = joint_radius(mean, test.k_a, test.k_b, sigma)
    numbers = {"k_a": test.k_a, "k_b": test.k_b, "stake": test.stake}
    return RivalBound("controlled", (test.rival,), (bins, level), radius, numbers)


def design_controlled(
    rival: int, guess: GuessedProfile, p_a: float, p_b: float, n: int, alpha: float
) -> ControlledTest:
    """Return a test for n draws that is near the best if the votes are as guessed, in all and by bins."""
    k_a, k_b = (round(max(k, 0.01), _DIGITS) for k in best_prices(p_a, p_b))
    one = np.ones(len(guess.edges) + 1)
    made = design_functional_test(Prices(guess.edges, k_a * one, k_b * one, 0.0), guess, n, alpha)
    short = rounded_test(made, _DIGITS)
    return ControlledTest(rival, guess.edges, k_a, k_b, short.control, short.stake)
