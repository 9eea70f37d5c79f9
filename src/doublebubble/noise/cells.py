"""The law of rounded normal noise, J = round(sigma Z / step), in integers that sum to 2^62, and its error.

A table depends on the width of a cell in units of sigma alone; it is computed once and kept. May import types,
errors and the normal law only.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from doublebubble.errors import BudgetError, SettingError
from doublebubble.noise.normal import ERROR, density, upper_tail
from doublebubble.types import Counts, Floats

BITS: Final = 62
TOTAL: Final = 1 << BITS
PREFIX_BITS: Final = 16
UNDECIDED: Final = -(1 << 31)
LARGEST_PART: Final = Fraction(1, 10)
"""The part of alpha that the distance of the noise from its law may take at most."""

_MOST_CELLS = 1 << 16  # on each side, up to 9 sigma; a table takes about 0.3 ms for each
_WIDEST = 2  # the width of a cell in sigma: so that all edges in use stay below normal.LARGEST


@dataclass(frozen=True, eq=False)
class Cells:
    """Integer masses of J = -last .. last, where each end cell holds all that lies beyond it, too.

    `thresholds[k]` is 2^62 P[J <= k - last], an integer. `variation` bounds, for one coordinate, the total-variation
    distance from the law of J limited to -reach .. reach, the reach asked for (N2). `means[k]` is E[Z | J = k - last],
    correctly rounded. For k = 0 .. last, `masses[k]` is P[J = k] and `tails[k]` is P[J > k], 0 for the last.
    `prefixes` gives J for each value of the first 16 of 62 bits, or UNDECIDED.
    """

    width: Fraction
    last: int
    thresholds: Counts
    variation: Fraction
    means: Floats
    tails: Floats
    masses: Floats
    prefixes: npt.NDArray[np.int32]

    def look_up(self, words: Counts) -> Counts:
        """J for each uniform integer below 2^62."""
        return np.searchsorted(self.thresholds, words, side="right") - self.last  # (N1)

    def loss(self, draws: int, dimension: int, alpha: float) -> float:
        """At most this is added to any error probability by `draws` vectors of this noise: to be taken off alpha (N3).

        Rounded up. Refused where it would be more than LARGEST_PART of alpha.
        """
        if draws < 0 or dimension < 1:
            raise SettingError(f"lattice noise: expected draws >= 0 and dimension >= 1, got {draws} and {dimension}")
        loss = draws * dimension * self.variation
        if loss > LARGEST_PART * Fraction(alpha):
            raise BudgetError(
                f"lattice noise: expected at most {LARGEST_PART} of alpha = {alpha} to be lost to rounding, got "
                f"{float(loss):.2g} for {draws} draws in dimension {dimension}: use fewer draws or a coarser grid"
            )
        return rounded_up(loss)


@lru_cache(maxsize=16)
def rounded_normal(width: Fraction, reach: int) -> Cells:
    """The table for cells of the given width in units of sigma; beyond +-reach cells need not be told apart."""
    if not 0 < width <= _WIDEST:
        raise SettingError(f"lattice noise: expected a step of at most {_WIDEST} sigma, got {float(width):g} sigma")
    if reach < 1:
        raise SettingError(f"lattice noise: expected a range of at least two grid points, got a reach of {reach}")
    if reach > _MOST_CELLS and _MOST_CELLS * width < 9:
        finest, got = _MOST_CELLS // 9, float(1 / width)
        raise SettingError(f"lattice noise: expected a step of at least sigma/{finest}, got sigma/{got:.0f}")
    tails, beyond = _tails(width, reach)
    last = len(tails)
    rounded = [round(TOTAL * tail) for tail in tails]
    thresholds = np.array([*reversed(rounded), *(TOTAL - tail for tail in rounded)], np.int64)
    if (np.diff(thresholds) < 0).any():
        raise RuntimeError("the thresholds of lattice noise are not monotone")
    off = sum(2 * abs(Fraction(count, TOTAL) - tail) for count, tail in zip(rounded, tails, strict=True))
    masses = [1 - 2 * tails[0], *(nearer - farther for nearer, farther in pairwise([*tails, Fraction(0)]))]
    means = _means(width, masses[1:])
    return Cells(
        width,
        last,
        thresholds,
        off + 2 * beyond + (2 * last + 2) * ERROR,  # (N2)
        np.array([*(-mean for mean in reversed(means)), 0.0, *means]),
        np.array([float(tail) for tail in (*tails, Fraction(0))]),
        np.array([float(mass) for mass in masses]),
        _prefixes(thresholds, last),
    )


def _tails(width: Fraction, reach: int) -> tuple[list[Fraction], Fraction]:
    """1 - Phi at the edges (k + 1/2) width, k = 0 .. last - 1, and what is beyond the next edge if `reach` goes on.

    The list ends at reach, or where less than half a unit of 2^-62 is left, whichever comes first.
    """
    tails: list[Fraction] = []
    for edge in range(reach):
        tail = upper_tail((2 * edge + 1) * width / 2)
        if 2 * TOTAL * tail < 1:
            return tails, tail
        tails.append(tail)
    return tails, Fraction(0)


def _means(width: Fraction, masses: list[Fraction]) -> list[float]:
    """E[Z | J = k] for k = 1 .. last, from the masses of these cells (N4)."""
    densities = [density((2 * edge + 1) * width / 2) for edge in range(len(masses))]
    differences = [nearer - farther for nearer, farther in pairwise([*densities, Fraction(0)])]
    return [float(difference / mass) for difference, mass in zip(differences, masses, strict=True)]


def _prefixes(thresholds: Counts, last: int) -> npt.NDArray[np.int32]:
    """J for each value of the first 16 bits that leaves no choice, UNDECIDED for the others."""
    size = 1 << (BITS - PREFIX_BITS)
    first = np.arange(1 << PREFIX_BITS, dtype=np.int64) * size
    low = np.searchsorted(thresholds, first, side="right")
    high = np.searchsorted(thresholds, first + (size - 1), side="right")
    return np.where(low == high, low - last, UNDECIDED).astype(np.int32)


def rounded_up(value: Fraction) -> float:
    """A float that is not below the value, and next to it."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
