"""One ball about another point, in free space. Numpy only."""

from typing import overload

import numpy as np
import numpy.typing as npt

from doublebubble.geometry.arguments import nonnegative
from doublebubble.types import Floats


@overload
def transitive_radius(r2: float, d2: float) -> float: ...
@overload
def transitive_radius(r2: npt.ArrayLike, d2: npt.ArrayLike) -> Floats | float: ...
def transitive_radius(r2: npt.ArrayLike, d2: npt.ArrayLike) -> Floats | float:
    """The distance from x1 to the outside of a ball of radius r2 whose centre is d2 away; 0 if x1 is outside.

    (D2) as printed, in floating point to nearest; `certified_radius` is the form that rounds down.

    >>> transitive_radius(r2=1.0, d2=0.25)
    0.75
    """
    radius: Floats = np.maximum(0.0, nonnegative("r2", r2) - nonnegative("d2", d2))  # (D2)
    return float(radius) if radius.ndim == 0 else radius
