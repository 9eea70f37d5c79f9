"""How far a class keeps its lead when the gradient of the lead is known to be small: (F1), (F4), (F5) of docs/math.md.

Pure functions of probability bounds and gradient bounds in float64. No model, no randomness. Roots are found
approximately, and every value claimed is then taken from a dual bound that holds for any roots, less its rounding.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from math import erfc, exp, expm1, inf, isinf, isnan, log, nextafter, pi, sqrt
from typing import NamedTuple

from scipy.optimize import brentq
from scipy.special import ndtri

from doublebubble.errors import SettingError

ROUNDING = 2.0**-44
"""Relative error allowed to one evaluated term: over 200 units in the last place (docs/math.md, section 6)."""

LARGEST_MOMENT = nextafter(1 / sqrt(2 * pi), 1.0)
"""max |E[f z]| over all f with values in [0, 1]."""

SMALLEST_TAIL = 1e-15
"""Below it nothing is evaluated: relative rounding of Phi(z) grows like z^2."""

_ROOT_HALF, _ROOT_TWO_PI = sqrt(0.5), sqrt(2 * pi)


class Rival(NamedTuple):
    """A class, or group of classes, that could overtake: bounds that hold for it at the centre of the ball."""

    q: float
    """Upper bound on its probability."""
    gamma: float = inf
    """Upper bound on sigma |grad (p_A - p_B)|, the gradient of the lead; infinity if none is known."""


class _Side(NamedTuple):
    """An interval [-L, c] meant to hold all but a mass Q, with what its line needs that does not depend on t."""

    c: float
    L: float
    tail: float
    mass_gap: float
    moment: float
    cap: float


def Phi(x: float) -> float:
    """Return the standard normal distribution function, accurate in relative terms in the left tail."""
    return 0.5 * erfc(-x * _ROOT_HALF)


def phi(x: float) -> float:
    """Return the standard normal density."""
    return exp(-0.5 * x * x) / _ROOT_TWO_PI


def profile(tail: float) -> float:
    """Return phi(Phi^-1(tail)): the gradient norm of a half-space of that mass, the largest there is."""
    return phi(float(ndtri(tail)))


def first_order_lower(p: float, gamma: float, t: float) -> float:
    """Guarantee: p_A(x + delta) is at least this for |delta| = t sigma, if p_A >= p and sigma |grad p_A| <= gamma at x.

    (F1) less its rounding, never below 0. `gamma` may be infinite, which gives the half-space value.
    """
    _require(0 < p < 1, "p", "a probability strictly between 0 and 1", p)
    _require(gamma >= 0, "gamma", "a non-negative bound", gamma)
    _require(0 <= t < inf, "t", "a finite distance >= 0 in units of sigma", t)
    Q = _tail_of(p)
    gamma = min(gamma, LARGEST_MOMENT)
    side = _side(Q, *interval(Q, gamma))
    k, s, scale = _line(side, t)
    inside, outside = Phi(side.c - t), Phi(-side.L - t)
    value = inside - outside + k * side.mass_gap - s * (gamma - side.moment)
    noise = inside + outside + abs(k) * 2 * Q + scale * (gamma + side.moment)
    return max(0.0, value - ROUNDING * noise)


def first_order_radius(p_a: float, rivals: Sequence[Rival], sigma: float) -> float:
    """Guarantee: A stays ahead of every rival on the open ball of this radius, if the bounds given hold at its centre.

    `p_a` bounds the probability of A from below; each rival carries an upper bound on its own probability and on
    the gradient of the lead over it, (F4). The result never exceeds the exact value of (F5); 0 if A does not lead.
    With gamma infinite it is the multiclass radius (S3). A tail, 1 - p_a or q, below 1e-15 counts as 1e-15.
    """
    _require(0 < sigma < inf, "sigma", "a positive number", sigma)
    _require(0 <= p_a < 1, "p_a", "a probability in [0, 1)", p_a)
    _require(len(rivals) > 0, "rivals", "at least one rival", len(rivals))
    for rival in rivals:
        _require(0 <= rival.q <= 1, "q", "a probability", rival.q)
        _require(rival.gamma >= 0, "gamma", "a non-negative bound", rival.gamma)
    if p_a == 0:
        return 0.0
    Q = _tail_of(p_a)
    t = min(_lead_time(Q, min(max(rival.q, SMALLEST_TAIL), Q), rival.gamma) for rival in rivals)
    return max(0.0, nextafter(sigma * t, -inf))


def interval(Q: float, g: float) -> tuple[float, float]:
    """Return (c, L) with Phi(-c) + Phi(-L) = Q and phi(c) - phi(L) = g, as near as floats allow.

    A negative g mirrors the interval. |g| at or above `profile(Q)` gives the half-line, L infinite.
    """
    if g < 0:
        L, c = interval(Q, -g)
        return c, L
    top = profile(Q)
    if top - g <= 1e-14 * top:
        return -float(ndtri(Q)), inf
    # The far tail holds a mass b in (0, Q/2]; top - moment is nearly proportional to b, so Newton runs on logarithms.
    low, high, target = 0.0, 0.5 * Q, log(top - g)
    b = high * (1 - g / top)
    c = L = -float(ndtri(high))
    for _ in range(60):
        c, L = -float(ndtri(Q - b)), -float(ndtri(b))
        drop = top - (phi(c) - phi(L))
        if drop < top - g:
            low = b
        else:
            high = b
        slope = (c + L) * b
        step = drop * (target - log(drop)) / slope if drop > 0 and slope > 0 else inf
        if abs(step) < 1e-15 or high - low <= 4e-16 * high:
            break
        nearer = b * exp(step) if step < 700 else inf
        b = nearer if low < nearer < high else (0.5 * (low + high) if low > 0.01 * high else max(0.1 * high, low))
    return c, L


def _tail_of(p: float) -> float:
    """Return 1 - p, never rounded down: exact for p >= 1/2, and never below the smallest tail the solver takes."""
    Q = 1 - p
    return max(Q if p >= 0.5 else min(nextafter(Q, 2.0), nextafter(1.0, 0.0)), SMALLEST_TAIL)


def _side(Q: float, c: float, L: float) -> _Side:
    cap = profile(Q) * (1 + ROUNDING) if Q <= 0.5 else LARGEST_MOMENT
    return _Side(c, L, Q, Phi(-c) + Phi(-L) - Q, phi(c) - phi(L), cap)


def _line(side: _Side, t: float) -> tuple[float, float, float]:
    """Return intercept k and slope s of the line through exp(tz - t^2/2) at -L and c, and the scale of s's rounding."""
    width = side.c + side.L
    if isinf(side.c) or width <= 0:  # no line: never certified, and steeper than any other
        return -1.0, 1e300, 1e300
    w_c = exp(t * side.c - 0.5 * t * t)
    if isinf(side.L):
        return w_c, 0.0, 0.0
    s = w_c * -expm1(-t * width) / width
    return w_c - s * side.c, s, max(s, w_c / width)


