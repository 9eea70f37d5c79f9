"""The lead of a class over a rival by votes and by a bound on the lead's gradient: (F2), (F3), (F5), (F7).

Witnesses are sought in float64; what is claimed is evaluated in fifty digits, where every witness gives a valid bound.
Imports nothing of what it checks.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from doublebubble.audit.reverify.numbers import (
    MARGIN,
    Unconfirmed,
    between,
    cdf,
    half_line_moment,
    mp,
    number,
    phi,
    quantile,
    require,
)
from doublebubble.audit.reverify.votes import Lead, Rule, class_bound, parts_of, rival_bound

_SUMS = mp.mpf(10) ** -8  # docs/math.md, "Sums": the error in norm that is allowed for in each half mean
_FAR, _EDGE = 60.0, 40.0
_BLUR = 1e-15


def first_order(rule: Rule, counts: Sequence[int], top: int, rivals: Sequence[int] | None) -> Lead:
    """(F5) against one rival, or against all others at once (None)."""
    alphas = parts_of(rule, 2 if rivals is None else 3)
    require(rivals is None or len(rivals) == 1, "rule first_order: it is for one rival, or for all others at once")
    lower = class_bound(rule, counts, top, alphas[1])
    if rivals is None:
        q = number(rule["numbers"], "q")
        require(q >= 1 - lower, f"rule first_order: q = {float(q)} does not bound all other classes together")
    else:
        q = rival_bound(rule, counts, rivals, lower, alphas[2])
    gamma = slope_bound(rule, sum(counts), lower, q, alphas[0])
    return lambda t: lead_at(t, lower, q, gamma)


# The gradient, (F2) and (F7)


def slope_bound(rule: Rule, n: int, lower: Any, q: Any, alpha: Any) -> Any:
    """The rule's bound on the gradient, proved by going down from one that none exceeds."""
    name = f"rule {rule['rule']}"
    names = ("n1", "n2", "offset", "lam", "tilt", "dot", "norm1", "norm2", "gamma")
    n1, n2, c0, lam, c, dot, norm1, norm2, gamma = (number(rule["numbers"], name) for name in names)
    require(n1 >= 1 and n2 >= 1 and n1 + n2 == n, f"{name}: the halves are not all draws")
    require(0 <= c0 <= 1 and lam > 0 and c > 0, f"{name}: the test is out of range")
    require(norm1 >= 0 and norm2 >= 0 and gamma >= 0, f"{name}: a norm is below 0")
    require(abs(dot) <= norm1 * norm2 * (1 + mp.mpf(10) ** -9), f"{name}: g1.g2 exceeds |g1| |g2|")
    dot += _SUMS * (norm1 + norm2 + _SUMS)
    norm1 += _SUMS
    masses = (1 - lower, min(q, 1 - lower))
    x = sum(half_line_moment(min(mass, mp.mpf(0.5))) for mass in masses)
    shifted = "shift" in rule["numbers"]
    if shifted:
        shift, c = number(rule["numbers"], "shift"), mp.mpf(1)
        require(shift >= 0, f"{name}: the shift is below 0")
        x += shift
    second = psi(lam * norm1 / n2, c0, *masses)
    if shifted:
        fixed = dot + (n2 * second - mp.log(alpha)) / lam
    else:
        spent = lam * dot + n2 * (c * (1 + second) - 1 - mp.log(c)) - mp.log(alpha)
        fixed = n1 / (c * lam) * (1 - mp.exp(-spent / n1))
    for _ in range(500):  # every x is a valid bound, and so is the next one
        if x <= gamma:
            return gamma
        square = fixed + n1 / (c * lam) * psi(c * lam * x / n1, c0, *masses)
        lower_x = mp.sqrt(max(square, mp.mpf(0))) + MARGIN
        if not lower_x < x:
            break
        x = lower_x
    raise Unconfirmed(f"{name}: the half moments prove a gradient of {float(x):.9g}, not {float(gamma):.9g}")


def psi(s: Any, c0: Any, not_a: Any, rival: Any) -> Any:
    """(F3): an upper bound on the exponential moments of the vote weights times the noise."""
    ends = [s * (j - c0) for j in range(3)]
    base = mp.expm1((s * c0) ** 2 / 2)
    together = excess(ends[2], ends[0], (not_a + rival) / 2)
    if not_a == rival:  # then no other way is less: h_02 = h_01 + h_12, and Psi is subadditive and not below 0
        return base + together
    others = excess(ends[1], ends[0], not_a)
    ways = [
        others + excess(ends[2], ends[1], rival),
        others + excess(ends[2], ends[0], rival),
        together,
    ]
    return base + min(ways)


