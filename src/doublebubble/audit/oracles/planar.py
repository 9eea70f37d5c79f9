"""Oracles of any shape: a table of classes on the cells of a plane, and a union of slabs in any dimension."""

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv
from torch import Tensor

from doublebubble.audit.oracles.base import Oracle, box_of, distance_to_hyperplane
from doublebubble.audit.oracles.linear import phi
from doublebubble.audit.oracles.round import Intervals1D
from doublebubble.errors import SettingError
from doublebubble.types import Counts, Floats

_RAYS = 360
_REFINED = 12  # times the best rays are looked at more closely, each time at a quarter of the spacing
_CLOSE = 1e-9  # a gap of the quantiles below this is a tie


class PlanarTable(Oracle):
    """The class of an input is that of the cell in which its first two coordinates lie; the others do not matter.

    `xs` and `ys` are the inner edges of the cells; the outermost cells have no end. A probability is a sum of products
    of normal masses. The robust distance is found along rays by steps that no change of class can hide in (Fact L),
    and by ever closer rays around the best: from above, to about 1e-7 of itself.
    """

    def __init__(
        self, xs: npt.ArrayLike, ys: npt.ArrayLike, table: npt.ArrayLike, dimension: int = 2, scale: float = 1.0
    ) -> None:
        """`table[i, j]` is the class of the cell between xs[i - 1] and xs[i], and ys[j - 1] and ys[j]."""
        self._table: Counts = np.asarray(table, np.int64)
        super().__init__(dimension, int(self._table.max()) + 1, scale)
        self._edges = [np.asarray(edges, np.float64) for edges in (xs, ys)]
        if self._table.shape != tuple(len(edges) + 1 for edges in self._edges) or dimension < 2:
            raise SettingError(f"planar oracle: expected a class for each cell of a plane, got {self._table.shape}")
        if any(np.any(np.diff(edges) <= 0) for edges in self._edges) or set(self._table.ravel()) != set(
            range(self.num_classes)
        ):
            raise SettingError("planar oracle: expected edges that increase, and each class from 0 on in some cell")

    def scores(self, rows: Tensor) -> Tensor:
        """The distance to the border of the nearest cell of each class, positive inside: one class is above 0."""
        inside = []
        for axis, edges in enumerate(self._edges):
            ends = torch.tensor([-1e30, *edges, 1e30], dtype=rows.dtype, device=rows.device)
            value = rows[:, axis, None]
            inside.append(torch.minimum(value - ends[:-1], ends[1:] - value))
        depth = torch.minimum(inside[0][:, :, None], inside[1][:, None, :]).flatten(1)
        cells = torch.tensor(self._table.ravel(), device=rows.device)
        best = [depth[:, cells == k].amax(1) for k in range(self.num_classes)]
        return torch.stack(best, 1).clamp(-1e3, 1e3)

    def _masses(self, values: Floats, axis: int, sigma: float) -> Floats:
        """The noise's mass in each strip of one axis, (points, strips), each from the nearer tail."""
        ends = np.concatenate([[-np.inf], self._edges[axis], [np.inf]])
        z = (ends - values[:, None]) / sigma
        masses: Floats = np.where(z[:, :-1] > 0, Phi(-z[:, :-1]) - Phi(-z[:, 1:]), Phi(z[:, 1:]) - Phi(z[:, :-1]))
        return masses

    def _at(self, points: Floats, sigma: float) -> Floats:
        """The probabilities of all classes at points of the plane, (points, classes)."""
        across, up = (self._masses(points[:, axis], axis, sigma) for axis in (0, 1))
        found = [((across @ (self._table == k)) * up).sum(axis=1) for k in range(self.num_classes)]
        return np.stack(found, axis=1)

    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """Sums of products of normal masses."""
        found: Floats = self._at(self.point(x, sigma)[None, :2], sigma)[0]
        return found

    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """The masses of one axis times the densities at the ends of the other."""
        row = self.point(x, sigma)
        masses = [self._masses(row[[axis]], axis, sigma)[0] for axis in (0, 1)]
        ends = [np.concatenate([[-np.inf], edges, [np.inf]]) for edges in self._edges]
        slopes = [-np.diff(phi((ends[axis] - row[axis]) / sigma)) / sigma for axis in (0, 1)]
        cells = [np.outer(slopes[0], masses[1]), np.outer(masses[0], slopes[1])]
        gradient = np.zeros((self.num_classes, self.dimension))
        for axis in (0, 1):
            gradient[:, axis] = [cells[axis][self._table == k].sum() for k in range(self.num_classes)]
        return gradient

    def robust_distance(
        self, x: npt.ArrayLike, sigma: float, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None
    ) -> float:
        """The nearest change of class on many rays, and on more of them near the best."""
        row = self.point(x, sigma)
        lo, hi = box_of(row, low, high)
        start, top = row[:2], self.predicted(x, sigma)
        angles, spacing = np.linspace(0, 2 * np.pi, _RAYS, endpoint=False), 2 * np.pi / _RAYS
        found = self._walked(start, angles, top, sigma, lo[:2], hi[:2])
        for _ in range(_REFINED):
            best = angles[np.argsort(found)[:5]]
            spacing /= 4
            angles = (best[:, None] + spacing * np.arange(-4, 5)).ravel()
            found = self._walked(start, angles, top, sigma, lo[:2], hi[:2])
        return float(found.min())

    def _walked(self, start: Floats, angles: Floats, top: int, sigma: float, lo: Floats, hi: Floats) -> Floats:
        """How far the class stays ahead along each ray, infinity if it does to the end of the box or for 40 sigma."""
        way = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        way[np.abs(way) < 1e-15] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(way > 0, (hi - start) / way, np.where(way < 0, (lo - start) / way, np.inf))
        room = np.minimum(np.nanmin(np.where(np.isnan(ends), np.inf, ends), axis=1), 40 * sigma)
        gone, tied, going = np.zeros(len(angles)), np.zeros(len(angles), bool), np.ones(len(angles), bool)
        while going.any():
            p = np.clip(self._at(start + gone[going, None] * way[going], sigma), 1e-300, 1 - 1e-16)
            rival = np.delete(p, top, axis=1).max(axis=1)
            gap = 0.5 * (np.asarray(Phi_inv(p[:, top])) - np.asarray(Phi_inv(rival)))
            tied[going] = gap < _CLOSE
            gone[going] += sigma * np.maximum(gap, 0.0)
            going &= ~tied & (gone <= room)
        return np.where(tied & (gone <= room * (1 + 1e-12)), gone, np.inf)


