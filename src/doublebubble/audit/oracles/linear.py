"""Oracles that look at projections of the input: half-space, K-class linear, slab. Exact within boxes too."""

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import brentq
from scipy.special import ndtr as Phi
from torch import Tensor

from doublebubble.audit.oracles.base import Oracle, box_of, distance_to_hyperplane
from doublebubble.errors import SettingError
from doublebubble.types import Floats


def phi(z: Floats) -> Floats:
    """The standard normal density."""
    density: Floats = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    return density


class LinearClassifier(Oracle):
    """argmax of W x + b over K classes, for W whose rows, less their mean, form a regular simplex of any size.

    Orthogonal rows of one length qualify, so does any W with K = 2. Only differences of scores matter; under noise they
    have the law of differences of m_k + tau Z_k with independent Z_k, where m = W x + b. Hence

        p_k = integral of phi(u) prod_{j != k} Phi(u + (m_k - m_j) / tau) du,                                      (O1)

    one integral of an entire function, which the trapezoidal rule gives to rounding. And g(x) = argmax m_k: exchanging
    Z_A and Z_B keeps the law and, if m_A > m_B, maps {B wins} into {A wins}, properly; so p_A > p_B if and only if
    m_A > m_B. The smoothed classifier is the linear one, and the robust distance is that to the nearest of the
    hyperplanes m_A = m_j.
    """

    W: Tensor
    b: Tensor

    def __init__(self, W: npt.ArrayLike, b: npt.ArrayLike, scale: float = 1.0) -> None:
        """W is (classes, dimension), b has one number for each class."""
        rows, offsets = np.asarray(W, np.float64), np.asarray(b, np.float64)
        if rows.ndim != 2 or len(rows) < 2 or offsets.shape != (len(rows),):
            raise SettingError(
                f"linear oracle: expected W (K, d) and b (K,), K >= 2, got {rows.shape}, {offsets.shape}"
            )
        K = len(rows)
        super().__init__(rows.shape[1], K, scale)
        centred = rows - rows.mean(0)
        gram = centred @ centred.T
        c2 = np.trace(gram) / (K - 1)
        if not c2 > 0 or np.abs(gram - c2 * (np.eye(K) - 1 / K)).max() > 1e-9 * c2:
            raise SettingError("linear oracle: the rows of W less their mean must form a regular simplex")
        self._W, self._b, self._c = rows, offsets, float(np.sqrt(c2))
        self.constant("W", rows)
        self.constant("b", offsets)

    def scores(self, rows: Tensor) -> Tensor:
        """W x + b."""
        return rows @ self.W.to(rows.dtype).T + self.b.to(rows.dtype)

    def _grid(self, x: npt.ArrayLike, sigma: float) -> tuple[Floats, Floats, Floats]:
        """The scaled margins (K, K), and nodes u centred for each k on where the integrand of (O1) is, (K, nodes)."""
        m = self._W @ self.point(x, sigma) + self._b
        delta = (m[:, None] - m[None, :]) / (sigma * self._c)
        # the integrand is below phi(u) Phi(u + least margin), whose bulk lies near minus half of a negative margin
        centre = np.maximum(0.0, -delta.min(1) / 2)
        half = 12 + centre
        steps = np.linspace(-1, 1, 1201)
        return delta, centre[:, None] + half[:, None] * steps, half * (steps[1] - steps[0])

    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """(O1) for every class."""
        delta, u, h = self._grid(x, sigma)
        K = self.num_classes
        p = np.empty(K)
        for k in range(K):
            factors = Phi(u[k] + np.delete(delta[k], k)[:, None])
            p[k] = h[k] * (phi(u[k]) * factors.prod(0)).sum()
        return p

    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """Differentiates (O1) under the integral; p depends on x through the margins only."""
        delta, u, h = self._grid(x, sigma)
        K = self.num_classes
        by_score = np.zeros((K, K))  # derivative of p_k with respect to m_j
        for k in range(K):
            for j in range(K):
                if j != k:
                    rest = Phi(u[k] + delta[k, [i for i in range(K) if i not in (j, k)]][:, None]).prod(0)
                    by_score[k, j] = -h[k] * (phi(u[k]) * phi(u[k] + delta[k, j]) * rest).sum() / (sigma * self._c)
            by_score[k, k] = -by_score[k].sum()
        return by_score @ self._W

    def predicted(self, x: npt.ArrayLike, sigma: float) -> int:
        """argmax m_k, which is argmax p_k."""
        return int(np.argmax(self._W @ self.point(x, sigma) + self._b))

    def robust_distance(
        self, x: npt.ArrayLike, sigma: float, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None
    ) -> float:
        """The distance within the box to the nearest hyperplane m_A = m_j."""
        row = self.point(x, sigma)
        lo, hi = box_of(row, low, high)
        a = self.predicted(row, sigma)
        return min(
            distance_to_hyperplane(row, self._W[a] - self._W[j], self._b[j] - self._b[a], lo, hi)
            for j in range(self.num_classes)
            if j != a
        )


