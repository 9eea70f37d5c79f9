"""The cost of prices at displacements of a plane, and whether proven leads cover a part of it: (R1) and (R3) again.

float64 arrays: the margins taken are a thousand times their rounding, and bounds hold for inexact roots as well. Cells
are halved until each lies in a ball of its own. Written from docs/math.md; imports nothing of what it checks.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Array = NDArray[np.float64]
_MARGIN = 1e-10  # of every cost and lead; sums of a hundred terms of size 10 err by 1e-13
_STEP = 0.06  # between nodes in z, where the mass is
_CUT = 9.5
_SMALLEST = 1e-5  # cells are not halved below this
_HOPELESS = 2e-3  # nor below this where there is no lead at their middle
_BEHIND = 1e-3  # a point that far behind is not worth covering from elsewhere
_MOST = 400_000  # cells looked at before giving up
_TOGETHER = 400
_OFF = 1e-3  # least b of a point: off the line every formula is regular
_LEAST_MU = 1e-9


@dataclass(frozen=True)
class Piece:
    """A closed range of angles and lengths, its prices on bins, and a lower bound on what they promise before cost."""

    low: float
    high: float
    inner: float
    outer: float
    mu: float
    k: tuple[Array, Array]
    value: float


class Prices:
    """Prices of all pieces, at nodes on every bin."""

    def __init__(self, edges: Sequence[float], pieces: Sequence[Piece]) -> None:
        ends = []
        for low, high in itertools.pairwise(edges):
            nearest = 0.0 if low * high < 0 else min(abs(low), abs(high))
            parts = int(np.ceil((high - low) / (_STEP * np.exp(nearest**2 / 8))))
            ends.append(np.linspace(low, high, parts + 1))
        self._low = np.concatenate([part[:-1] for part in ends])
        self._high = np.concatenate([part[1:] for part in ends])
        self._bin = np.concatenate([np.full(len(part) - 1, j + 1) for j, part in enumerate(ends)])
        self._first, self._last = float(edges[0]), float(edges[-1])
        self._k = np.array([piece.k for piece in pieces])
        self._mu = np.array([max(piece.mu, _LEAST_MU) for piece in pieces])
        self.value = np.array([piece.value for piece in pieces])
        # a price mu that is raised by up to 1e-9 takes at most 1e-9 gamma < 1e-9 off the value
        self.value = self.value - np.where(self._mu > [piece.mu for piece in pieces], 2 * _LEAST_MU, 0.0)

    def lead(self, row: NDArray[np.int64], a: Array, b: Array) -> Array:
        """A lower bound on p_A - p_B at sigma (a u0 + b v), by the functional of each point's own piece."""
        found = np.empty(len(row))
        for start in range(0, len(row), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            found[part] = self.value[row[part]] - self._cost(row[part], a[part], b[part])
        return found - _MARGIN * (1 + np.abs(found))

    def _cost(self, row: NDArray[np.int64], a: Array, b: Array) -> Array:
        """C of both prices. On each part of a bin the slice's cost is below its chord in A; see "Chords"."""
        column = a[:, None]
        total = np.zeros(len(row))
        at_low, at_high = (np.exp(column * z - column**2 / 2) for z in (self._low, self._high))
        mass = _between(self._low, self._high)
        moved = _between(self._low - column, self._high - column)
        left = np.exp(a * self._first - a * a / 2)
        right = np.exp(a * self._last - a * a / 2)
        for side in (0, 1):
            k = self._k[row, side]
            ends = [self._slice(k[:, self._bin], row, b, at) for at in (at_low, at_high)]
            gap = at_high - at_low
            flat = np.abs(gap) < 1e-9
            share = np.where(flat, 0.0, (moved - at_low * mass) / np.where(flat, 1.0, gap))
            chord = ends[0] * (mass - share) + ends[1] * share
            total += np.where(flat, np.maximum(*ends) * mass, chord).sum(axis=1)
            for place, weight, bounded in ((0, left, a <= 0), (-1, right, a >= 0)):
                # beyond the outermost edges: where A falls to 0 a chord from A = 0, where it grows the edge's value
                price = k[:, [place]]
                edge = self._slice(price, row, b, weight[:, None])[:, 0]
                none = self._slice(price, row, b, np.zeros((len(row), 1)))[:, 0]
                tail = ndtr(self._first) if place == 0 else ndtr(-self._last)
                beyond = ndtr(self._first - a) if place == 0 else ndtr(a - self._last)
                part = np.minimum(beyond / weight, tail)
                total += np.where(bounded, edge * tail, none * (tail - part) + edge * part)
        return total

    def _slice(self, k: Array, row: NDArray[np.int64], b: Array, A: Array) -> Array:
        """E[(k + mu y - A e^{by - b^2/2})_+] from above: between two roots, with what is left over at each added."""
        mu, b = self._mu[row, None], b[:, None]

        def bracket(y: Array) -> Array:
            value: Array = k + mu * y - A * np.exp(b * y - b * b / 2)
            return value

        with np.errstate(divide="ignore"):
            peak = np.where(A > 0, np.log(mu / (b * np.maximum(A, 1e-300))) / b + b / 2, np.inf)
        lone = ~np.isfinite(peak)  # A is 0: positive right of -k/mu
        top = np.where(lone, 0.0, peak)
        eta = np.maximum((b / mu) * k + b * top - 1, 1e-15)
        spread = np.sqrt(2 * eta)
        rise, fall = np.log1p(eta + spread), eta + spread
        for _ in range(7):  # Newton's steps down to the roots of e^L - 1 - L = eta: convex, from beyond
            rise -= (np.expm1(rise) - rise - eta) / np.maximum(np.expm1(rise), 1e-12)
            fall -= (fall + np.expm1(-fall) - eta) / np.maximum(-np.expm1(-fall), 1e-12)
        left = np.clip(np.where(lone, -k / mu, top - fall / b), -_CUT, _CUT)
        right = np.clip(np.where(lone, _CUT, top + rise / b), -_CUT, _CUT)
        whole = k * (ndtr(right) - ndtr(left)) + mu * (_density(left) - _density(right))
        whole -= A * (ndtr(right - b) - ndtr(left - b))
        extra = np.where(np.abs(left) < _CUT, np.abs(bracket(left)), 0.0)
        extra += np.where(np.abs(right) < _CUT, np.abs(bracket(right)), 0.0)
        # roots beyond the cut: what lies there is less than (|k| + mu |y|) phi
        beyond = 1e-15 * (np.abs(k) + mu)
        nowhere = ~lone & ((b / mu) * k + b * top - 1 <= 0)
        cost: Array = np.where(nowhere, beyond, np.maximum(whole, 0.0) + extra + beyond)
        return cost


def _density(y: Array) -> Array:
    value: Array = np.exp(-y * y / 2) / np.sqrt(2 * np.pi)
    return value


def _between(low: Array, high: Array) -> Array:
    """The normal mass between, from the tails that are small."""
    flip = low > 0
    mass: Array = np.where(flip, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    return mass


def tiled(pieces: Sequence[Piece], r0: float, t: float) -> bool:
    """Whether every angle from 0 to pi at every length from r0 to t lies in some piece."""
    angles = sorted({0.0, float(np.pi), *(end for p in pieces for end in (p.low, p.high) if 0 < end < np.pi)})
    lengths = sorted({r0, t, *(end for p in pieces for end in (p.inner, p.outer) if r0 < end < t)})
    return all(
        any(p.low <= low and high <= p.high and p.inner <= inner and outer <= p.outer for p in pieces)
        for low, high in itertools.pairwise(angles)
        for inner, outer in itertools.pairwise(lengths)
    )


def covers(edges: Sequence[float], pieces: Sequence[Piece], r0: float, t: float) -> bool:
    """Whether every piece, cut to lengths r0 .. t, lies in balls around points where its own functional leads (R3)."""
    if t <= r0:
        return True
    prices = Prices(edges, pieces)
    mine = [(i, max(p.inner, r0), min(p.outer, t), p.low, p.high) for i, p in enumerate(pieces)]
    mine = [cell for cell in mine if cell[1] < cell[2]]
    row = np.array([cell[0] for cell in mine])
    s0, s1, low, high = (np.array([cell[j] for cell in mine]) for j in range(1, 5))
    for angle in (low, (low + high) / 2, high):
        if np.any(prices.lead(row, s1 * np.cos(angle), np.maximum(s1 * np.sin(angle), _OFF)) < -_BEHIND):
            return False
    looked = 0
    while len(row):
        looked += len(row)
        if looked > _MOST:
            return False
        s, angle = (s0 + s1) / 2, (low + high) / 2
        a, b = s * np.cos(angle), np.maximum(s * np.sin(angle), _OFF)
        lead = prices.lead(row, a, b)
        reach = ndtri((1 + np.clip(lead, 0.0, 0.999)) / 2) - 1e-9
        corners = [(x * np.cos(w) - a, x * np.sin(w) - b) for x in (s0, s1) for w in (low, high)]
        farthest = np.max([np.hypot(*corner) for corner in corners], axis=0)
        # the farthest point of a cell narrower than pi/2 on each side of the centre's angle is a corner
        inside = (farthest < reach) & (high - low < 1.5)
        row, s0, s1, low, high, lead = (values[~inside] for values in (row, s0, s1, low, high, lead))
        long = (s1 - s0) > s1 * (high - low)
        if np.any(np.where(long, s1 - s0, s1 * (high - low)) < np.where(lead > 0, _SMALLEST, _HOPELESS)):
            return False
        middle, turn = (s0 + s1) / 2, (low + high) / 2
        s0, s1, low, high = (
            np.concatenate([s0, np.where(long, middle, s0)]),
            np.concatenate([np.where(long, middle, s1), s1]),
            np.concatenate([low, np.where(long, low, turn)]),
            np.concatenate([np.where(long, high, turn), high]),
        )
        row = np.concatenate([row, row])
    return True