class Slabs(Oracle):
    """Class 1 where w.x lies in a union of intervals, class 0 elsewhere: the profile along w has a closed form."""

    def __init__(self, w: npt.ArrayLike, intervals: list[tuple[float, float]], scale: float = 1.0) -> None:
        """The normal, of any length but 0, and intervals of w.x / |w|, apart from each other."""
        row = np.asarray(w, np.float64).ravel()
        super().__init__(len(row), 2, scale)
        self._w = row / np.linalg.norm(row)
        self._line = Intervals1D(intervals)
        self.constant("w", self._w)

    w: Tensor

    def scores(self, rows: Tensor) -> Tensor:
        """As on the line."""
        return self._line.scores((rows @ self.w.to(rows.dtype))[:, None])

    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """As on the line."""
        return self._line.probabilities([float(self._w @ self.point(x, sigma))], sigma)

    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """As on the line, along the normal."""
        slope = self._line.gradient([float(self._w @ self.point(x, sigma))], sigma)
        return slope * self._w

    def profile(self, x: npt.ArrayLike, sigma: float, z: Floats) -> Floats:
        """The probabilities of the classes given u.Z = z, u the unit normal, (points, classes): all 0 or 1."""
        level = float(self._w @ self.point(x, sigma))
        inside = self._line.scores(torch.from_numpy(level + sigma * np.atleast_1d(z))[:, None]).numpy()[:, 1] > 0
        return np.stack([~inside, inside], axis=-1).astype(np.float64)

    def robust_distance(
        self, x: npt.ArrayLike, sigma: float, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None
    ) -> float:
        """The distance within the box to the nearest plane on either side where the two are as likely."""
        row = self.point(x, sigma)
        lo, hi = box_of(row, low, high)
        level = float(self._w @ row)
        ends = ((None, level), (level, None))
        sides = [self._line.robust_distance([level], sigma, *each) for each in ends]
        found = [
            distance_to_hyperplane(row, self._w, level + sign * side, lo, hi)
            for sign, side in zip((-1, 1), sides, strict=True)
            if np.isfinite(side)
        ]
        return min(found, default=float("inf"))