class HalfSpace(LinearClassifier):
    """Class 1 where w.x + b > 0, class 0 elsewhere: p_1 = Phi((w.x + b) / (sigma |w|))."""

    def __init__(self, w: npt.ArrayLike, b: float, scale: float = 1.0) -> None:
        """W is the normal, of any length but 0."""
        w = np.asarray(w, np.float64).ravel()
        super().__init__(np.stack([-w / 2, w / 2]), np.array([-b / 2, b / 2]), scale)
        self._w, self._offset, self._length = w, b, float(np.linalg.norm(w))

    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """Phi of the signed distance over sigma."""
        t = (self._w @ self.point(x, sigma) + self._offset) / (sigma * self._length)
        return np.array([Phi(-t), Phi(t)])

    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """phi of the same, along the normal."""
        t = (self._w @ self.point(x, sigma) + self._offset) / (sigma * self._length)
        slope = phi(t) / (sigma * self._length) * self._w
        return np.stack([-slope, slope])


class Slab(Oracle):
    """Class 1 where lo < w.x < hi, class 0 elsewhere.

    p_1 depends on u = |w.x - (lo + hi)/2| and falls strictly in it, so g = 1 on a slab of half-width u*, p_1(u*) = 1/2,
    and nowhere if p_1(0) <= 1/2. A way to the far plane crosses the near one.
    """

    w: Tensor

    def __init__(self, w: npt.ArrayLike, lo: float, hi: float, scale: float = 1.0) -> None:
        """W is the normal, of any length but 0; lo < hi are values of w.x."""
        w = np.asarray(w, np.float64).ravel()
        super().__init__(len(w), 2, scale)
        if not (lo < hi and np.linalg.norm(w) > 0 and np.isfinite([lo, hi]).all()):
            raise SettingError(f"slab oracle: expected a normal and finite lo < hi, got lo {lo!r}, hi {hi!r}")
        self._w, self._lo, self._hi, self._length = w, lo, hi, float(np.linalg.norm(w))
        self.constant("w", w)

    def scores(self, rows: Tensor) -> Tensor:
        """0 for class 0, and for class 1 the distance to the nearer face, positive inside: gradients lead inwards."""
        s = rows @ self.w.to(rows.dtype)
        inside = torch.minimum(s - self._lo, self._hi - s) / self._length
        return torch.stack([torch.zeros_like(inside), inside], 1)

    def _faces(self, level: float, sigma: float) -> tuple[float, float]:
        spread = sigma * self._length
        return (self._lo - level) / spread, (self._hi - level) / spread

    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """P[lo < w.(x + sigma Z) < hi] and its complement."""
        a, b = self._faces(float(self._w @ self.point(x, sigma)), sigma)
        return np.array([Phi(a) + Phi(-b), Phi(b) - Phi(a) if a < 0 else Phi(-a) - Phi(-b)])

    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """The difference of the densities at the faces, along the normal."""
        a, b = self._faces(float(self._w @ self.point(x, sigma)), sigma)
        densities = phi(np.array([a, b]))
        slope = (densities[0] - densities[1]) / (sigma * self._length) * self._w
        return np.stack([-slope, slope])

    def robust_distance(
        self, x: npt.ArrayLike, sigma: float, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None
    ) -> float:
        """The distance within the box to the planes where p_1 = 1/2."""
        row = self.point(x, sigma)
        lo, hi = box_of(row, low, high)
        middle, width = (self._lo + self._hi) / 2, (self._hi - self._lo) / 2

        def surplus(u: float) -> float:
            a, b = self._faces(middle + u, sigma)
            return float(Phi(b) - Phi(a) - 0.5)

        if surplus(0.0) <= 0:
            return float("inf")
        u_star = float(brentq(surplus, 0.0, width, xtol=1e-14 * width))  # at the face at most half the draws are inside
        return min(distance_to_hyperplane(row, self._w, middle + side * u_star, lo, hi) for side in (-1, 1))
