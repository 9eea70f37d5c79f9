"""How far does a proven lead reach, if the plane of u0 and v is covered by balls around points of proven lead? (R3).

Vectorised float64. No model, no randomness. Displacements are in units of sigma.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import inf, isfinite, nextafter, pi
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri as Phi_inv

from doublebubble.errors import SettingError
from doublebubble.geometry.profile.cost import FARTHEST, Prices, PriceTable
from doublebubble.types import Floats

_MARGIN = 1e-9  # taken off every ball's radius: far above the rounding of points, angles and quantiles
_LEAST_LEAD = 1e-7  # smaller leads cover nothing worth having
_WIDEST = pi / 24  # of a column, in angle
_NARROWEST = 1e-4  # columns and steps are not refined below this
_LOSS = 0.003  # how far below the place where the lead vanishes the covering aims, relative
_SLOPE = 0.8  # the reach of a ball falls about this fast towards the place where the lead vanishes
_AHEAD = 0.35  # where the next centre goes, as a part of the way to that place
_MOST_POINTS = 20_000
_END, _QUARTERS = np.array([1.0]), np.array([0.25, 0.5, 0.75, 1.0])
_LOOKS = (_END, _QUARTERS, _QUARTERS, _QUARTERS, _QUARTERS)  # where the place at which a lead vanishes is sought
_LEAST_B = 1e-3  # centres stay off the line, where the general form of the cost needs no exception


class Sector(NamedTuple):
    """A closed range of angles atan2(b, a), and of lengths, and the one functional that may serve in it.

    Ranges and functionals are fixed before the draws.
    """

    low: float
    high: float
    prices: Prices
    value: float
    """A lower bound on E[k_A f_A] + E[k_B (1 - f_B)] - 1 - mu gamma."""
    inner: float = 0.0
    outer: float = inf


def sector_value(mean_lower: float, mu: float, gamma: float) -> float:
    """Return mean_lower - 1 - mu gamma, rounded down: what a sector's functional promises before its cost (R1)."""
    if not (isfinite(mean_lower) and 0 <= mu < inf and 0 <= gamma < inf):
        raise SettingError(f"value: expected a finite mean, mu >= 0 and gamma >= 0, got {mean_lower}, {mu}, {gamma}")
    return mean_lower - 1 - mu * gamma - 2.0**-50 * (abs(mean_lower) + 1 + mu * gamma)


def covered_radius(sectors: Sequence[Sector], r0: float, limit: float) -> float:
    """Guarantee: if A leads B on |delta| < r0 and every sector's value holds, A leads B on |delta| < the result.

    delta is in units of sigma; the result is r0 or more and at most `limit`. Every displacement of length from r0 up to
    the result lies, in the plane of u0 and itself, in a closed polar cell of its own sector, and that cell in an open
    ball around a point at which the sector's own functional proves a lead m > 0, of radius Phi^-1((1 + m)/2) (Fact L).
    If only the value of one sector holds, the same is true of the displacements in that sector. In a box values
    contain the gamma of (R4), and the guarantee is for displacements that stay in the box; nothing else changes.

    The sectors must hold all angles 0..pi at all lengths r0..limit, and all must have the same bins. The search aims
    0.3 % below the radius at which a lead first vanishes, and lowers its aim where its cells become too small.
    """
    _check(sectors, r0, limit)
    columns = _Columns(sectors, r0, limit)
    ceiling = columns.ceiling()
    if ceiling <= r0:
        return r0
    return columns.cover(min(limit, ceiling))


