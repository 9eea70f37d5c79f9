"""What a table of votes by bins of z = u0.Z says about a functional of the profile: (R2) with a control variate.

Functions of integers and of prices in float64. No torch, no model, no randomness. A `FunctionalTest` is fixed before
the draws it is applied to; any choice of its numbers gives a valid bound, `design_functional_test` aims at a tight one.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doublebubble.bounds.stakes import mean_upper_bound, near_best_stake
from doublebubble.errors import InputError
from doublebubble.geometry.profile.cost import Prices, bin_masses
from doublebubble.geometry.profile.design import Guess
from doublebubble.types import Floats

VOTES = ("A", "B", "other")
"""The columns of a table of counts by bin."""

_ROUNDING = 2.0**-43  # of every term of a sum over bins, whose masses are known to 2^-44


class FunctionalTest(NamedTuple):
    """What must be fixed before the draws: the prices, the control variate and the stake."""

    prices: Prices
    control: Floats
    """c, one number for each bin."""
    stake: float


def unit_prices(edges: Floats, of: str) -> Prices:
    """Return the prices whose functional is a plain probability: P(A) for `of` = "A", P(not B) for "B"."""
    bins = len(edges) + 1
    if of not in ("A", "B"):
        raise InputError(f"of: expected 'A' or 'B', got {of!r}")
    one, none = np.ones(bins), np.zeros(bins)
    return Prices(edges, one if of == "A" else none, one if of == "B" else none, 0.0)


def design_functional_test(prices: Prices, guess: Guess, n: int, alpha: float) -> FunctionalTest:
    """Return a test for n draws that is near the best if the profile is as guessed.

    The control variate is the guess of k_A 1[vote != A] + k_B 1[vote = B] given the bin, so that only the variance
    given the bin is left. It claims nothing: a wrong guess makes the later bound weaker, not wrong.
    """
    control = prices.k_a * (1 - guess.f_a) + prices.k_b * guess.f_b
    values = _values(prices, control)
    f_other = np.maximum(1 - guess.f_a - guess.f_b, 0.0)
    chances = bin_masses(guess.edges)[:, None] * np.stack([guess.f_a, guess.f_b, f_other], axis=1)
    mean = float((chances * values).sum())
    variance = max(float((chances * values**2).sum()) - mean * mean, 1.0 / n**2)
    low, high = float(values.min()), float(values.max())
    return FunctionalTest(prices, control, near_best_stake(n, variance, alpha, low, high))


def functional_lower_bound(test: FunctionalTest, table: npt.ArrayLike, alpha: float) -> float:
    """With probability at least 1 - alpha over the draws, E[k_A f_A] + E[k_B (1 - f_B)] is at least this.

    `table[j, v]` counts the draws with z in bin j and vote v: A, B, other. With Y = k_A 1[vote != A] + k_B 1[vote = B]
    - c the functional is E[k_A + k_B - c] - E Y; the first term is known, the second bounded by (R2).
    """
    prices, c = test.prices, np.asarray(test.control, np.float64)
    counts = np.asarray(table)
    bins = len(prices.edges) + 1
    if c.shape != (bins,) or not np.all(np.isfinite(c)):
        raise InputError(f"control: expected a finite number for each of {bins} bins, got {c}")
    if counts.shape != (bins, 3) or not np.issubdtype(counts.dtype, np.integer):
        raise InputError(f"table: expected integers of shape ({bins}, 3), got {counts.dtype} {counts.shape}")
    values, masses = _values(prices, c), bin_masses(prices.edges)
    # The range runs over all pairs of bin and vote, seen or not.
    low, high = float(values.min()), float(values.max())
    upper = mean_upper_bound(values.ravel(), counts.ravel(), test.stake, alpha, low, high)
    known = float(masses @ (prices.k_a + prices.k_b - c))
    sizes = float(masses @ (np.abs(prices.k_a) + np.abs(prices.k_b) + np.abs(c)))
    return known - upper - _ROUNDING * (sizes + abs(known) + abs(upper))


def _values(prices: Prices, c: Floats) -> Floats:
    """Return Y for each bin and vote, (bins, 3)."""
    return np.stack([-c, prices.k_a + prices.k_b - c, prices.k_a - c], axis=1)