def excess(a: Any, b: Any, mass: Any) -> Any:
    """Psi(h, mass) for h(z) = e^{az} - e^{bz} - (a - b) z, a > b, from above.

    h' has three terms, so at most two zeros; one is 0. For b >= 0 it is the only one: h falls, then rises. For b < 0 <
    a the other lies left of 0 if a > -b, and there h has its one peak on the left; else it lies right of 0, where h
    dips before it rises, and h < 0 on the left. For a = 0, h <= 0. So {h > mu}, mu >= 0, is a right tail and, on the
    left, a tail (b >= 0) or an interval about the peak.
    """
    if a <= 0 or mass <= 0:
        return mp.mpf(0)
    fa, fb, m = float(a), float(b), float(mass)
    start = _last_zero(fa, fb)
    if start > _FAR:  # beyond it h < e^{az}
        return mp.exp(a * a / 2) * cdf(a - _FAR)

    def spare(z: float) -> float:
        level = max(_height(z, fa, fb), 0.0)
        left, right = _left(level, fa, fb)
        return float(ndtr(-z) + ndtr(right) - ndtr(left)) - m

    z = start if spare(start) <= 0 else float(brentq(spare, start, max(40.0, start + 1), xtol=1e-13))
    right = mp.mpf(z)
    level = _mp_height(right, a, b) if z > 0 else mp.mpf(0)
    if level < 0:
        right, level = _polished(z, a, b, mp.mpf(0)), mp.mpf(0)
    total = level * mass + _piece(right, mp.inf, a, b, level)
    low, high = _left(float(level), fa, fb)
    if high > low:
        upper = _polished(high, a, b, level) if high < 0 else mp.mpf(0)
        bottom = mp.mpf(low) if low <= -_EDGE else _polished(low, a, b, level)
        total += max(_piece(bottom, upper, a, b, level), mp.mpf(0))
    elif fb < 0 < fa + fb and _height(max(_peak(fa, fb), -_EDGE), fa, fb) > float(level) - _BLUR:
        total += 2 * _BLUR  # a peak that float64 cannot tell from the level, or from 0
    return total + MARGIN


def _height(z: float, a: float, b: float) -> float:
    return math.expm1(a * z) - math.expm1(b * z) - (a - b) * z


def _mp_height(z: Any, a: Any, b: Any) -> Any:
    return mp.exp(a * z) - mp.exp(b * z) - (a - b) * z


def _last_zero(a: float, b: float) -> float:
    """The largest zero of h: 0, or where h has come back from its dip on the right."""
    if a >= -b:
        return 0.0
    low = 1e-3
    while _height(low, a, b) < 0 and low < 2 * _FAR:
        low *= 1.5
    return low if low > _FAR else float(brentq(_height, low / 1.5, low, args=(a, b), xtol=1e-14)) + 1e-12


def _left(level: float, a: float, b: float) -> tuple[float, float]:
    """The ends of {z < 0: h > level} in float64; equal ends if it is empty."""
    if b >= 0:
        if level == 0:
            return -math.inf, 0.0
        low = -1.0
        while _height(low, a, b) < level:
            low *= 2
        return -math.inf, _crossing(low, 0.0, level, a, b)
    peak = _peak(a, b)
    if peak <= -_EDGE:  # h rises leftwards to there; what lies beyond is less than (a - b) phi(40) < MARGIN
        if _height(-_EDGE, a, b) <= level:
            return 0.0, 0.0
        return -_EDGE, (0.0 if level == 0 else _crossing(-_EDGE, 0.0, level, a, b))
    if peak >= 0 or _height(peak, a, b) <= level:
        return 0.0, 0.0
    low = 2 * peak
    while _height(low, a, b) > level:
        low *= 2
    return _crossing(low, peak, level, a, b), (0.0 if level == 0 else _crossing(peak, 0.0, level, a, b))


@functools.lru_cache(maxsize=64)
def _peak(a: float, b: float) -> float:
    """The zero of h' left of 0, where b < 0 and a > -b; 0 if it is within 1e-6 of 0, -inf if it is far."""
    if a <= -b * (1 + 1e-9):
        return 0.0

    def slope(z: float) -> float:
        return a * math.expm1(a * z) - b * math.expm1(b * z)

    low, high = -1.0, -1e-6
    while slope(low) <= 0:
        low *= 2
        if low < -64:
            return -math.inf
    return float(brentq(slope, low, high, xtol=1e-14)) if slope(high) < 0 else 0.0


def _crossing(low: float, high: float, level: float, a: float, b: float) -> float:
    def gap(z: float) -> float:
        return _height(z, a, b) - level

    if gap(low) * gap(high) > 0:  # within rounding of an end
        return low if abs(gap(low)) < abs(gap(high)) else high
    return float(brentq(gap, low, high, xtol=1e-14))


def _polished(z: float, a: Any, b: Any, level: Any) -> Any:
    """Newton's steps from a float64 root of h = level; each doubles the digits."""
    root = mp.mpf(z)
    for _ in range(4):
        slope = a * mp.exp(a * root) - b * mp.exp(b * root) - (a - b)
        if slope == 0:
            break
        root -= (_mp_height(root, a, b) - level) / slope
    return root


