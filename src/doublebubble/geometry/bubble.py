"""Two balls on one line through x1, in free space: the double bubble. Numpy only."""

from typing import overload

import numpy as np
import numpy.typing as npt

from doublebubble.errors import InputError
from doublebubble.geometry.arguments import nonnegative
from doublebubble.types import Floats


@overload
def double_bubble_radius(r2: float, d2: float, r3: float, d3: float) -> float: ...
@overload
def double_bubble_radius(
    r2: npt.ArrayLike, d2: npt.ArrayLike, r3: npt.ArrayLike, d3: npt.ArrayLike
) -> Floats | float: ...
def double_bubble_radius(r2: npt.ArrayLike, d2: npt.ArrayLike, r3: npt.ArrayLike, d3: npt.ArrayLike) -> Floats | float:
    """No point nearer to x1 than this is outside both balls, if x1 lies on the segment between their centres.

    (D3) as printed, to nearest; 0 where its square is negative. d2, d3 are the distances of the centres from x1; where
    both are 0 the weights are free and the larger radius is returned. Arguments broadcast.

    >>> round(double_bubble_radius(r2=1.0, d2=0.6, r3=1.0, d3=0.6), 6)  # where two unit circles cross
    0.8
    """
    r2, d2 = nonnegative("r2", r2), nonnegative("d2", d2)
    r3, d3 = nonnegative("r3", r3), nonnegative("d3", d3)
    try:
        r2, d2, r3, d3 = np.broadcast_arrays(r2, d2, r3, d3)
    except ValueError:
        raise InputError("r2, d2, r3, d3: expected shapes that broadcast together") from None
    apart = d2 + d3
    span = np.where(apart > 0.0, apart, 1.0)
    squared = (d2 * (r3**2 - d3**2) + d3 * (r2**2 - d2**2)) / span  # (D3)
    radius: Floats = np.where(apart > 0.0, np.sqrt(np.maximum(squared, 0.0)), np.maximum(r2, r3))
    return float(radius) if radius.ndim == 0 else radius


def cut_radius(r2: float, r3: float, d: float) -> float:
    """The radius of the sphere in which two spheres of radii r2, r3 meet, their centres d apart; 0 if they do not.

    (D9). What a further ball would have to swallow to improve on (D3).
    """
    r2, r3, d = (float(nonnegative(name, value)) for name, value in (("r2", r2), ("r3", r3), ("d", d)))
    if d == 0.0:
        raise InputError("d: expected a positive distance between the centres, got 0")
    along = (d**2 - r3**2 + r2**2) / (2.0 * d)  # from centre 2 to the plane of the cut
    return float(np.sqrt(max(0.0, r2**2 - along**2)))
