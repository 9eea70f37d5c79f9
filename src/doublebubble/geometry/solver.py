"""Good multipliers for the dual bound: maximise the concave G of (D1) over lambda >= 0.

Nothing here is trusted: whatever multipliers come out, dual.py turns them into a valid radius. A poor answer costs
radius, never soundness. Numpy only; no model, no randomness.
"""

import numpy as np

from doublebubble.geometry.box import Box
from doublebubble.geometry.dual import LEAST_LEADING, Dual
from doublebubble.types import Floats

_GAP = 1e-9  # in a box, stop when the duality gap is this part of the scale
_FREE_GAP = 1e-12  # in R^d, where steps cost next to nothing
_RESIDUAL = 1e-6  # also: stationarity must hold to this part of it
_STEPS = 60  # Newton steps; 10 to 20 are usual
_FALL = 0.1  # the barrier falls to this part of itself once a step lands near the central path
_INSIDE = 0.9  # part of the way to the edge of the feasible set that one step may go


class DualProblem:
    """(D7): maximise k.mu + sum_j min over y_j in the box of q y_j^2 + 2 (mu C)_j y_j, mu >= 0, q = 1 + e.mu >= floor.

    A ball is a row with e = -1, C = c_i, k = r_i^2 - d_i^2. The chord row has e = +1: it stands for q < 0. Sums over
    coordinates are einsum's, whose order does not depend on a number of threads; large arrays are made once.
    """

    def __init__(self, C: Floats, k: Floats, e: Floats, box: Box, floor: float) -> None:
        self.C, self.k, self.e, self.box, self.floor = C, k, e, box, floor
        self._w, self.y, self._A = np.empty(C.shape[1]), np.empty(C.shape[1]), np.empty_like(C)
        self._inside, self._below = np.empty(C.shape[1], dtype=np.bool_), np.empty(C.shape[1], dtype=np.bool_)

    def value(self, mu: Floats, q: float) -> float:
        """The function at mu, q > 0; leaves the point where its minimum is in y."""
        w, y = self._w, self.y
        np.einsum("i,ij->j", mu, self.C, out=w)
        np.multiply(w, -1.0 / q, out=y)
        self.box.clip(y)
        return float(mu @ self.k) + q * float(np.einsum("j,j->", y, y)) + 2.0 * float(np.einsum("j,j->", w, y))

    def slopes(self) -> Floats:
        """The gradient at the last mu."""
        y = self.y
        return np.asarray(self.k + self.e * np.einsum("j,j->", y, y) + 2.0 * np.einsum("ij,j->i", self.C, y))

    def curvature(self, q: float) -> Floats:
        """Minus the generalised Hessian at the last mu: only coordinates strictly between their ends contribute."""
        np.less(self.box.below, self.y, out=self._below)
        np.less(self.y, self.box.above, out=self._inside)
        self._inside &= self._below
        A = np.multiply(self.e[:, None], self.y, out=self._A)
        A += self.C
        A *= self._inside
        return np.asarray(np.einsum("ij,kj->ik", A, A) * (2.0 / q))