def _piece(low: Any, high: Any, a: Any, b: Any, level: Any) -> Any:
    """The integral of (h - level) phi over (low, high)."""
    grown = mp.exp(a * a / 2) * between(low - a, high - a) - mp.exp(b * b / 2) * between(low - b, high - b)
    return grown - (a - b) * (phi(low) - phi(high)) - level * between(low, high)


# The lead, (F5)


def lead_at(t: Any, p: Any, q: Any, gamma: Any) -> Any:
    """A lower bound on the lead at distance t sigma, near the best; above 0 it certifies the open ball, as W falls.

    For all k_A, k_B, mu >= 0 the lead is at least k_A p + k_B (1 - q) - 1 - mu gamma - C(k_A) - C(k_B), with C(k) =
    E[(k + mu z - w_t)_+]: the proof of Theorem J with one slope for both lines.
    """
    t = mp.mpf(t)
    if p <= 0 or p >= 1 or q <= 0 or q >= 1 or t <= 0:
        return quantile(p) - quantile(q) - 2 * t
    if t > _EDGE:  # no draws that anybody can make prove as much
        return mp.mpf(-1)
    if gamma >= half_line_moment(p) + half_line_moment(q):  # half-lines: (S3)
        return cdf(quantile(p) - t) + cdf(-quantile(q) - t) - 1
    mu, k_a, k_b = (mp.mpf(value) for value in _prices(float(t), float(1 - p), float(q), float(gamma)))
    costs = _line_cost(k_a, mu, t) + _line_cost(k_b, mu, t)
    return k_a * p + k_b * (1 - q) - 1 - mu * gamma - costs


def _line_cost(k: Any, mu: Any, t: Any) -> Any:
    """E[(k + mu z - w_t(z))_+]: the line is above the convex w_t between at most two roots."""

    def gap(z: Any) -> Any:
        return k + mu * z - mp.exp(t * z - t * t / 2)

    top = mp.log(mu / t) / t + t / 2  # where w_t has the slope mu: the gap is largest there
    if gap(top) <= 0:
        return mp.mpf(0)
    low, high = _root(gap, top, -1, t, mu), _root(gap, top, 1, t, mu)
    inside = k * between(low, high) + mu * (phi(low) - phi(high)) - between(low - t, high - t)
    return inside + MARGIN


def _root(gap: Any, top: Any, side: int, t: Any, mu: Any) -> Any:
    """The root of the gap left or right of its largest value; Newton from outside, where a concave gap converges."""
    step = mp.mpf(1)
    while gap(top + side * step) > 0:
        step *= 2
    z = top + side * step
    for _ in range(200):
        move = gap(z) / (mu - t * mp.exp(t * z - t * t / 2))
        z -= move
        if abs(move) < MARGIN * (1 + abs(z)):
            break
    return z


def _prices(t: float, not_p: float, q: float, gamma: float) -> tuple[float, float, float]:
    """The common slope and the two intercepts that are best: masses not_p and q outside, moments that sum to gamma."""

    def moments(log_mu: float) -> float:
        return sum(_moment(*_interval(tail, math.exp(log_mu), t)) for tail in (not_p, q)) - gamma

    low, high = -1.0, 1.0
    while moments(low) < 0 and low > -600:
        low *= 2
    while moments(high) > 0 and high < 600:
        high *= 2
    mu = math.exp(brentq(moments, low, high, xtol=1e-14)) if moments(low) > 0 > moments(high) else math.exp(low)
    intercepts = []
    for tail in (not_p, q):
        _, right = _interval(tail, mu, t)
        intercepts.append(max(0.0, math.exp(t * right - t * t / 2) - mu * right))
    return mu, intercepts[0], intercepts[1]


def _moment(left: float, right: float) -> float:
    """- E[z; left < z < right]."""
    return (math.exp(-right * right / 2) - math.exp(-left * left / 2)) / math.sqrt(2 * math.pi)


def _interval(tail: float, mu: float, t: float) -> tuple[float, float]:
    """The interval with this mass outside it whose chord of w_t has the slope mu."""

    def ends(log_share: float) -> tuple[float, float]:
        share = math.exp(log_share)
        return float(ndtri(tail * share)), float(-ndtri(tail * -math.expm1(log_share)))

    def gap(log_share: float) -> float:
        left, right = ends(log_share)
        return math.exp(t * right - t * t / 2) * -math.expm1(t * (left - right)) / (right - left) - mu

    low, high = -600.0, -1e-12
    if gap(low) > 0:
        return ends(low)
    if gap(high) < 0:
        return ends(high)
    return ends(float(brentq(gap, low, high, xtol=1e-15, rtol=1e-15)))
