"""The boundary radius as printed in the paper, which is not a valid bound. For protocol `paper` only; numpy only."""

import numpy as np

from doublebubble.errors import InputError
from doublebubble.geometry.arguments import Values, nonnegative, widen
from doublebubble.types import Floats


def published_boundary_radius(x1: Values, x2: Values, r2: float) -> float:
    """NOT A GUARANTEE: the printed formula can exceed the distance to an uncovered point of the unit box.

    It takes the maximum over all faces, though the cut of the sphere with a face bounds the distance only where the
    nearest point of the sphere lies beyond that face; docs/math.md has the counterexample. A coordinate of exactly 0.5
    is paired with the face at 0. `certified_radius` is the valid treatment of the box.

    >>> import numpy as np
    >>> x1, x2 = np.array([0.1, 0.5]), np.array([0.4, 0.5])
    >>> published_boundary_radius(x1, x2, r2=0.5) > 0.5 - 0.3  # more than the distance to the sphere
    True
    """
    return float(published_boundary_radii(widen("x1", x1)[None], widen("x2", x2)[None], np.array([r2]))[0])


def published_boundary_radii(x1s: Values, x2s: Values, r2s: Values) -> Floats:
    """NOT A GUARANTEE: `published_boundary_radius` of every input along the first axis."""
    x1, x2, r2 = widen("x1", x1s), widen("x2", x2s), nonnegative("r2", r2s)
    if x1.ndim < 1 or x1.size == 0 or x1.shape != x2.shape or r2.shape != x1.shape[:1]:
        raise InputError(f"x1, x2, r2: expected matching shapes, got {x1.shape}, {x2.shape}, {r2.shape}")
    if np.any((x1 < 0.0) | (x1 > 1.0)):
        raise InputError("x1: expected a point of the unit box, for which the formula is printed")
    x1, x2 = x1.reshape(len(x1), -1), x2.reshape(len(x2), -1)
    z = np.where(x1 > 0.5, 1.0, 0.0)
    across = (x2 - x1) ** 2
    cut = r2[:, None] ** 2 - (x2 - z) ** 2
    beside = np.sqrt(np.maximum(np.sum(across, axis=1, keepdims=True) - across, 0.0))
    radius_k = np.sqrt((z - x1) ** 2 + (np.sqrt(np.maximum(cut, 0.0)) - beside) ** 2)
    return np.asarray(np.max(np.where(cut >= 0.0, radius_k, 0.0), axis=1))
