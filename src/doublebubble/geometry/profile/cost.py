"""What prices on the bins of one line cost at a displacement: C(k, mu; a, b) of (R1), bounded from above.

Vectorised float64. No model, no randomness. On a bin k is constant and the cost of a slice is convex and decreasing in
A(z) = exp(a z - a^2/2), so a chord in A lies above it, and the chord's integral has a closed form.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, exp, inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv

from doublebubble.errors import SettingError
from doublebubble.geometry.profile.slices import ROUNDING, slice_cost, slice_cost_without_weight
from doublebubble.types import Floats

FARTHEST = 6.0
"""The longest displacement, and the farthest inner edge of a bin, that the rounding allowed for covers, in sigma."""

NARROWEST = 0.05
"""The least width of a bin: the masses of narrower ones would lose too many digits."""

LARGEST, _SMALLEST = 1e6, 1e-6  # keep quotients away from overflow

_CHUNK = 12_000  # slices evaluated at a time: their arrays fit into a processor's cache
_CHORD = 0.09  # length aimed at where the mass is


class Prices(NamedTuple):
    """Prices k_A, k_B, constant on each bin of z = u0.Z, and mu for the slope off the line: one functional of (R1).

    `edges` are the inner edges, increasing; the outermost bins are unbounded, so there is one more bin than edges.
    """

    edges: Floats
    k_a: Floats
    k_b: Floats
    mu: float

    def cost(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
        """Return an upper bound on C(k_A, mu; a, b) + C(k_B, mu; a, b) for displacements sigma (a u0 + b v), b >= 0.

        With it (R1) reads: the lead p_A - p_B there is at least E[k_A f_A] + E[k_B (1 - f_B)] - 1 - mu gamma - cost.
        In a box nothing changes but gamma, which then bounds |D_off - eta| (R4).
        """
        a, b = np.broadcast_arrays(np.atleast_1d(a), np.atleast_1d(b))
        return PriceTable([self]).cost(np.zeros(a.shape, np.int64), a, b)


class PriceTable:
    """Several functionals on the same bins, evaluated together."""

    def __init__(self, rows: Sequence[Prices]) -> None:
        edges = checked_edges(rows[0].edges)
        bins = len(edges) + 1
        for row in rows:
            if not np.array_equal(row.edges, edges):
                raise SettingError("prices: expected the same bins in every functional")
            if np.shape(row.k_a) != (bins,) or np.shape(row.k_b) != (bins,):
                raise SettingError(f"prices: expected {bins}, one for each bin, got {row.k_a} and {row.k_b}")
            if not (np.all(np.abs(row.k_a) <= LARGEST) and np.all(np.abs(row.k_b) <= LARGEST)):
                raise SettingError(f"prices: expected numbers within +-{LARGEST:g}, got {row.k_a} and {row.k_b}")
            if not (row.mu == 0 or _SMALLEST <= row.mu <= LARGEST):
                raise SettingError(f"mu: expected 0 or a number from {_SMALLEST} to {LARGEST:g}, got {row.mu}")
        # Slices are evaluated at the ends of all chords; inner edges stand twice, for the bin on either side.
        inner = [_chord_ends(low, high) for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
        self._z: Floats = np.concatenate([edges[:1], *inner, edges[-1:]])
        self._mass = differences(self._z)
        both = np.array([[row.k_a, row.k_b] for row in rows], np.float64)
        self._k: Floats = np.repeat(both, [1, *map(len, inner), 1], axis=2)
        self._mu = np.array([row.mu for row in rows], np.float64)
        self._free: Floats = slice_cost_without_weight(self._k[:, :, [0, -1]], self._mu[:, None, None]).sum(axis=1)

    def cost(self, row: npt.NDArray[np.int64], a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
        """Return `Prices.cost` of functional row[i] at the displacement (a[i], b[i])."""
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        if not (row.shape == a.shape == b.shape and a.ndim == 1):
            raise SettingError(
                f"displacements: expected three lists of one length, got {row.shape}, {a.shape}, {b.shape}"
            )
        if not (np.all(np.hypot(a, b) <= FARTHEST) and np.all((b == 0) | (b >= _SMALLEST))):
            expected = f"b = 0 or b >= {_SMALLEST}, and lengths of at most {FARTHEST}"
            raise SettingError(f"displacements: expected {expected}, got {a}, {b}")
        cost = np.empty(a.shape)
        kind = 2 * (b > 0) + (self._mu[row] > 0)
        size = max(1, _CHUNK // self._k[0].size)
        for one_kind in np.unique(kind):
            (chosen,) = np.nonzero(kind == one_kind)
            for start in range(0, len(chosen), size):
                part = chosen[start : start + size]
                cost[part] = self._cost(row[part], a[part], b[part])
        return cost

    def _cost(self, row: npt.NDArray[np.int64], a: Floats, b: Floats) -> Floats:
        """The cost for points whose b are all 0 or all positive, and likewise their mu."""
        log_a = a[:, None] * self._z - 0.5 * (a * a)[:, None]
        c = slice_cost(self._k[row], self._mu[row, None, None], b[:, None, None], log_a[:, None])
        c = c.sum(axis=1)  # of the two prices, whose chords have the same ends
        A = np.exp(log_a)
        # Bounded bins: chords in A. Between neighbouring bins lies a chord of mass 0.
        rising = (a > 0)[:, None]
        A_low, A_high = _ordered(A, rising)
        c_low, c_high = _ordered(c, rising)
        weight = _chord_weight(self._mass, differences(self._z - a[:, None]), A_low, A_high)
        total = _mixed(c_low, np.minimum(c_high, c_low), self._mass, weight).sum(axis=1)
        # Unbounded bins: a chord down to A = 0; where A grows without bound the value at the edge bounds the rest.
        for end, sign in ((0, -1.0), (-1, 1.0)):
            mass, moved = Phi(-sign * self._z[end]), Phi(sign * (a - self._z[end]))
            weight = _chord_weight(mass, moved, np.zeros(len(a)), A[:, end])
            c_edge = c[:, end]
            falling = _mixed(np.maximum(self._free[row, end], c_edge), c_edge, mass, weight)
            total += np.where(sign * a < 0, falling, _mixed(c_edge, c_edge, mass, weight))
        return np.asarray(total * (1 + ROUNDING), np.float64)


def bin_masses(edges: npt.ArrayLike) -> Floats:
    """Return the standard normal mass of each bin, unbounded ones included, to a relative 2^-44.

    A search asks for those of the same few edges ten thousand times: they are kept, and cannot be written to.
    """
    given = np.asarray(edges, np.float64)
    return _kept_masses(given.shape, given.tobytes())


@lru_cache(maxsize=256)
def _kept_masses(shape: tuple[int, ...], edges: bytes) -> Floats:
    inner = checked_edges(np.frombuffer(edges, np.float64).reshape(shape))
    masses = differences(np.concatenate(([-inf], inner, [inf])))
    masses.setflags(write=False)
    return masses


def default_edges(bins: int) -> Floats:
    """Return inner edges for this many bins, narrower where the mass is, as chords are."""
    edges: Floats = np.sqrt(3.0) * Phi_inv(np.arange(1, bins) / bins)
    return checked_edges(edges)


def checked_edges(edges: npt.ArrayLike) -> Floats:
    """The inner edges of the bins as a float64 vector, or an error."""
    inner = np.array(edges, np.float64)
    if (
        inner.ndim != 1
        or len(inner) == 0
        or not np.all(np.diff(inner) >= NARROWEST)
        or not np.all(np.abs(inner) <= FARTHEST)
    ):
        expected = f"numbers within +-{FARTHEST} that increase by at least {NARROWEST}"
        raise SettingError(f"edges: expected {expected}, got {edges!r}")
    return inner


def differences(z: Floats) -> Floats:
    """Return the standard normal mass between neighbours along the last axis, by the accurate tail of Phi."""
    low, high = z[..., :-1], z[..., 1:]
    sign = np.where(low + high > 0, -1.0, 1.0)
    masses: Floats = np.abs(Phi(sign * high) - Phi(sign * low))
    return masses


def _chord_ends(low: float, high: float) -> Floats:
    """Shorter chords where the mass is: the error of a chord grows like the cube of its length, times the density."""
    nearest = min(abs(low), abs(high)) if low * high > 0 else 0.0
    return np.linspace(low, high, ceil((high - low) / (_CHORD * exp(nearest * nearest / 6))) + 1)


def _ordered(at_nodes: Floats, rising: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the values at the ends of each chord with the smaller and with the larger A."""
    left, right = at_nodes[..., :-1], at_nodes[..., 1:]
    return np.where(rising, left, right), np.where(rising, right, left)


def _chord_weight(mass: Floats, moved: Floats, A_low: Floats, A_high: Floats) -> Floats:
    """Return the part of the mass that goes to the end with the larger A, where the cost is smaller: rounded down."""
    at_low = A_low * mass
    excess = moved - at_low - 2 * ROUNDING * (moved + at_low)
    gap = A_high - A_low
    weight: Floats = np.clip(excess / np.where(gap > 0, gap + 2 * ROUNDING * A_high, inf), 0.0, mass)
    return weight


def _mixed(c_low: Floats, c_high: Floats, mass: Floats, weight: Floats) -> Floats:
    """Return the integral of the chord, rounded up."""
    mixed: Floats = c_low * (mass - weight) + c_high * weight + ROUNDING * c_low * mass
    return mixed
