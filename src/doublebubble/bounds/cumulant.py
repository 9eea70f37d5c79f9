"""How fast the exponential moments of (vote weight) x (noise) can grow, whatever regions the votes occupy: (F3).

Closed forms and one-dimensional roots in float64. No torch, no model, no randomness. Values are upper bounds: they
come from weak duality, which holds for any multiplier, and inexact roots are paid for by their residuals.
"""

from collections.abc import Callable
from math import exp, expm1, inf, log

from scipy.optimize import brentq
from scipy.special import ndtri

from doublebubble.geometry.first_order import Phi, phi

_FAR = 9.0  # tails beyond this are bounded, not integrated: they hold less than (up - down) phi(9) < 1e-17
_STEEPEST = 2.0  # no useful bound needs a larger s
_RELATIVE, _ABSOLUTE = 4e-14, 1e-15  # rounding of the terms of one integral


def cumulant(s: float, offset: float, q_not_a: float, q_rival: float) -> float:
    """Return an upper bound psi(s) on E[exp(s X) - 1 - s X], X = (weight)(u . Z), for every unit vector u, (F3).

    Weights are -offset for A, 2 - offset for B and 1 - offset for other votes, 0 <= offset <= 1. It holds whatever the
    regions of the votes, given P(not A) <= q_not_a and P(B) <= q_rival. Infinite where s is too large to be of use.
    """
    if not s <= _STEEPEST:
        return inf
    c0, Q = offset, min(q_not_a, 1.0)
    q = min(q_rival, Q)
    first = tail_supremum(s * (1 - c0), -s * c0, Q)
    if c0 >= 0.5:
        votes = first + tail_supremum(s * (2 - c0), -s * c0, q)
    else:
        stepwise = first + tail_supremum(s * (2 - c0), s * (1 - c0), q)
        votes = min(stepwise, tail_supremum(s * (2 - c0), -s * c0, 0.5 * (Q + q)))
    return expm1(0.5 * (s * c0) ** 2) * (1 + _RELATIVE) + votes


def tail_supremum(up: float, down: float, q: float) -> float:
    """Return an upper bound on the integral of h phi over every set of Gaussian mass at most q.

    Here h(z) = exp(up z) - exp(down z) - (up - down) z with up > down and up >= 0. For every mu >= 0 the value
    mu q + integral of (h - mu)_+ phi is such a bound; mu is placed near the best one.
    """
    if up <= 0 or q <= 0:  # up = 0 makes h <= 0
        return 0.0
    curve = _Curve(up, down)
    if up < -down:  # h < 0 on the left; on the right it dips below 0, turns and rises
        turn = log(-down / up) / (up - down)
        if turn >= _FAR or curve.h(_FAR) <= 0:  # h > 0 only beyond 9, where it is below exp(up z)
            return exp(0.5 * up * up) * Phi(up - _FAR) * (1 + _RELATIVE)
        return _dual(curve, q, max(_root(curve.h, turn, _FAR), -float(ndtri(q))))[0]
    a = -float(ndtri(0.5 * q))
    best, mass = _dual(curve, q, a)
    for _ in range(2):  # the dual is flat about its optimum: two corrections of the mass suffice
        a = max(0.0, a + (mass - q) / (2 * phi(a)))
        value, mass = _dual(curve, q, a)
        best = min(best, value)
    return best


class _Curve:
    """h, with what does not depend on z computed once: forecasts evaluate it a thousand times for each input."""

    __slots__ = ("apart", "down", "exp_down", "exp_up", "up")

    def __init__(self, up: float, down: float) -> None:
        self.up, self.down, self.apart = up, down, up - down
        self.exp_up, self.exp_down = exp(0.5 * up * up), exp(0.5 * down * down)

    def h(self, z: float) -> float:
        return exp(self.up * z) - exp(self.down * z) - self.apart * z

    def slope(self, z: float) -> float:
        return self.up * exp(self.up * z) - self.down * exp(self.down * z) - self.apart

    def integral(self, low: float, high: float, mu: float) -> float:
        """Return the integral of (h - mu) phi from low to high, rounded up."""
        up, down, apart = self.up, self.down, self.apart
        if low > 0:  # keep to the accurate tail of Phi
            low, high, up, down, apart = -high, -low, -up, -down, -apart
        terms = (
            self.exp_up * (Phi(high - up) - Phi(low - up)),
            -self.exp_down * (Phi(high - down) - Phi(low - down)),
            apart * (phi(high) - phi(low)),
            -mu * (Phi(high) - Phi(low)),
        )
        return sum(terms) + _RELATIVE * sum(map(abs, terms))


def _dual(curve: _Curve, q: float, a: float) -> tuple[float, float]:
    """Return the dual value at mu = h(a), rounded up, and the mass of {h > mu}."""
    at_a = curve.h(a)
    mu = max(0.0, at_a)
    value = mu * q + curve.integral(a, inf, mu) + (mu - at_a) + _ABSOLUTE * (1 + curve.up) ** 2
    mass = Phi(-a)
    far, near = _left_part(curve, mu, -a)
    if far < near:
        value += curve.integral(far, near, mu)
        value += sum(abs(curve.h(end) - mu) for end in (far, near) if end > -_FAR)
        mass += Phi(near) - Phi(far)
    return value, mass


def _left_part(curve: _Curve, mu: float, guess: float) -> tuple[float, float]:
    """Return the ends of {z in (-9, 0): h(z) > mu}, an interval because h rises leftwards to one peak, then falls."""

    def excess(z: float) -> float:
        return curve.h(z) - mu

    if curve.up <= -curve.down:
        return 0.0, 0.0
    if excess(-_FAR) > 0:
        return -_FAR, _near_end(curve, mu, guess)
    if curve.down >= 0 or curve.slope(-_FAR) <= 0 or curve.slope(-1e-5) >= 0:
        return 0.0, 0.0
    peak = _root(curve.slope, -_FAR, -1e-5)
    if excess(peak) <= 0:
        return 0.0, 0.0
    return _root(excess, -_FAR, peak), _root(excess, peak, 0.0)


def _near_end(curve: _Curve, mu: float, z: float) -> float:
    """Return the only z in (-9, 0) with h(z) = mu, given h(-9) > mu: Newton's, or by bracketing where that strays."""
    for _ in range(8):
        slope = curve.slope(z)
        step = (curve.h(z) - mu) / slope if slope < 0 else inf
        z -= step
        if not -_FAR < z < 0:
            break
        if abs(step) < 1e-9:
            return z
    return _root(lambda point: curve.h(point) - mu, -_FAR, 0.0)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-13))