def _lead(t: float, a: _Side, b: _Side, gamma: float) -> float:
    """Return a lower bound on p_A - p_B at distance t sigma, valid for any two intervals: the dual of (F4)."""
    k_a, s_a, scale_a = _line(a, t)
    k_b, s_b, scale_b = _line(b, t)
    if min(k_a, k_b, s_a, s_b) < 0:
        return -inf
    mu = min(s_a, s_b)
    ahead = (Phi(a.c - t), Phi(-a.L - t))
    behind = (Phi(t - b.c), Phi(-b.L - t))
    value = ahead[0] - ahead[1] - behind[0] - behind[1] + k_a * a.mass_gap + k_b * b.mass_gap
    value += s_a * a.moment + s_b * b.moment - mu * gamma - (s_a - mu) * a.cap - (s_b - mu) * b.cap
    noise = sum(ahead) + sum(behind) + 2 * k_a * a.tail + 2 * k_b * b.tail
    noise += scale_a * (gamma + 2 * a.cap) + scale_b * (gamma + 2 * b.cap)
    return value - ROUNDING * noise


def _lead_time(Q: float, q: float, gamma: float) -> float:
    """Return t, not above the exact value of (F5), at which the lead over one rival is still certainly positive."""
    if Q + q >= 1:
        return 0.0
    a, b = _side(Q, *interval(Q, inf)), _side(q, *interval(q, inf))
    plain = 0.5 * (a.c + b.c)
    plain = next((t for t in _steps_back(plain, 0.0) if _lead(t, a, b, a.cap + b.cap) > 0), 0.0)
    if plain <= 0 or gamma >= (a.moment + b.moment) * (1 - 1e-9):
        return plain
    a, b = _worst_sides(Q, q, gamma, lambda a, b: _crossing(a, b, plain), 1e-7)
    for t in _steps_back(_crossing(a, b, plain), plain):
        a, b = _worst_sides(Q, q, gamma, _always(t), 1e-15)
        if _lead(t, a, b, gamma) > 0:
            return t
    return plain


