"""Good multipliers for the dual bound: maximise the concave G of (D1) over lambda >= 0.

Nothing here is trusted: whatever multipliers come out, dual.py turns them into a valid radius. A poor answer costs
radius, never soundness. Numpy only; no model, no randomness.
"""

from dataclasses import dataclass

import numpy as np

from doublebubble.geometry.box import Box
from doublebubble.geometry.dual import LEAST_LEADING, Dual
from doublebubble.types import Floats

_GAP = 1e-11  # stop when the duality gap is this part of the scale, and
_RESIDUAL = 1e-6  # stationarity holds to this part of it
_STEPS = 60  # Newton steps; about 15 are usual
_FALL = 0.03  # the barrier falls to this part of itself once a step lands near the central path
_INSIDE = 0.995  # part of the way to the edge of the feasible set that one step may go


@dataclass(frozen=True, eq=False)
class Rows:
    """(D7): maximise k.mu + sum_j min over y_j in the box of q y_j^2 + 2 (mu C)_j y_j, mu >= 0, q = 1 + e.mu >= floor.

    A ball is a row with e = -1, C = c_i, k = r_i^2 - d_i^2. The chord row has e = +1: it stands for q < 0.
    """

    C: Floats
    k: Floats
    e: Floats
    box: Box
    floor: float

    def value(self, mu: Floats, q: float) -> tuple[float, Floats]:
        """The function at mu, and the point y where its minimum is; q > 0."""
        w = mu @ self.C
        y = self.box.clip(w * (-1.0 / q))
        return float(mu @ self.k + q * (y @ y) + 2.0 * (w @ y)), y

    def slopes(self, y: Floats) -> Floats:
        """The gradient where y is the minimiser."""
        return np.asarray(self.k + self.e * (y @ y) + 2.0 * (self.C @ y))

    def curvature(self, y: Floats, q: float) -> Floats:
        """Minus the generalised Hessian: only coordinates strictly between their ends contribute."""
        A = self.C + self.e[:, None] * y
        A *= (y > self.box.below) & (y < self.box.above)
        return np.asarray(A @ A.T * (2.0 / q))


def best_multipliers(dual: Dual) -> tuple[Floats, Floats | None]:
    """Multipliers near the maximum of G, and the saddle point as an offset from x1 (None in R^d, where s < 1)."""
    k, e = dual.excess, -np.ones(len(dual.r))
    if dual.box.free:
        R: Floats = np.asarray(np.linalg.qr(dual.c.T, mode="r"))  # the same distances in at most m dimensions
        everywhere = Box(np.full(len(R), -np.inf), np.full(len(R), np.inf))
        lam, _ = _ascend(Rows(np.ascontiguousarray(R.T), k, e, everywhere, LEAST_LEADING * 1.000001), np.inf)
        return lam, None
    enough = 1.001 * dual.farthest_squared()[1]
    lam, y = _ascend(Rows(dual.c, k, e, dual.box, 0.0), enough)
    a, b = dual.box.below, dual.box.above
    chord = float((a + b) @ y - a @ b)
    if max(float(y @ y), float(np.max(k + 2.0 * (dual.c @ y)))) <= chord:
        return lam, y
    rows = Rows(np.vstack([dual.c, -0.5 * (a + b)]), np.append(k, a @ b), np.append(e, 1.0), dual.box, 0.0)
    mu, y = _ascend(rows, enough)
    return mu[:-1], y


def _ascend(rows: Rows, enough: float) -> tuple[Floats, Floats]:
    """A primal-dual interior-point method in the multipliers alone; each step costs O(m^2 d).

    Stops early once the function exceeds `enough`: it is then unbounded.
    """
    m, scale = len(rows.k), float(np.max(rows.k))
    mu = np.full(m, 1.0 / (m + 1))
    room = 1.0 + float(rows.e @ mu) - rows.floor
    sigma, pi = np.full(m, scale), scale  # multipliers of mu >= 0 and of q >= floor
    G, y = rows.value(mu, room + rows.floor)
    eps = scale
    for _ in range(_STEPS):
        gap = float(mu @ sigma) + room * pi
        slopes = rows.slopes(y)
        residual = float(np.max(np.abs(slopes + sigma + rows.e * pi)))
        if enough < G or (gap <= _GAP * scale and residual <= _RESIDUAL * scale):
            break
        if residual * max(1.0, float(np.max(mu))) <= 3.0 * gap:  # else stay at this eps until the path is near
            eps = _FALL * gap / (m + 1)
        ascent = slopes + eps / mu + rows.e * (eps / room)
        D = np.sqrt(mu / sigma)
        B = rows.curvature(y, room + rows.floor) + np.outer(rows.e, rows.e) * (pi / room)
        try:
            step = D * np.linalg.solve(np.eye(m) + D[:, None] * B * D, D * ascent)
        except np.linalg.LinAlgError:  # rounding has used up what could be gained
            break
        found = _search_line(rows, mu, room, G, eps, ascent, step)
        if found is None:
            break
        turn = float(rows.e @ step)
        d_sigma, d_pi = eps / mu - sigma - sigma / mu * step, eps / room - pi - pi / room * turn
        mu, room, G, y = found
        t = _reach(np.append(sigma, pi), np.append(d_sigma, d_pi))
        sigma, pi = sigma + t * d_sigma, pi + t * d_pi
    return mu, y


def _search_line(
    rows: Rows, mu: Floats, room: float, G: float, eps: float, ascent: Floats, step: Floats
) -> tuple[Floats, float, float, Floats] | None:
    """Halve the step until the barrier function rises enough; None if rounding hides every rise."""
    t = _reach(np.append(mu, room), np.append(step, rows.e @ step))
    barrier = G + eps * float(np.sum(np.log(mu)) + np.log(room))
    rise = 1e-4 * float(ascent @ step)
    for _ in range(30):
        new = mu + t * step
        new_room = 1.0 + float(rows.e @ new) - rows.floor
        if new_room > 0.0:
            G_new, y = rows.value(new, new_room + rows.floor)
            if G_new + eps * float(np.sum(np.log(new)) + np.log(new_room)) >= barrier + t * rise - 1e-15 * abs(G):
                return new, new_room, G_new, y
        t *= 0.5
    return None


def _reach(value: Floats, step: Floats) -> float:
    """The longest step up to 1 that keeps every value positive."""
    falling = step < 0.0
    return min(1.0, _INSIDE * float(np.min(-value[falling] / step[falling], initial=np.inf)))
