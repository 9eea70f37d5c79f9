"""Classifiers of grid points, whose smoothed version is a sum over cells: the truth for certificates on a grid."""

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import ndtr as Phi
from torch import Tensor

from doublebubble.audit.coverage import Case, at
from doublebubble.audit.oracles import HalfSpace, Intervals1D, Slab
from doublebubble.audit.oracles.base import Oracle
from doublebubble.types import Counts, Floats

GRID, SIGMA = 4, 0.5  # two steps for each sigma: rounding to the grid changes every probability
_MESH = 161  # points along each axis of the unit square at which the truth is looked up


class Mosaic(Oracle):
    """Any class for any point of the grid, in two dimensions: the label of the nearest grid point, in rings of blobs.

    p_k(y) is the normal mass about y of the cells with label k, a sum with no rounding of its own to speak of. Beyond
    the labels the class is that of the nearest one.
    """

    def __init__(self, labels: Counts, first: int) -> None:
        """`labels[i, j]` belongs to the grid point (first + i, first + j), in steps."""
        super().__init__(2, int(labels.max()) + 1, scale=1.0)
        self.labels, self.first = labels, first

    def scores(self, rows: Tensor) -> Tensor:
        """1 for the class, 0 for the others."""
        places = torch.round(rows.double() * GRID).long() - self.first
        i, j = places.clamp(0, len(self.labels) - 1).unbind(1)
        labels = torch.from_numpy(self.labels)[i, j]
        return torch.nn.functional.one_hot(labels, self.num_classes).to(rows.dtype)

    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """The masses of the cells, added up by label."""
        one, two = (self._masses(value, sigma) for value in self.point(x, sigma))
        return np.array([one @ (self.labels == k) @ two for k in range(self.num_classes)])

    def _masses(self, value: float, sigma: float) -> Floats:
        inner = (self.first + np.arange(1, len(self.labels)) - 0.5) / GRID
        return np.diff(Phi((np.concatenate([[-np.inf], inner, [np.inf]]) - value) / sigma))

    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """Not asked for by any test."""
        raise NotImplementedError

    def robust_distance(
        self, x: npt.ArrayLike, sigma: float, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None
    ) -> float:
        """The nearest of many points of the unit square with another class: too far by the mesh at most."""
        assert (low, high) == (0.0, 1.0)
        row, axis = self.point(x, sigma), np.linspace(0.0, 1.0, _MESH)
        masses = np.stack([self._masses(value, sigma) for value in axis])
        all_p = np.stack([masses @ (self.labels == k) @ masses.T for k in range(self.num_classes)])
        other = all_p.argmax(0) != self.predicted(row, sigma)
        away = np.hypot(*np.meshgrid(axis - row[0], axis - row[1], indexing="ij"))
        return float(away[other].min()) if other.any() else float("inf")


def grid_cases() -> list[Case]:
    """Points of the grid, at faces and inside, where rounding to the grid changes nothing, and where it does."""
    edge = 0.5 / GRID  # half a step: the classes change between grid points, so these oracles are their own F
    first = np.array([1.0, 0.0, 0.0])
    rng = np.random.default_rng(4)
    blobs = np.kron(rng.integers(0, 3, (5, 5)), np.ones((3, 3), np.int64))
    rings = (np.add.outer(np.arange(15), np.arange(15)) // 4 % 2).astype(np.int64)
    box = (0.0, 1.0)
    return [
        Case("half-space on the grid", HalfSpace(first, -edge), at([0.5, 0.0, 1.0]), SIGMA, box),
        Case("half-space on the grid, blocked", HalfSpace(first, edge), at([0.0, 0.25, 0.5]), SIGMA, box),
        Case("slab on the grid", Slab(first, -3 * edge, 7 * edge), at([0.25, 0.5, 0.5]), 0.4, box),
        Case("intervals on the grid", Intervals1D([(-9 * edge, edge), (5 * edge, 11 * edge)]), at([1.0]), 0.3, box),
        Case("blobs", Mosaic(blobs, -5), at([0.5, 0.25]), SIGMA, box),
        Case("stripes", Mosaic(rings, -5), at([0.0, 0.5]), SIGMA, box),
        Case("stripes, close", Mosaic(rings, -5), at([0.5, 0.75]), SIGMA, box),
    ]