def _always(t: float) -> Callable[[_Side, _Side], float]:
    return lambda a, b: t


def _steps_back(t: float, least: float) -> Iterator[float]:
    """Yield distances ever further below t, as long as they exceed `least`."""
    steps = (t * (1 - 2e-12 * 30.0**k) for k in range(7))
    return takewhile(lambda nearer: nearer > least, steps)


def _worst_sides(
    Q: float, q: float, gamma: float, distance: Callable[[_Side, _Side], float], tolerance: float
) -> tuple[_Side, _Side]:
    """Divide gamma between the two sides as the worst case does: so that both lines have the same slope at `distance`.

    As a side comes near a half-line its slope falls to 0, but only like 1/L: then it is cut where the slope wanted is.
    """

    def sides(part: float) -> tuple[_Side, _Side]:
        return _side(Q, *interval(Q, part)), _side(q, *interval(q, gamma - part))

    def steeper(part: float) -> float:
        a, b = sides(part)
        t = distance(a, b)
        return _line(a, t)[1] - _line(b, t)[1]

    top_a, top_b = profile(Q), profile(q)
    low, high = max(gamma - top_b, -top_a), min(top_a, gamma + top_b)
    pad = 1e-6 * (high - low)
    if steeper(low + pad) <= 0:
        a, b = sides(low + pad)
        b = _with_slope(b, a, distance(a, b))
        return _side(Q, *interval(Q, gamma - b.moment)), b
    if steeper(high - pad) >= 0:
        a, b = sides(high - pad)
        a = _with_slope(a, b, distance(a, b))
        return a, _side(q, *interval(q, gamma - a.moment))
    return sides(_root(steeper, low + pad, high - pad, tolerance * (high - low)))


def _with_slope(side: _Side, other: _Side, t: float) -> _Side:
    """Return the near half-line, cut where its line is a little steeper than the other side's: there excess is free."""
    c, L, s = side.c, side.L, _line(other, t)[1] * (1 + 1e-4)
    for _ in range(20):
        L = exp(t * c - 0.5 * t * t) * -expm1(-t * (c + L)) / s - c
        c = -float(ndtri(side.tail - Phi(-L)))
    return _side(side.tail, c, L)


def _crossing(a: _Side, b: _Side, start: float) -> float:
    """Return about the t at which the two intervals alone would leave no lead."""

    def gap(t: float) -> float:
        return Phi(a.c - t) - Phi(-a.L - t) - Phi(t - b.c) - Phi(-b.L - t)

    if gap(start) <= 0:
        return start
    high = 1.5 * start + 0.1
    while gap(high) > 0:
        high *= 2
    return _root(gap, start, high, 1e-15)


def _root(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    return float(brentq(function, low, high, xtol=tolerance, rtol=1e-15))


def _require(condition: bool, name: str, expected: str, got: float) -> None:
    if not condition or isnan(got):
        raise SettingError(f"{name}: expected {expected}, got {got}")
