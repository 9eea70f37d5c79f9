"""What a table of votes by bins of z = u0.Z says about a functional of the profile, and about a radius: (R2), (R3).

Functions of integers and of prices in float64. No torch, no model, no randomness. A `FunctionalTest` is fixed before
the draws it is applied to; any choice of its numbers gives a valid bound, `design_functional_test` aims at a tight one.
"""

from math import inf, log, nextafter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doublebubble.bounds.budget import AlphaBudget
from doublebubble.bounds.gradient import VoteBounds
from doublebubble.bounds.ray_gradient import RayMoments, RayTest, ray_gradient_bound
from doublebubble.bounds.stakes import mean_upper_bound, near_best_stake
from doublebubble.bounds.votes import RivalBound, class_interval
from doublebubble.errors import InputError
from doublebubble.geometry import cohen_radius
from doublebubble.geometry.profile import GuessedProfile, Prices, Sector, bin_masses, covered_radius, sector_value
from doublebubble.geometry.profile.cost import FARTHEST
from doublebubble.types import Counts, Floats

_ROUNDING = 2.0**-43  # of every term of a sum over bins, whose masses are known to 2^-44


class FunctionalTest(NamedTuple):
    """What must be fixed before the draws: the prices, the control variate and the stake."""

    prices: Prices
    control: Floats
    """c, one number for each bin."""
    stake: float


class SectorTest(NamedTuple):
    """A closed range of angles and of lengths, in sigmas, and the one functional that may serve in it."""

    low: float
    high: float
    test: FunctionalTest
    inner: float = 0.0
    outer: float = inf


class ProfileTest(NamedTuple):
    """What must be fixed before the draws for one rival, the line and its bins excepted."""

    rival: int
    gradient: RayTest
    sectors: tuple[SectorTest, ...]
    limit: float
    """No radius above this many sigmas is looked for, unless votes alone prove it."""
    gradient_share: float
    """Part of alpha for the slope off the line."""
    functional_share: float
    """Part of alpha for one functional; the bounds of the class and of the rival have what is left."""


class ProfileCounts(NamedTuple):
    """What the draws show of one rival: enough to verify its radius again, with the test."""

    votes: Counts
    """One for each class."""
    table: Counts
    """Draws by bin of the line and by vote, (bins, 3)."""
    moments: RayMoments
    """Of the second half of the draws, along the part of the first half's mean at right angles to the line."""
    misplaced: float
    """A bound on the probability that rounding put any draw into a wrong bin (N6)."""
    shift: float | None = None
    """|eta|, where an eta at right angles to the line was added to the half means (R4)."""


def profile_bound(seen: ProfileCounts, top: int, test: ProfileTest, alpha: float, sigma: float) -> RivalBound:
    """With probability at least 1 - alpha over the draws, the class leads the rival on the open ball of this radius.

    Theorem R with (R3): of all sectors' functionals only the one that serves where the rival first draws level has to
    hold, so they do not share alpha. Five events do: the slope off the line, the bins, one functional, and the bounds
    of class and rival behind r0 and the exponential moments. With a shift the claim is for the part of the ball that
    lies in the box (R4). The radius is signed where votes alone do not separate the two classes and nothing else does.
    """
    budget = AlphaBudget(alpha)
    level = budget.take(test.gradient_share * alpha, "slope off the line")
    bins = budget.take(seen.misplaced, "bins")
    functional = budget.take(test.functional_share * alpha, "functional of a sector")
    bounds = class_interval(seen.votes, top, (test.rival,), budget)
    not_a = min(1.0, nextafter(1 - bounds.lower_a, 2.0))
    gamma = ray_gradient_bound(seen.moments, test.gradient, level, VoteBounds(not_a, bounds.q), seen.shift)
    sectors = [
        Sector(
            sector.low,
            sector.high,
            sector.test.prices,
            sector_value(functional_lower_bound(sector.test, seen.table, functional), sector.test.prices.mu, gamma),
            sector.inner,
            sector.outer,
        )
        for sector in test.sectors
    ]
    by_votes = cohen_radius(bounds.lower_a, bounds.q, 1.0)  # (S3)
    r0 = max(by_votes, 0.0)
    reached = covered_radius(sectors, r0, max(test.limit, r0)) if sectors and r0 < FARTHEST else r0
    radius = nextafter(sigma * reached, -inf) if reached > 0 else sigma * by_votes
    numbers = {**test.gradient._asdict(), **seen.moments._asdict(), **bounds.numbers, "gamma": gamma}
    if seen.shift is not None:
        numbers["shift"] = seen.shift
    return RivalBound("profile", (test.rival,), (level, bins, functional, *bounds.alphas), radius, numbers)


def rounded_test(test: FunctionalTest, digits: int) -> FunctionalTest:
    """Return the test with shorter numbers, which are quicker to store; any numbers are valid."""
    prices = test.prices
    k_a, k_b, control = (np.round(values, digits) for values in (prices.k_a, prices.k_b, test.control))
    short = Prices(prices.edges, k_a, k_b, max(round(prices.mu, digits), 0.0))
    values = _values(short, control)
    most = (1 - 2.0**-40) / float(values.max() - values.min())
    return FunctionalTest(short, control, min(float(f"{test.stake:.4g}"), most))


def design_functional_test(prices: Prices, guess: GuessedProfile, n: int, alpha: float) -> FunctionalTest:
    """Return a test for n draws that is near the best if the profile is as guessed.

    The control variate is the guess of k_A 1[vote != A] + k_B 1[vote = B] given the bin, so that only the variance
    given the bin is left. It claims nothing: a wrong guess makes the later bound weaker, not wrong.
    """
    control = prices.k_a * (1 - guess.f_a) + prices.k_b * guess.f_b
    values = _values(prices, control)
    low, high = float(values.min()), float(values.max())
    return FunctionalTest(prices, control, near_best_stake(n, _variance(values, guess, n), alpha, low, high))


def expected_excess(test: FunctionalTest, guess: GuessedProfile, n: int, alpha: float) -> float:
    """Return about how far (R2) will be above the mean if the profile is as guessed, to second order."""
    variance = _variance(_values(test.prices, test.control), guess, n)
    return log(1 / alpha) / (n * test.stake) + 0.5 * test.stake * variance


def _variance(values: Floats, guess: GuessedProfile, n: int) -> float:
    """Return the variance of Y if the profile is as guessed, not quite 0."""
    mean = float((guess.chances * values).sum())
    return max(float((guess.chances * values**2).sum()) - mean * mean, 1.0 / n**2)


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
