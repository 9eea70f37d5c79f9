"""Oracles that are not linear: a ball in any dimension, and a union of intervals on the line."""

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import brentq
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv
from scipy.stats import chi2, ncx2
from torch import Tensor

from doublebubble.audit.oracles.base import Oracle, box_of
from doublebubble.audit.oracles.linear import phi
from doublebubble.errors import InputError, SettingError
from doublebubble.types import Floats


class BallClassifier(Oracle):
    """Class 1 where |x - centre| < radius, class 0 elsewhere.

    |x + sigma Z - centre|^2 / sigma^2 is noncentral chi-square, so p_1 is its distribution function; it falls strictly
    in the distance rho from the centre, so g = 1 on a ball of radius rho*, p_1(rho*) = 1/2, or nowhere.
    """

    centre: Tensor

    def __init__(self, centre: npt.ArrayLike, radius: float, scale: float = 1.0) -> None:
        """The ball."""
        row = np.asarray(centre, np.float64).ravel()
        super().__init__(len(row), 2, scale)
        if not 0 < radius < np.inf:
            raise SettingError(f"ball oracle: expected a radius above 0, got {radius!r}")
        self._centre, self._radius = row, radius
        self.constant("centre", row)

    def scores(self, rows: Tensor) -> Tensor:
        """0 for class 0, and for class 1 (radius^2 - |x - centre|^2) / (2 radius), of slope 1 at the sphere."""
        inside = (self._radius**2 - (rows - self.centre.to(rows.dtype)).square().sum(1)) / (2 * self._radius)
        return torch.stack([torch.zeros_like(inside), inside], 1)

    def _at(self, rho: float, sigma: float) -> Floats:
        args = (self._radius / sigma) ** 2, self.dimension, (rho / sigma) ** 2
        return np.array([ncx2.sf(*args), ncx2.cdf(*args)])

    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """The noncentral chi-square distribution and its complement."""
        return self._at(float(np.linalg.norm(self.point(x, sigma) - self._centre)), sigma)

    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """d F(q; d, nc) / d nc = - f(q; d + 2, nc), along x - centre."""
        away = self.point(x, sigma) - self._centre
        density = ncx2.pdf((self._radius / sigma) ** 2, self.dimension + 2, away @ away / sigma**2)
        slope = -2 * density * away / sigma**2
        return np.stack([-slope, slope])

    def profile(self, x: npt.ArrayLike, sigma: float, z: Floats) -> Floats:
        """The probabilities of the classes given u.Z = z, u the way from the centre to x, (points, classes).

        What is left of the noise has a squared length of d - 1 degrees of freedom.
        """
        rho = float(np.linalg.norm(self.point(x, sigma) - self._centre))
        left = (self._radius / sigma) ** 2 - (rho / sigma + z) ** 2
        return np.stack([chi2.sf(left, self.dimension - 1), chi2.cdf(left, self.dimension - 1)], axis=-1)

    def robust_distance(
        self, x: npt.ArrayLike, sigma: float, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None
    ) -> float:
        """|rho - rho*| in space; in a box, the projection on the inner ball if x is outside of it.

        From inside it is known if the nearest point of the sphere is in the box, or no point of the box is outside the
        ball; otherwise an InputError.
        """
        row = self.point(x, sigma)
        lo, hi = box_of(row, low, high)
        if self._at(0.0, sigma)[1] <= 0.5:
            return float("inf")
        rho_star = self._boundary(sigma)
        rho = float(np.linalg.norm(row - self._centre))
        if rho >= rho_star:
            return self._from_outside(row, rho_star, lo, hi)
        if np.isinf([*lo, *hi]).all():
            return rho_star - rho
        corner = np.maximum(hi - self._centre, self._centre - lo)
        if np.linalg.norm(corner) < rho_star:
            return float("inf")
        touch = self._centre + (row - self._centre) * (rho_star / rho) if rho > 0 else np.full_like(row, np.inf)
        if ((lo <= touch) & (touch <= hi)).all():
            return rho_star - rho
        raise InputError("ball oracle: the robust distance from inside the ball is not known in this box")

    def _boundary(self, sigma: float) -> float:
        """rho*, which is below the radius: from a point of the sphere a half-space holds the whole ball."""
        if self._at(self._radius, sigma)[1] >= 0.5:  # by rounding, where noise hardly reaches the far side
            return self._radius
        return float(brentq(lambda rho: self._at(rho, sigma)[1] - 0.5, 0.0, self._radius, xtol=1e-13 * self._radius))

    def _from_outside(self, x: Floats, rho_star: float, lo: Floats, hi: Floats) -> float:
        """The projection on ball and box is clip(x + s (centre - x)) for some s in [0, 1]; its rho falls in s."""

        def excess(s: float) -> float:
            return float(np.linalg.norm(np.clip(x + s * (self._centre - x), lo, hi) - self._centre)) - rho_star

        if excess(1.0) > 0:
            return float("inf")
        s = float(brentq(excess, 0.0, 1.0, xtol=1e-15)) if excess(0.0) > 0 else 0.0
        return float(np.linalg.norm(np.clip(x + s * (self._centre - x), lo, hi) - x))