@np.errstate(all="ignore")  # at the ends of the floating range steps fail and the last multipliers stand
def best_multipliers(dual: Dual) -> tuple[Floats, Floats | None]:
    """Multipliers near the maximum of G, and the saddle point as an offset from x1 (None in R^d, where s < 1)."""
    k, e = dual.excess, -np.ones(len(dual.r))
    if dual.box.free:
        R: Floats = np.asarray(np.linalg.qr(dual.c.T, mode="r"))  # the same distances in at most m dimensions
        everywhere = Box(np.full(len(R), -np.inf), np.full(len(R), np.inf))
        problem = DualProblem(np.ascontiguousarray(R.T), k, e, everywhere, LEAST_LEADING * 1.000001)
        return _ascend(problem, np.inf, _FREE_GAP), None
    enough = 1.001 * dual.farthest_squared[1]
    problem = DualProblem(dual.c, k, e, dual.box, 0.0)
    lam = _ascend(problem, enough, _GAP)
    a, b, y = dual.box.below, dual.box.above, problem.y
    chord = float(np.einsum("j,j->", a, y) + np.einsum("j,j->", b, y) - np.einsum("j,j->", a, b))
    if max(float(np.einsum("j,j->", y, y)), float(np.max(k + 2.0 * np.einsum("ij,j->i", dual.c, y)))) <= chord:
        return lam, y
    ends = float(np.einsum("j,j->", a, b))
    problem = DualProblem(np.vstack([dual.c, -0.5 * (a + b)]), np.append(k, ends), np.append(e, 1.0), dual.box, 0.0)
    return _ascend(problem, enough, _GAP)[:-1], problem.y


def _ascend(problem: DualProblem, enough: float, least_gap: float) -> Floats:
    """A primal-dual interior-point method in the multipliers alone; each step costs O(m^2 d). Leaves y in problem.

    v = (mu, q - floor) stays positive, z are its multipliers. Stops early once the function exceeds `enough`: it is
    then unbounded.
    """
    m, scale = len(problem.k), float(np.max(problem.k))
    v = np.full(m + 1, 1.0 / (m + 1))
    v[m] = 1.0 + float(problem.e @ v[:m]) - problem.floor
    z = np.full(m + 1, scale)
    T = np.vstack([np.eye(m), problem.e])  # how v follows mu
    G, eps = problem.value(v[:m], v[m] + problem.floor), scale
    for _ in range(_STEPS):
        gap, slopes = float(v @ z), problem.slopes()
        residual = float(np.max(np.abs(slopes + z @ T)))
        if enough < G or (gap <= least_gap * scale and residual <= _RESIDUAL * scale):
            break
        if residual * max(1.0, float(np.max(v))) <= max(3.0 * gap, _RESIDUAL * scale):  # else the path is not near
            eps = _FALL * gap / (m + 1)
        ascent = slopes + (eps / v) @ T
        D = np.sqrt(v[:m] / z[:m])
        B = problem.curvature(v[m] + problem.floor) + np.outer(problem.e, problem.e * (z[m] / v[m]))
        try:
            step = D * np.linalg.solve(np.eye(m) + D[:, None] * B * D, D * ascent)
        except np.linalg.LinAlgError:  # rounding has used up what could be gained
            break
        dv = T @ step
        dz = eps / v - z - z / v * dv
        new, G = _search_line(problem, v, dv, G, eps, 1e-4 * float(ascent @ step))
        if new is None:  # the path was lost: back to a smoother barrier
            eps *= 10.0
            z = eps / v
            problem.value(v[:m], v[m] + problem.floor)
        else:
            v, z = new, z + _reach(z, dz) * dz
    problem.value(v[:m], v[m] + problem.floor)
    return v[:m]


def _search_line(
    problem: DualProblem, v: Floats, dv: Floats, G: float, eps: float, rise: float
) -> tuple[Floats | None, float]:
    """Halve the step until the barrier function rises enough; None if rounding hides every rise."""
    t = _reach(v, dv)
    barrier = G + eps * float(np.sum(np.log(v))) - 1e-15 * abs(G)
    for _ in range(30):
        new = v + t * dv
        new[-1] = 1.0 + float(problem.e @ new[:-1]) - problem.floor
        if new[-1] > 0.0:
            G_new = problem.value(new[:-1], new[-1] + problem.floor)
            if G_new + eps * float(np.sum(np.log(new))) >= barrier + t * rise:
                return new, G_new
        t *= 0.5
    return None, G


def _reach(values: Floats, step: Floats) -> float:
    """The longest step up to 1 that keeps every value positive."""
    worst = float(np.min(step / values))
    return 1.0 if worst >= -_INSIDE else -_INSIDE / worst
