"""The place of the noise within its cell, so that z = u.Z is normal on a line, and what its rounding costs.

May import streams, types and errors only.
"""

import math
from typing import Final

import numpy as np
import torch

from doublebubble.errors import SettingError
from doublebubble.noise.cells import Cells
from doublebubble.noise.lattice import Indices
from doublebubble.noise.words import FineUniforms
from doublebubble.streams import Stream
from doublebubble.types import Floats

ERROR: Final = 2.0**-48
"""A drawn Z is within ERROR * (1 + |Z|) of a number that has exactly the law of Z given its cell, but with
probability 2^-63 (N5)."""

_UNIT = 2.0**-53  # the rounding of one operation in float64
_FAR = 14.0  # P[|Z| > sqrt(d) + 14] <= exp(-98)


class Remainders:
    """Z given its cell, for the integers of one stream in order, in pieces of any size."""

    def __init__(self, stream: Stream, law: Cells) -> None:
        self._law = law
        self._uniforms = FineUniforms(stream, "lattice/remainder")

    def fill(self, indices: Indices, out: Floats) -> None:
        """Write Z given round(sigma Z / step) = indices: the distribution function, inverted within the cell (N5)."""
        uniforms, _ = self._uniforms.read(len(indices))
        side = np.abs(indices)
        tail = self._law.tails[side] + uniforms * self._law.masses[side]
        size = -torch.special.ndtri(torch.from_numpy(tail)).numpy()
        np.copyto(out, np.where(indices < 0, -size, size))


def line_coordinates(direction: Floats, normals: Floats) -> Floats:
    """u.Z for each row of normals, summed in about sqrt(d) blocks so that few roundings pile up (N6)."""
    dimension = len(direction)
    block = _block(dimension)
    padded = -(-dimension // block) * block
    products = np.zeros((len(normals), padded))
    np.multiply(normals, direction, out=products[:, :dimension])
    sums: Floats = products.reshape(len(normals), -1, block).sum(2).sum(1)
    return sums


def line_error(direction: Floats) -> float:
    """Computed u.Z is this near to a standard normal, but with probability exp(-98) + d 2^-63 for each draw (N6)."""
    dimension = len(direction)
    square = math.fsum(float(value) ** 2 for value in direction)
    if not abs(square - 1) < 1e-9:
        raise SettingError(f"direction: expected a unit vector, got one of length {math.sqrt(square):.12g}")
    norm = math.sqrt(dimension) + _FAR
    roundings = 2 * _block(dimension) + 3
    return 1.01 * (ERROR * (math.sqrt(dimension) + norm) + roundings * _UNIT * norm + (abs(square - 1) + _UNIT) * norm)


def edge_loss(direction: Floats, edges: int, draws: int) -> float:
    """With at most this probability rounding puts any of the draws into another bin: to be taken off alpha (N6)."""
    if edges < 0 or draws < 0:
        raise SettingError(f"expected edges >= 0 and draws >= 0, got {edges} and {draws}")
    far = math.exp(-(_FAR**2) / 2) + len(direction) * 2.0**-63
    return draws * (edges * 0.8 * line_error(direction) + far) * (1 + 2.0**-40)


def _block(dimension: int) -> int:
    return math.isqrt(dimension - 1) + 1
