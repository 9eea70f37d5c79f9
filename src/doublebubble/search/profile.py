"""Which prices, stakes and sectors to use for a profile, guessed from draws already seen (docs/math.md, section 9).

Nothing here claims anything: any line, any prices and any stakes that are fixed before the certify draws are valid.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv

from doublebubble.bounds import AlphaBudget, VoteBounds, largest_lead_gradient
from doublebubble.bounds.controlled import ControlledTest, controlled_bound, design_controlled
from doublebubble.bounds.profile import (
    FunctionalTest,
    ProfileCounts,
    ProfileTest,
    SectorTest,
    design_functional_test,
    expected_excess,
    profile_bound,
    rounded_test,
)
from doublebubble.bounds.ray_gradient import design_ray, expected_ray, ray_gradient_bound
from doublebubble.bounds.votes import class_interval
from doublebubble.geometry import cohen_radius
from doublebubble.geometry.profile import (
    ROUGH,
    GuessedProfile,
    Prices,
    PriceTable,
    best_profile_prices,
    bin_masses,
    checked_guess,
    mean_value,
)
from doublebubble.geometry.profile.cost import FARTHEST
from doublebubble.search.lead import USUAL_GRADIENT
from doublebubble.search.profile_fit import DIGITS
from doublebubble.types import Counts, Floats

BINS = 24
_BEHIND, _BEFORE, _BEYOND, _LEAST_END = (-3.2, -1.2), -0.8, 1.7, 2.6  # where bins end, beyond: from the radius on
# Of alpha, for the slope off the line and for a functional.
_SHARES = ((0.05, 0.85), (0.1, 0.8), (0.2, 0.7), (0.3, 0.6), (0.4, 0.5))
_RINGS = 4
_PLACE = 0.6  # of a ring: where its prices are made
_WORSE, _BETTER = 2.0, 0.5  # how far rings go beyond what is expected, in standard deviations of the guess
_NEAR_ENDS = (0.0, 0.1, 0.2, 0.3, 0.38, 0.45, 0.52, 0.59, 0.66, 0.74, 0.84, 0.97, 1.2, 1.7)  # the lead is small there
_FAR_ENDS = (1.7, 2.1, 2.6, pi)
_ANGLES = (0.1, 0.35, 0.55, 0.75, 1.1)  # where the lead is looked at to find the radius to hope for
_STEPS = (0.02, 0.2, 0.4, 0.7, 1.1)  # radii looked at for that
_CAPS = (1.0, 0.4, 0.15, 0.05, 0.015)  # of the largest price: what is tried to keep the range of Y small
_SURE = 0.03  # a smaller gain is judged at other votes as well
_DOUBT = 0.06  # of the radius, over the root of the draws seen against the class: what a guess promises too much
_USUAL_GAIN = 0.45  # of the radius, times the root of the share of votes against the class, if no slope is left
_USUAL_OFF = 0.15  # of the gradient off the line
_USELESS = 0.7  # of the gradient: a bound on the slope off the line that is no smaller gains nothing
_USUAL_SPREAD = 0.7  # of the mean square of the votes' weights: what the profile does not explain
_USUAL_LOSS = 0.01


def profile_edges(radius: float) -> tuple[float, ...]:
    """The inner edges of bins for a profile where votes alone promise a radius of so many sigmas.

    After a displacement along the line the noise lies about `radius`: there bins must be narrow. Behind, where the
    class is hardly ever lost, a few are enough.
    """
    behind, farthest = BINS // 4, min(max(radius + _BEYOND, _LEAST_END), FARTHEST)
    ends = np.linspace(*_BEHIND, behind), np.linspace(_BEFORE, farthest, BINS - 1 - behind)
    return tuple(np.round(np.concatenate(ends), 3).tolist())


def usual_gain(votes: VoteBounds, dim: int, n: int, alpha: float) -> float:
    """The part of the radius that profiles usually add: the less, the larger the bound on the slope off the line."""
    whole = USUAL_GRADIENT * largest_lead_gradient(votes)
    left, level = _USUAL_SPREAD * (votes.not_a + 3 * votes.rival), 0.2 * alpha
    test = design_ray(n, dim, level, votes, _USUAL_OFF * whole, left)
    off = ray_gradient_bound(expected_ray(test, dim, votes, _USUAL_OFF * whole, left), test, level, votes) / whole
    return _USUAL_GAIN * sqrt(votes.not_a) * max(0.0, 1 - off / _USELESS) - _USUAL_LOSS


@dataclass(frozen=True)
class Scene:
    """What is guessed of one rival at a ball, and the ball's draws and part of alpha.

    `votes` are those to expect of the n draws; `gamma` is the slope off the line, less what an eta of length `shift`
    takes off it; `misplaced` as in `ProfileCounts`; `seen` draws stand behind the guesses.
    """

    votes: Counts
    top: int
    rival: int
    edges: tuple[float, ...]
    f_a: Floats
    f_b: Floats
    gamma: float
    dim: int
    alpha: float
    sigma: float
    misplaced: float
    seen: int
    shift: float | None = None

    @property
    def n(self) -> int:
        """The draws of the ball."""
        return int(self.votes.sum())

    def design(self) -> tuple[ProfileTest, float]:
        """The test with about the largest radius to expect, and that radius."""
        starts = [self._start(*shares) for shares in _SHARES]
        middle = starts[len(starts) // 2]
        if middle.r0 >= 0.75 * FARTHEST:
            return middle.bare, middle.r0 * self.sigma
        pricing = self._pricing(middle)
        start, hoped = pricing.hoped(starts, middle)
        if start is not middle:
            pricing = self._pricing(start)
        spread = self._spread()
        first, last = max(start.r0 - _WORSE * spread, 0.0), hoped + _BETTER * spread
        limit = round(min(FARTHEST, 1.2 * last + 0.1), 3)
        test = start.bare._replace(sectors=pricing.sectors(first, last), limit=limit)
        radius = profile_bound(start.seen, self.top, test, self.alpha, self.sigma).radius
        plain = self._by_counts(start.seen.table)
        if radius <= plain * (1 + _SURE):
            radius = plain + min(radius - plain, *(self._gain(start, test, sign * spread) for sign in (-1, 1)))
        against = self.seen * (1 - float(self.votes[self.top]) / self.n)
        return test, radius * (1 - _DOUBT / sqrt(max(against, 1.0)))

    def _gain(self, start: "_Start", test: ProfileTest, shift: float) -> float:
        """What the test gains over votes alone if the class does better by a shift on the probit scale."""
        table = self._table(shift)
        seen = start.seen._replace(votes=table.sum(axis=0), table=table)  # A, B and all others as three classes
        reduced = test._replace(rival=1)
        return profile_bound(seen, 0, reduced, self.alpha, self.sigma).radius - self._by_counts(table)

    def controlled(self) -> tuple[ControlledTest, float]:
        """The test of votes alone that uses the profile as a control variate, and the radius to expect of it.

        Its prices do not follow the votes as Clopper-Pearson's bound does, so it is promised the least of its gains
        over that bound at the votes to expect and at votes one standard deviation of the guess off them.
        """
        guess = checked_guess(self.edges, self.f_a, self.f_b, 0.0)
        p_a, p_b = (float(self.votes[k]) / self.n for k in (self.top, self.rival))
        test = design_controlled(self.rival, guess, p_a, p_b, self.n, self.alpha)
        tables = [self._table(shift) for shift in (0.0, -self._spread(), self._spread())]
        plain = [self._by_counts(table) for table in tables]
        radii = [controlled_bound(each, self.misplaced, test, self.alpha, self.sigma).radius for each in tables]
        return test, plain[0] + min(radius - counted for radius, counted in zip(radii, plain, strict=True))

    def _by_counts(self, table: Counts) -> float:
        """The larger of (S3) against the rival and (S3b), from the sums of a table."""
        votes: Counts = table.sum(axis=0)
        both = class_interval(votes, 0, (1,), AlphaBudget(self.alpha))
        alone = class_interval(votes, 0, (), AlphaBudget(self.alpha))
        return max(cohen_radius(both.lower_a, both.q, self.sigma), cohen_radius(alone.lower_a, None, self.sigma))

    def _start(self, gradient_share: float, functional_share: float) -> "_Start":
        shares = VoteBounds(*(1 - self.votes[self.top] / self.n, self.votes[self.rival] / self.n))
        left = self._left()
        gradient = design_ray(self.n, self.dim, gradient_share * self.alpha, shares, self.gamma, left)
        bare = ProfileTest(self.rival, gradient, (), FARTHEST, gradient_share, functional_share)
        moments = expected_ray(gradient, self.dim, shares, self.gamma, left)
        seen = ProfileCounts(self.votes, self._table(), moments, self.misplaced, self.shift)
        start = profile_bound(seen, self.top, bare, self.alpha, self.sigma)
        return _Start(bare, seen, max(start.radius / self.sigma, 0.0), start.numbers["gamma"])

    def control(self) -> tuple[float, ...]:
        """The control variate of the slope off the line: the mean weight of a vote to expect given the bin."""
        return tuple(np.round(np.clip(1 - self.f_a + self.f_b, 0.0, 2.0), DIGITS).tolist())

    def _left(self) -> float:
        """The mean square of the weight of a vote less its control variate: 4 for the rival, 1 for others, 0 for A."""
        each = 1 - self.f_a + 3 * self.f_b - (1 - self.f_a + self.f_b) ** 2
        return max(float(bin_masses(self.edges) @ each), 1 / self.n)

    def _pricing(self, start: "_Start") -> "_Pricing":
        guess = checked_guess(self.edges, self.f_a, self.f_b, start.gamma)
        return _Pricing(guess, self.n, start.bare.functional_share * self.alpha)

    def _spread(self) -> float:
        """About how far the radius of votes, in sigmas, may be off because few draws were seen."""
        each = []
        for k in (self.top, self.rival):
            p = min(max(float(self.votes[k]) / self.n, 1e-3), 1 - 1e-3)
            quantile = float(Phi_inv(p))
            each.append(sqrt(p * (1 - p) / self.seen) * sqrt(2 * pi) * exp(quantile * quantile / 2))
        return 0.5 * sum(each)

    def _table(self, shift: float = 0.0) -> Counts:
        """The draws to expect by bin and vote, if the class does better by a shift on the probit scale."""
        f_a: Floats = Phi(Phi_inv(self.f_a) + shift)
        f_b = np.minimum(Phi(Phi_inv(self.f_b) - shift), 1 - f_a)
        shares = np.stack([f_a, f_b, np.maximum(1 - f_a - f_b, 0.0)], axis=1)
        table: Counts = np.rint(self.n * bin_masses(self.edges)[:, None] * shares).astype(np.int64)
        return table


class _Start(NamedTuple):
    """What to expect of one division of alpha before any functional: the radius of votes, the slope off the line."""

    bare: ProfileTest
    seen: ProfileCounts
    r0: float
    gamma: float


class _Pricing:
    """Prices at displacements, and the leads to expect there."""

    def __init__(self, guess: GuessedProfile, n: int, level: float) -> None:
        self._guess, self._n, self._level = guess, n, level

    def tests(self, radius: Floats, angle: Floats) -> list[FunctionalTest]:
        """The functional for each of these displacements."""
        a, b = radius * np.cos(angle), radius * np.sin(angle)
        best = best_profile_prices(self._guess, a, b, ROUGH)
        rows = [[self._test(_capped(prices, part)) for prices in best] for part in _CAPS]
        leads = np.array([self._leads(tests, a, b) for tests in rows])
        return [rows[cap][i] for i, cap in enumerate(leads.argmax(axis=0).tolist())]

    def _test(self, prices: Prices) -> FunctionalTest:
        return rounded_test(design_functional_test(prices, self._guess, self._n, self._level), DIGITS)

    def _leads(self, tests: Sequence[FunctionalTest], a: Floats, b: Floats) -> Floats:
        """The lead to expect of each test at its own displacement."""
        cost = PriceTable([test.prices for test in tests]).cost(np.arange(len(tests)), a, b)
        means = [mean_value(test.prices, self._guess) - self._excess(test) for test in tests]
        leads: Floats = np.array(means) - cost
        return leads

    def _excess(self, test: FunctionalTest) -> float:
        return expected_excess(test, self._guess, self._n, self._level)

    def hoped(self, starts: Sequence[_Start], middle: _Start) -> tuple[_Start, float]:
        """The best division of alpha, and about the radius at which the lead vanishes with it, at some angle.

        As if prices were made for every displacement. Those for one division are near the best for all.
        """
        radii = middle.r0 + np.array(_STEPS) * (0.4 * middle.r0 + 0.2)
        radii = radii[radii < FARTHEST]
        angle, radius = (grid.ravel() for grid in np.meshgrid(_ANGLES, radii))
        tests = self.tests(radius, angle)
        width = np.array([self._excess(test) for test in tests])
        value = self._leads(tests, radius * np.cos(angle), radius * np.sin(angle)) + width
        mu = np.array([test.prices.mu for test in tests])
        best = middle, -inf
        for start in starts:
            wider = sqrt(1 + log(middle.bare.functional_share / start.bare.functional_share) / -log(self._level))
            lead = value - mu * (start.gamma - middle.gamma) - wider * width
            reached = _vanishing(radii, lead.reshape(len(radii), len(_ANGLES)).min(axis=1), start.r0)
            if reached > best[1]:
                best = start, reached
        return best

    def sectors(self, first: float, last: float) -> tuple[SectorTest, ...]:
        """Sectors that hold all displacements: narrow, and in rings from `first` to `last`, where the lead is small."""
        rings = np.round(np.linspace(first, last, _RINGS + 1), 4)
        near = [(inner, outer, *ends) for inner, outer in pairwise(rings) for ends in pairwise(_NEAR_ENDS)]
        far = [(rings[0], rings[-1], *ends) for ends in pairwise(_FAR_ENDS)]
        inner, outer, low, high = np.array([*near, *far]).T
        tests = self.tests(inner + _PLACE * (outer - inner), 0.5 * (low + high))
        outer = np.where(outer == rings[-1], inf, outer)
        inner = np.where(inner == rings[0], 0.0, inner)
        ends = zip(low.tolist(), high.tolist(), tests, inner.tolist(), outer.tolist(), strict=True)
        return tuple(SectorTest(*each) for each in ends)


def _capped(prices: Prices, part: float) -> Prices:
    """The same prices, none above a part of the largest.

    Where the class is nearly certain the best price is huge, and (R2) pays for the range of Y; a lower one loses less.
    """
    most = part * float(max(prices.k_a.max(), prices.k_b.max()))
    return prices if part == 1 else prices._replace(k_a=np.minimum(prices.k_a, most), k_b=np.minimum(prices.k_b, most))


def _vanishing(radii: Floats, least: Floats, r0: float) -> float:
    """About the radius at which a lead known at some radii vanishes, beyond r0."""
    if least[0] <= 0:
        return r0 + 0.02
    falling = np.flatnonzero(least <= 0)
    if len(falling) == 0:
        return float(radii[-1])
    j = int(falling[0])
    return max(float(np.interp(0.0, [least[j], least[j - 1]], [radii[j], radii[j - 1]])), r0 + 0.02)
