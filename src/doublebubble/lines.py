"""A line through a centre and bins along it: in which bin does u0.Z of a draw fall? (R2), with its rounding (N6).

May import geometry, types and errors.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from doublebubble.errors import SettingError
from doublebubble.geometry.profile.cost import checked_edges
from doublebubble.types import Floats

_UNIT = 2.0**-49  # how far |u0|^2 may be from 1; the check itself errs by 2^-52
_BEYOND = 14.0  # |Z| exceeds sqrt(d) by more with probability at most e^-98


@dataclass(frozen=True, eq=False)
class Line:
    """A unit vector u0, flattened, and the inner edges of bins of z = u0.Z; fixed before the draws.

    Bin j holds edges[j - 1] <= z < edges[j], so that every z lies in exactly one.
    """

    direction: Floats
    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        checked_edges(self.edges)
        if self.direction.ndim != 1 or self.direction.dtype != np.float64:
            raise SettingError(f"line: expected a flat vector of float64, got {self.direction.shape}")
        square = math.fsum((self.direction * self.direction).tolist())
        if not abs(square - 1) <= _UNIT / 2:
            raise SettingError(f"line: expected a unit vector, got one of squared length {square!r}")

    @classmethod
    def along(cls, vector: Floats, edges: tuple[float, ...]) -> Self:
        """The line along a vector that is not 0, of any length."""
        return cls(unit_vector(vector), edges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bytes, tuple[float, ...]]:
        return self.direction.tobytes(), self.edges

    @property
    def bins(self) -> int:
        """How many bins there are, the two unbounded ones included."""
        return len(self.edges) + 1

    def places(self, noise: Tensor) -> Tensor:
        """The bin of each row of noise, (rows, d) in float64."""
        edges = torch.tensor(self.edges, dtype=torch.float64, device=noise.device)
        return torch.bucketize(projection(noise, self.direction), edges, right=True)

    def misplaced(self, n: int) -> float:
        """A bound on the probability that rounding puts any of n draws into a wrong bin: to be taken off alpha (N6)."""
        return misplaced(len(self.direction), len(self.edges), n)

    def off(self, vector: Floats) -> Floats:
        """The part of a vector at right angles to the line, to 2^-47 of its length."""
        along = math.fsum((self.direction * vector).tolist())
        rest: Floats = vector - along * self.direction
        return rest


def unit_vector(vector: Floats) -> Floats:
    """The direction of a vector that is not 0, of any length, flattened."""
    flat = np.asarray(vector, np.float64).reshape(-1)
    largest = float(np.abs(flat).max(initial=0.0))
    if not 0 < largest < math.inf:
        raise SettingError(f"line: expected a finite vector that is not 0, got one with an entry of {largest}")
    scaled = flat / largest
    unit: Floats = scaled / math.sqrt(math.fsum((scaled * scaled).tolist()))
    return unit


def projection(noise: Tensor, direction: Floats) -> Tensor:
    """The products of rows of noise, (rows, d) in float64, with a vector.

    Summed in about sqrt(d) blocks of as many, so that no product goes through more than 2 b roundings, in whatever
    order a block is summed.
    """
    vector = torch.from_numpy(direction).to(noise.device)
    if noise.dtype != torch.float64 or noise.shape[1:] != vector.shape:
        raise SettingError(f"line: expected rows of {len(vector)} float64 numbers, got {tuple(noise.shape)}")
    b = _block(len(vector))
    whole = len(vector) // b * b
    products = noise * vector
    return products[:, :whole].reshape(len(noise), -1, b).sum(2).sum(1) + products[:, whole:].sum(1)


def misplaced(dim: int, edges: int, n: int) -> float:
    """The same before there is a line, from the dimension and the number of inner edges."""
    root, b = math.sqrt(dim), _block(dim)
    error = 2.0**-48 * (2 * root + _BEYOND)
    error += ((2 * b + 3) * 2.0**-53 + _UNIT + 2.0**-53) * (root + _BEYOND)
    each = 0.8 * 1.01 * error * edges + math.exp(-98) + dim * 2.0**-63
    return n * each * (1 + 1e-12)


def _block(dim: int) -> int:
    return math.isqrt(dim - 1) + 1