class Intervals1D(Oracle):
    """Class 1 on a union of disjoint intervals of the line (ends may be infinite), class 0 between them."""

    starts: Tensor
    ends: Tensor

    def __init__(self, intervals: list[tuple[float, float]], scale: float = 1.0) -> None:
        """Intervals (a, b), a < b, apart from each other."""
        super().__init__(1, 2, scale)
        edges = np.array(sorted(intervals), np.float64).ravel()
        if len(edges) == 0 or np.isnan(edges).any() or not (np.diff(edges) > 0).all() or np.isinf(edges).all():
            raise SettingError(f"intervals oracle: expected disjoint intervals (a, b) with a < b, got {intervals}")
        self._edges = edges
        self.constant("starts", edges[::2])
        self.constant("ends", edges[1::2])

    def scores(self, rows: Tensor) -> Tensor:
        """0 for class 0, and for class 1 the distance to the nearest end of the best interval, positive inside."""
        starts, ends = self.starts.to(rows.dtype), self.ends.to(rows.dtype)
        inside = torch.minimum(rows - starts, ends - rows).amax(1)
        return torch.stack([torch.zeros_like(inside), inside], 1)

    def _masses(self, x: float, sigma: float) -> tuple[float, float]:
        """The noise's mass on the gaps and on the intervals; each piece is taken from the nearer tail."""
        z = (np.concatenate([[-np.inf], self._edges, [np.inf]]) - x) / sigma
        pieces = np.where(z[:-1] > 0, Phi(-z[:-1]) - Phi(-z[1:]), Phi(z[1:]) - Phi(z[:-1]))
        return float(pieces[::2].sum()), float(pieces[1::2].sum())

    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """Sums of normal masses of the gaps and of the intervals."""
        return np.array(self._masses(float(self.point(x, sigma)[0]), sigma))

    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """The densities at the ends, with alternating signs."""
        z = (self._edges - self.point(x, sigma)[0]) / sigma
        slope = float((phi(z[::2]) - phi(z[1::2])).sum()) / sigma
        return np.array([[-slope], [slope]])

    def robust_distance(
        self, x: npt.ArrayLike, sigma: float, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None
    ) -> float:
        """The distance to the nearest x' where p_1 = 1/2, from below; a touch within 1e-10 counts.

        Found by walking both ways in steps that no change of class can hide in: Phi_inv(p) is 1/sigma-Lipschitz, so p
        stays on its side of 1/2 for sigma |Phi_inv(p)|. Beyond the outermost finite end half of the noise or more
        falls on the outer class, so that no change comes after it.
        """
        start = float(self.point(x, sigma)[0])
        lo, hi = box_of(np.array([start]), low, high)
        finite = self._edges[np.isfinite(self._edges)]
        left, right = max(float(lo[0]), float(finite.min())), min(float(hi[0]), float(finite.max()))
        return min(self._walk(start, -1.0, start - left, sigma), self._walk(start, 1.0, right - start, sigma))

    def _walk(self, start: float, direction: float, room: float, sigma: float) -> float:
        """How far p_1 stays off 1/2 in one direction, infinity if it does over all the room (none beyond the ends)."""
        gone = 0.0
        while gone <= room + 1e-9 * sigma:
            step = sigma * min(-float(Phi_inv(min(self._masses(start + direction * gone, sigma)))), 8.0)
            if step < 1e-10 * sigma:
                return gone
            gone += step
        return float("inf")
