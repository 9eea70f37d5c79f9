"""The domain seen from x1: the interval of every coordinate, and how far the domain reaches.

Offsets are relative to x1 and rounded outwards, so the intervals contain the domain exactly; an end that x1 touches
stays exactly 0. R^d is the box without ends. Numpy only.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from doublebubble.types import Floats

_OUT = 1.0 + 2.0**-50  # exceeds the two roundings of an offset


@dataclass(frozen=True, eq=False)
class Box:
    """Offsets from x1 that stay in the domain: below <= 0 <= above, coordinate by coordinate."""

    below: Floats
    above: Floats

    @property
    def free(self) -> bool:
        """Whether this is R^d."""
        return bool(np.isinf(self.above[0]))

    def clip(self, y: Floats) -> Floats:
        """The nearest offset in the domain, in place."""
        return np.minimum(np.maximum(y, self.below, out=y), self.above, out=y)

    @cached_property
    def reach(self) -> Floats:
        """The largest |offset| of every coordinate."""
        return np.maximum(-self.below, self.above)


def box_around(x1: Floats, low: Floats | None, high: Floats | None) -> Box:
    """The domain as offsets from x1; without ends, R^d."""
    if low is None or high is None:
        return Box(np.full_like(x1, -np.inf), np.full_like(x1, np.inf))
    return Box((low - x1) * _OUT, (high - x1) * _OUT)