class _Columns:
    """Narrow ranges of angles, each covered outwards from r0 by one ball after another."""

    def __init__(self, sectors: Sequence[Sector], r0: float, limit: float) -> None:
        self.table = PriceTable([sector.prices for sector in sectors])
        self.values = np.array([sector.value for sector in sectors])
        self.r0, self.limit = r0, limit
        low, high, row = [], [], []
        for i, sector in enumerate(sectors):
            count = max(1, int(np.ceil((sector.high - sector.low) / _WIDEST)))
            ends = np.linspace(sector.low, sector.high, count + 1)
            low.append(ends[:-1])
            high.append(ends[1:])
            row.append(np.full(count, i))
        self.inner = np.array([max(r0, sector.inner) for sector in sectors])
        self.outer = np.array([min(limit, sector.outer) for sector in sectors])
        self.probes = np.array([[s.low, 0.5 * (s.low + s.high), s.high] for s in sectors]).ravel()
        self.low, self.high, self.row = np.concatenate(low), np.concatenate(high), np.concatenate(row)

    def lead(self, row: npt.NDArray[np.int64], angle: Floats, radius: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the points evaluated (a, b) and the radius of the ball each covers, 0 where there is no lead."""
        a, b = radius * np.cos(angle), np.maximum(radius * np.sin(angle), _LEAST_B)
        m = self.values[row] - self.table.cost(row, a, b)
        m -= 1e-12 * (1 + np.abs(self.values[row]))
        m = np.where(m > _LEAST_LEAD, np.minimum(m, 0.999), 0.0)
        return a, b, np.maximum(Phi_inv(0.5 * (1 + m)) - _MARGIN, 0.0)

    def ceiling(self) -> float:
        """Return about where the lead of some sector first vanishes, seen at the ends and the middle of each sector."""
        angle, row, limit = self.probes, np.repeat(np.arange(len(self.values)), 3), self.limit
        low, high = self.inner[row], self.outer[row]
        near = low < high
        for steps in _LOOKS:
            angle, row, low, high = angle[near], row[near], low[near], np.minimum(high[near], limit)
            if len(row) == 0:
                break
            radius = low[:, None] + (high - low)[:, None] * steps
            many, each = len(steps), np.arange(len(row))
            reach = self.lead(np.repeat(row, many), np.repeat(angle, many), radius.ravel())[2].reshape(radius.shape)
            vanishes = (reach <= 0).any(axis=1)
            first = (reach <= 0).argmax(axis=1)
            low, high = np.where(first > 0, radius[each, first - 1], low), radius[each, first]
            limit = min(limit, float(high[vanishes].min(initial=inf)))
            near = vanishes & (low < limit)
        return limit

    def cover(self, goal: float) -> float:
        """Cover all columns up to the goal; where one gets stuck halve it, and where that is no use lower the goal."""
        low, high, row = self.low, self.high, self.row
        inside = self.inner[row]  # the column is covered below this radius
        gap = np.minimum(goal, self.outer[row]) - inside  # a guess: from there to where the lead vanishes
        goal *= 1 - _LOSS
        points = 0
        while (unfinished := inside < np.minimum(goal, self.outer[row])).any():
            low, high, inside, gap = low[unfinished], high[unfinished], inside[unfinished], gap[unfinished]
            row = row[unfinished]
            points += len(row)
            if points > _MOST_POINTS:
                return max(self.r0, nextafter(float(inside.min()), -inf))
            middle, centre = 0.5 * (low + high), np.minimum(inside + _AHEAD * gap, goal)
            a, b, reach = self.lead(row, middle, centre)
            end = _outer_end(a, b, reach, low, high, inside)
            advanced = end > inside + 0.02 * gap
            inside = np.where(advanced, end, inside)
            gap = np.where(advanced, centre + reach / _SLOPE - inside, 0.4 * gap)
            width = 0.5 * (high - low) * inside
            split = (width > _AHEAD * gap) & (width > _NARROWEST)
            lost = (gap < _NARROWEST) & ~split & ~advanced
            if lost.any():
                goal = min(goal, float(inside[lost].min()))
            low, high = np.append(low, middle[split]), np.append(np.where(split, middle, high), high[split])
            inside, gap = np.append(inside, inside[split]), np.append(gap, gap[split])
            row = np.append(row, row[split])
        return max(self.r0, nextafter(goal, -inf))


def _outer_end(a: Floats, b: Floats, reach: Floats, low: Floats, high: Floats, inside: Floats) -> Floats:
    """Return s1 such that the polar cell inside..s1, low..high lies in the ball of this reach around (a, b).

    minus infinity where the ball does not hold the cell's inner side. The distance to a point of the cell is largest at
    one of its four corners: it is convex in the radius, and grows with the angle between the point and (a, b).
    """
    centre = np.hypot(a, b)
    angle = np.arctan2(b, a)
    apart = np.maximum(np.abs(high - angle), np.abs(angle - low))
    along, across = centre * np.cos(apart), centre * np.sin(apart)
    room = reach * reach - across * across
    width = np.sqrt(np.maximum(room, 0.0))
    holds = (room > 0) & (np.abs(inside - along) < width)
    return np.where(holds, along + width - _MARGIN, -inf)


def _check(sectors: Sequence[Sector], r0: float, limit: float) -> None:
    if not sectors:
        raise SettingError("sectors: expected at least one, got none")
    for sector in sectors:
        if not (isfinite(sector.low) and isfinite(sector.high) and sector.low < sector.high and isfinite(sector.value)):
            raise SettingError(f"sector: expected low < high and a finite value, got {sector}")
    angles = _ends(0.0, pi, [end for sector in sectors for end in (sector.low, sector.high)])
    lengths = _ends(r0, limit, [end for sector in sectors for end in (sector.inner, sector.outer)])
    for low, high in pairwise(angles):
        for inner, outer in pairwise(lengths):
            if not any(s.low <= low and high <= s.high and s.inner <= inner and outer <= s.outer for s in sectors):
                where = f"angles {low} to {high} at lengths {inner} to {outer}"
                raise SettingError(f"sectors: expected one that holds the {where}, got none")
    if not (0 <= r0 < inf and 0 <= limit <= FARTHEST):
        raise SettingError(f"radii: expected r0 >= 0 and a limit from 0 to {FARTHEST}, got {r0}, {limit}")


def _ends(low: float, high: float, ends: Sequence[float]) -> list[float]:
    """The ends inside low..high, in order, and those two."""
    return sorted({low, high, *(end for end in ends if low < end < high)})
