"""From balls to a radius in fifty digits: (D1) by direct evaluation at the stored multipliers, (D6), and eta's signs.

Also the formulas that the paper prints. Imports nothing of what it checks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublebubble.audit.reverify.numbers import MARGIN, mp, require

Point = NDArray[np.float64]
_FREE = mp.mpf(10) ** -7  # in free space 1 - sum(lambda) is at least this, or no centre may differ from the input


@dataclass(frozen=True)
class Box:
    """The domain; a side that float32 cannot hold is where float32 rounds it to, if that is farther out."""

    low: float
    high: float

    @classmethod
    def of(cls, domain: tuple[float, float]) -> "Box":
        """The box that holds the domain and all inputs that were clamped to it in float32."""
        low, high = domain
        return cls(min(low, float(np.float32(low))), max(high, float(np.float32(high))))

    def faces(self, point: Point) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Where the point is at the lower and at the upper face."""
        return point <= self.low, point >= self.high


def proved_square(
    x1: Point,
    centres: Sequence[Point],
    radii: Sequence[float],
    multipliers: Sequence[float],
    box: Box | None,
    grid: int | None = None,
) -> tuple[Any, Any]:
    """G(lambda) of (D1), rounded down, and the squared distance to the farthest point of the domain, if it ends.

    With a grid of so many steps for each unit, points stand for the multiples of its step that they are nearest to.
    """
    weights = [mp.mpf(value) for value in multipliers]
    require(len(weights) == len(centres), "there are not as many multipliers as balls")
    require(all(weight >= 0 for weight in weights), "a multiplier is below 0")
    q = 1 - sum(weights)
    start = _places(x1, grid)
    offsets = [[c - x for c, x in zip(_places(centre, grid), start, strict=True)] for centre in centres]
    constant = sum(
        (weight * (mp.mpf(radius) ** 2 - sum(c * c for c in offset)))
        for weight, radius, offset in zip(weights, radii, offsets, strict=True)
    )
    size = sum(w * (mp.mpf(r) ** 2 + sum(c * c for c in o)) for w, r, o in zip(weights, radii, offsets, strict=True))
    least, farthest = mp.mpf(0), mp.mpf(0)
    for k, x in enumerate(start):
        w = sum((weight * offset[k] for weight, offset in zip(weights, offsets, strict=True)), mp.mpf(0))
        if box is None:
            require(q >= _FREE or (w == 0 and q >= 0), "the multipliers sum to 1 or more in free space")
            least -= w * w / q if w != 0 else 0
            continue
        low, high = mp.mpf(box.low) - x, mp.mpf(box.high) - x
        require(low <= 0 <= high, "the input lies outside the domain")
        ends = [low, high] if q <= 0 else [min(max(-w / q, low), high)]
        least += min(q * y * y + 2 * w * y for y in ends)
        farthest += max(low * low, high * high)
    return constant + least - MARGIN * (1 + size + farthest), mp.inf if box is None else farthest


def _places(point: Point, grid: int | None) -> list[Any]:
    if grid is None:
        return [mp.mpf(value) for value in point.tolist()]
    return [mp.mpf(round(value * grid)) / grid for value in point.tolist()]


def check_eta(eta: Point, centre: Point, box: Box | None, shift: Any, what: str) -> None:
    """Eta is zero off the faces of its own centre, points inwards there, and is no longer than the shift used (F7)."""
    require(box is not None, f"{what} stands in free space, where no face blocks anything")
    assert box is not None
    require(eta.shape == centre.shape, f"{what} has another shape than the centre")
    low, high = box.faces(centre)
    require(not bool(np.any(eta[~(low | high)] != 0)), f"{what} is not zero away from the faces")
    require(not bool(np.any(eta[low] < 0) or np.any(eta[high] > 0)), f"{what} points out of the domain at a face")
    square = sum((mp.mpf(value) ** 2 for value in eta.tolist()), mp.mpf(0))
    require(square <= shift * shift, f"{what} is longer than the shift that was used")


def distance(x1: Point, x2: Point) -> Any:
    """How far two points are apart."""
    return mp.sqrt(
        sum(((mp.mpf(a) - mp.mpf(b)) ** 2 for a, b in zip(x1.tolist(), x2.tolist(), strict=True)), mp.mpf(0))
    )


def printed_boundary(x1: Point, x2: Point, radius: Any, domain: tuple[float, float]) -> Any:
    """The paper's boundary radius as printed, no bound: the largest distance to a cut of the sphere with a face."""
    low, width = mp.mpf(domain[0]), mp.mpf(domain[1]) - mp.mpf(domain[0])
    one, two = ([(mp.mpf(v) - low) / width for v in x.tolist()] for x in (x1, x2))
    one = [min(max(v, mp.mpf(0)), mp.mpf(1)) for v in one]
    apart = [(a - b) ** 2 for a, b in zip(one, two, strict=True)]
    whole, found = sum(apart), mp.mpf(0)
    for a, b, across in zip(one, two, apart, strict=True):
        face = mp.mpf(1) if a > 0.5 else mp.mpf(0)
        cut = (radius / width) ** 2 - (b - face) ** 2
        if cut >= 0:
            beside = mp.sqrt(max(whole - across, mp.mpf(0)))
            found = max(found, mp.sqrt((face - a) ** 2 + (mp.sqrt(cut) - beside) ** 2))
    return found * width
