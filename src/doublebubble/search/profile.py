"""Which line, prices, stakes and sectors to use for a profile, guessed from draws already seen (docs/math.md, section 9).

Nothing here claims anything: any line, any prices and any stakes that are fixed before the certify draws are valid.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, pi, sqrt

import numpy as np
from scipy.special import ndtr as Phi

from doublebubble.bounds import HalfMoments, VoteBounds, design_test
from doublebubble.bounds.gradient import expected_square
from doublebubble.bounds.profile import (
    FunctionalTest,
    ProfileCounts,
    ProfileTest,
    SectorTest,
    design_functional_test,
    functional_lower_bound,
    profile_bound,
    rounded_test,
)
from doublebubble.geometry.profile import Guess, Prices, best_profile_prices, bin_masses, checked_guess, default_edges
from doublebubble.geometry.profile.cost import FARTHEST
from doublebubble.types import Counts, Floats

BINS = 24
_SHARES = ((0.1, 0.8), (0.2, 0.7))  # of alpha for the slope off the line and for a functional
_RINGS = (0.6, 1.05)  # where rings end, as parts of the way from the radius of votes to the one hoped for
_PLACE = 0.7  # of a ring: where its prices are made
_SECTORS = 16
_POWER = 1.5
_ANGLES = (0.1, 0.35, 0.6, 0.85, 1.1, 1.4, 1.8)  # where the lead is looked at to find the radius to hope for
_DIGITS = 4
_ROUNDS = 25
_BEND = 100.0  # the bend of a profile on the probit scale is taken to be about 0.1 at most


def profile_edges() -> tuple[float, ...]:
    """The inner edges of the bins that profiles use."""
    return tuple(np.round(default_edges(BINS), 3).tolist())


def fitted_profile(table: Counts, edges: Sequence[float], p_a: float, p_b: float) -> tuple[Floats, Floats]:
    """The probabilities of the class and of the rival given the bin, from a table of votes by bin, (bins, 3).

    Each is Phi of a polynomial of z, of degree 2 with a bend that must be seen to be believed, moved to have the mean
    p_a or p_b: more draws than those of the table show these.
    """
    seen = table.sum(axis=1).astype(np.float64)
    f_a = _with_mean(_probit(edges, table[:, 0].astype(np.float64), seen), edges, p_a)
    f_b = np.minimum(_with_mean(_probit(edges, table[:, 1].astype(np.float64), seen), edges, p_b), 1 - f_a)
    return np.round(f_a, _DIGITS), np.round(f_b, _DIGITS)


def _with_mean(quantiles: Floats, edges: Sequence[float], mean: float) -> Floats:
    masses = bin_masses(edges)
    low, high = -12.0, 12.0
    for _ in range(40):
        shift = 0.5 * (low + high)
        low, high = (shift, high) if float(masses @ Phi(quantiles + shift)) < mean else (low, shift)
    moved: Floats = Phi(quantiles + low)
    return moved


def _probit(edges: Sequence[float], hits: Floats, seen: Floats) -> Floats:
    """The quantiles of penalised maximum likelihood, by Fisher's scoring; half a hit is added to all draws."""
    z = _bin_means(edges)
    total = seen.sum()
    hits = hits + 0.5 * seen / total
    seen = seen * (1 + 1 / total)
    features = np.stack([np.ones_like(z), z, z * z - 1], axis=1)
    penalty = np.diag([0.0, 0.01, _BEND])
    beta = np.zeros(3)
    for _ in range(_ROUNDS):
        eta = np.clip(features @ beta, -8.0, 8.0)
        p = np.clip(Phi(eta), 1e-9, 1 - 1e-9)
        density = np.exp(-0.5 * eta * eta) / sqrt(2 * pi)
        score = features.T @ ((hits - seen * p) * density / (p * (1 - p))) - penalty @ beta
        weight = seen * density**2 / (p * (1 - p))
        step = np.linalg.solve((features * weight[:, None]).T @ features + penalty + 1e-9 * np.eye(3), score)
        beta = beta + step * min(1.0, 2.0 / float(np.abs(step).max(initial=1e-12)))
        if float(np.abs(step).max()) < 1e-6:
            break
    quantiles: Floats = np.clip(features @ beta, -8.0, 8.0)
    return quantiles


def _bin_means(edges: Sequence[float]) -> Floats:
    """The mean of a standard normal number given its bin."""
    ends = np.concatenate(([-inf], edges, [inf]))
    density = np.exp(-0.5 * ends * ends) / sqrt(2 * pi)
    means: Floats = -np.diff(density) / bin_masses(edges)
    return means


