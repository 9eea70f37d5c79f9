"""What geometry accepts: arrays or tensors of any floating dtype, widened without loss to float64 and flattened.

Every refusal is an InputError that names the argument. Tensors are recognised by their methods; torch is not imported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from doublebubble.errors import InputError
from doublebubble.types import Floats

LARGEST = 1e90  # larger magnitudes are refused: their squares, times multipliers, could overflow


@runtime_checkable
class _Tensor(Protocol):
    """The few methods of a torch tensor that are needed to read it."""

    def detach(self) -> "_Tensor": ...
    def cpu(self) -> "_Tensor": ...
    def double(self) -> "_Tensor": ...
    def is_floating_point(self) -> bool: ...
    def numpy(self) -> npt.NDArray[np.generic]: ...


Values: TypeAlias = npt.ArrayLike | _Tensor
"""An array, anything numpy makes one of, or a tensor on any device."""

Points: TypeAlias = Sequence[Values] | npt.NDArray[np.generic] | _Tensor
"""Several of them: in a sequence, or along the first axis of one array or tensor."""


@dataclass(frozen=True, eq=False)
class Balls:
    """x1, the centres and radii, and the domain, all flat and float64; low is None in R^d."""

    x1: Floats
    centres: Floats
    radii: Floats
    low: Floats | None
    high: Floats | None


def widen(name: str, values: Values) -> Floats:
    """The same numbers in float64, in their own shape; finite and at most LARGEST in magnitude."""
    if not isinstance(values, np.ndarray | float | list) and isinstance(values, _Tensor):
        tensor = values.detach().cpu()
        values = (tensor.double() if tensor.is_floating_point() else tensor).numpy()
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise InputError(f"{name}: expected real numbers of at most 64 bits, got dtype {array.dtype}")
    wide = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    if array.dtype.kind in "iu" and array.size and max(-int(array.min()), int(array.max())) > 2**53:
        raise InputError(f"{name}: expected integers of at most 53 bits, which float64 holds exactly")
    if wide.size and not (wide.min() >= -LARGEST and wide.max() <= LARGEST):  # NaN fails it too
        raise InputError(f"{name}: expected finite numbers of magnitude at most {LARGEST:g}, got others")
    return wide


def nonnegative(name: str, values: Values) -> Floats:
    """Widened numbers that are all >= 0."""
    wide = widen(name, values)
    if np.any(wide < 0.0):
        raise InputError(f"{name}: expected numbers >= 0, got {float(np.min(wide))!r}")
    return wide


def read_balls(x1: Values, centres: Points, radii: Values, low: Values | None, high: Values | None) -> Balls:
    """Check everything that the dual bound needs, once."""
    point = widen("x1", x1)
    if point.size == 0:
        raise InputError(f"x1: expected at least one number, got shape {point.shape}")
    r = nonnegative("radii", radii)
    if r.ndim != 1:
        raise InputError(f"radii: expected one number per ball in one dimension, got shape {r.shape}")
    points = _stack(centres, point.shape)
    if len(points) != len(r):
        raise InputError(f"radii: expected one per centre, got {len(r)} radii for {len(points)} centres")
    ends = _read_box(point, low, high)
    return Balls(point.reshape(-1), points, r, *ends)


def _stack(centres: Points, shape: tuple[int, ...]) -> Floats:
    """The centres as rows; each must have the shape of x1."""
    size = int(np.prod(shape))
    if isinstance(centres, np.ndarray | _Tensor):
        stacked = widen("centres", centres)
        if stacked.shape[1:] != shape or stacked.ndim != len(shape) + 1:
            raise InputError(f"centres: expected one or more of the shape of x1, {shape}, got {stacked.shape}")
        return stacked.reshape(len(stacked), size)
    rows = [widen(f"centre {i}", centre) for i, centre in enumerate(centres)]
    for i, row in enumerate(rows):
        if row.shape != shape:
            raise InputError(f"centre {i}: expected the shape of x1, {shape}, got {row.shape}")
    return np.stack(rows).reshape(len(rows), size) if rows else np.empty((0, size))


def _read_box(x1: Floats, low: Values | None, high: Values | None) -> tuple[Floats | None, Floats | None]:
    if low is None and high is None:
        return None, None
    if low is None or high is None:
        raise InputError("low, high: expected both for a box or neither for R^d, got one of them")
    ends = []
    for name, end in (("low", widen("low", low)), ("high", widen("high", high))):
        if end.shape not in ((), x1.shape):
            raise InputError(f"{name}: expected a number or the shape of x1, {x1.shape}, got {end.shape}")
        ends.append(np.broadcast_to(end, x1.shape).reshape(-1))
    flat = x1.reshape(-1)
    if np.any(ends[0] > ends[1]):
        raise InputError("low, high: expected low <= high everywhere")
    outside = (flat < ends[0]) | (flat > ends[1])
    if outside.any():
        k = int(np.argmax(outside))
        found, low_k, high_k = float(flat[k]), float(ends[0][k]), float(ends[1][k])
        raise InputError(f"x1: expected a point of the box, got {found} outside [{low_k}, {high_k}] at flat index {k}")
    return ends[0], ends[1]
