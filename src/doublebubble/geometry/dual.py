"""The dual function G of (D1) in float64, less a proven bound on rounding: never above its exact value.

This is what makes a radius valid, for any multipliers whatever, and all that a verifier needs. Numpy only.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from doublebubble.geometry.arguments import Balls
from doublebubble.geometry.box import Box, box_around
from doublebubble.geometry.rounding import fold_sum, levels
from doublebubble.types import Floats

UNIT = 2.0**-52  # twice the unit roundoff: the other half pays for rounding in the bound itself
TINY = 2.0**-960  # more than 2^60 underflows together, before they are multiplied
LEAST_LEADING = 1e-6  # in R^d, 1 - s may not be smaller


@dataclass(frozen=True, eq=False)
class Dual:
    """The problem seen from x1: offsets c_i of the centres, d_i^2, radii, and the box around x1."""

    c: Floats
    d_squared: Floats
    r: Floats
    box: Box

    @classmethod
    def of(cls, balls: Balls) -> "Dual":
        """Shift everything by x1."""
        c = balls.centres - balls.x1
        d_squared = np.array([fold_sum(row * row) for row in c])
        return cls(c, d_squared, balls.radii, box_around(balls.x1, balls.low, balls.high))

    def only(self, chosen: npt.NDArray[np.bool_]) -> "Dual":
        """The same with the chosen balls only."""
        return Dual(self.c[chosen], self.d_squared[chosen], self.r[chosen], self.box)

    @property
    def excess(self) -> Floats:
        """r_i^2 - d_i^2: positive where ball i covers x1."""
        return self.r * self.r - self.d_squared

    def value(self, lam: Floats) -> float:
        """At most the exact G(lam); -inf where G is, and in R^d if 1 - s < 1e-6 unless every ball used sits at x1."""
        q = math.fsum([1.0, *(-lam)])  # correctly rounded, so its sign is exact
        if self.box.free and q < LEAST_LEADING and (q < 0.0 or self.c[lam > 0.0].any()):
            return -math.inf
        w, size = self._pull(lam)
        steps = len(lam) + levels(len(w)) + 12
        least, reach = self._coordinates(q, w, size, steps * UNIT)
        plus, minus = lam * (self.r * self.r), lam * self.d_squared
        tiny = TINY * (1.0 + float(np.sum(lam))) * (1.0 + float(np.max(reach)))
        size *= 2.0
        size += abs(q) * reach
        size *= reach
        slack = steps * UNIT * float(np.sum(plus + minus) + np.sum(size))  # (D8)
        return math.fsum([*plus, *(-minus), fold_sum(least), -slack, -tiny])  # (D1)

    def minimiser(self, lam: Floats) -> Floats:
        """The offset at which the bracket of (D1) is least; needs s < 1."""
        w, _ = self._pull(lam)
        return self.box.clip(w / -math.fsum([1.0, *(-lam)]))

    @cached_property
    def farthest_squared(self) -> tuple[float, float]:
        """The squared distance from x1 to the farthest point of the domain, rounded down and rounded up."""
        if self.box.free:
            return math.inf, math.inf
        reach = self.box.reach
        total, error = fold_sum(reach * reach), (levels(len(reach)) + 24) * UNIT
        return total * (1.0 - error) - TINY, total * (1.0 + error) + TINY

    def _pull(self, lam: Floats) -> tuple[Floats, Floats]:
        """w = sum lam_i c_i and sum lam_i |c_i|, which bounds its rounding."""
        w, size = np.zeros(self.c.shape[1]), np.zeros(self.c.shape[1])
        for weight, offset in zip(lam, self.c, strict=True):
            if weight > 0.0:
                term = weight * offset
                w += term
                size += np.abs(term, out=term)
        return w, size

    def _coordinates(self, q: float, w: Floats, size: Floats, error: float) -> tuple[Floats, Floats]:
        """For every coordinate min q y^2 + 2 w y on its interval, and a bound on |y| at the exact minimiser."""
        below, above = self.box.below, self.box.above
        if q > 0.0:
            y = self.box.clip(w / -q)
            reach = error * size
            reach += np.abs(w)
            reach *= (1.0 + error) / q
            reach += TINY
            least = q * y
            least += 2.0 * w
            least *= y
            return least, np.minimum(reach, self.box.reach, out=reach)
        if self.box.free:  # w = 0 exactly and q = 0
            return np.zeros_like(w), np.zeros_like(w)
        w2 = 2.0 * w
        return np.minimum((q * below + w2) * below, (q * above + w2) * above), self.box.reach