@dataclass(frozen=True)
class Scene:
    """What is guessed of one rival at a ball, and the ball's draws and part of alpha.

    `votes` are those to expect of the n draws; `gamma` is the slope off the line, less what an eta of length `shift`
    takes off it; `misplaced` as in `ProfileCounts`.
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
    shift: float | None = None

    @property
    def n(self) -> int:
        """The draws of the ball."""
        return int(self.votes.sum())

    def design(self) -> tuple[ProfileTest, float]:
        """The test with the largest radius to expect, and that radius."""
        found = [self._design(*shares) for shares in _SHARES]
        return max(found, key=lambda made: made[1])

    def _design(self, gradient_share: float, functional_share: float) -> tuple[ProfileTest, float]:
        shares = VoteBounds(*(1 - self.votes[self.top] / self.n, self.votes[self.rival] / self.n))
        gradient = design_test(self.n, self.dim, gradient_share * self.alpha, shares, self.gamma)
        bare = ProfileTest(self.rival, gradient, (), FARTHEST, gradient_share, functional_share)
        norm = sqrt(expected_square(gradient.offset, gradient.n1, self.dim, shares, self.gamma))
        moments = HalfMoments(self.gamma**2, norm, norm)
        seen = ProfileCounts(self.votes, self._table(), moments, self.misplaced, self.shift)
        start = profile_bound(seen, self.top, bare, self.alpha, self.sigma)
        r0 = max(start.radius / self.sigma, 0.0)
        if r0 >= 0.75 * FARTHEST:
            return bare, start.radius
        pricing = _Pricing(self, checked_guess(self.edges, self.f_a, self.f_b, start.numbers["gamma"]), functional_share)
        hoped = pricing.hoped(r0)
        limit = round(min(FARTHEST, 1.2 * hoped + 0.1), 3)
        test = bare._replace(sectors=pricing.sectors(r0, hoped), limit=limit)
        return test, profile_bound(seen, self.top, test, self.alpha, self.sigma).radius

    def _table(self) -> Counts:
        """The draws to expect by bin and vote."""
        shares = np.stack([self.f_a, self.f_b, np.maximum(1 - self.f_a - self.f_b, 0.0)], axis=1)
        table: Counts = np.rint(self.n * bin_masses(self.edges)[:, None] * shares).astype(np.int64)
        return table


class _Pricing:
    """Prices at one displacement after another, and the leads to expect there."""

    def __init__(self, scene: Scene, guess: Guess, functional_share: float) -> None:
        self._guess, self._n = guess, scene.n
        self._level = functional_share * scene.alpha
        self._table = scene._table()

    def test(self, radius: float, angle: float, near: Prices | None = None) -> FunctionalTest:
        """The functional for one displacement; `near` are the prices of one near by."""
        prices = best_profile_prices(self._guess, radius * float(np.cos(angle)), radius * float(np.sin(angle)), near)
        return rounded_test(design_functional_test(prices, self._guess, self._n, self._level), _DIGITS)

    def lead(self, radius: float, angle: float) -> float:
        """The lead that the functional made for a displacement may be expected to prove there."""
        test = self.test(radius, angle)
        mean = functional_lower_bound(test, self._table, self._level)
        cost = test.prices.cost(radius * float(np.cos(angle)), radius * float(np.sin(angle)))[0]
        return float(mean - 1 - test.prices.mu * self._guess.gamma - cost)

    def hoped(self, r0: float) -> float:
        """About the radius at which the lead vanishes at some angle, if prices were made for every displacement."""
        low, high = r0, min(FARTHEST, 2.5 * r0 + 0.3)
        angles = list(_ANGLES)
        for _ in range(6):
            middle = 0.5 * (low + high)
            leads = {angle: self.lead(middle, angle) for angle in angles}
            if min(leads.values()) > 0:
                low = middle
            else:
                high = middle
                angles = [angle for angle in angles if leads[angle] < 0.1]
        return 0.5 * (low + high)

    def sectors(self, r0: float, hoped: float) -> tuple[SectorTest, ...]:
        """Sectors of 0..pi in rings, narrow where the lead is small, with prices made for about their middles."""
        rings = [r0 + part * (hoped - r0) for part in _RINGS]
        ends = _sector_ends(_SECTORS)
        made, inner = [], 0.0
        for number, outer in enumerate(rings):
            start = max(inner, r0)
            radius = start + _PLACE * (outer - start)
            last = number == len(rings) - 1
            prices: Prices | None = None
            for low, high in zip(ends[:-1], ends[1:], strict=True):
                test = self.test(radius, 0.5 * (low + high), prices)
                prices = test.prices
                made.append(SectorTest(low, high, test, inner, inf if last else outer))
            inner = outer
        return tuple(made)


def _sector_ends(count: int) -> list[float]:
    ends = (pi * np.linspace(0.0, 1.0, count + 1) ** _POWER).tolist()
    ends[-1] = pi
    return ends
