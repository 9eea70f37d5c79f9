"""Fifty digits: the normal law, binomial tails and sums of parts of alpha, for checking certificates again.

Written from docs/math.md; imports nothing of what it checks. Values carry an error near 1e-45, and every comparison
that a claim rests on is made with a margin far above it.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath
from scipy.stats import beta

mp: Any = mpmath.MPContext()  # a context of our own: the global one belongs to the user
mp.dps = 50
MARGIN = mp.mpf(10) ** -35
_BITS = 200  # of the integers that binomial tails are summed in: far beyond the margin
_NUDGES = (0.0, *(10.0**-k for k in range(14, 3, -1)))


class Unconfirmed(Exception):
    """A claim that does not follow from what is stored; the message is one sentence."""


class Unknown(Unconfirmed):
    """A claim that cannot be judged, because something it needs is not at hand."""


def require(holds: bool, otherwise: str) -> None:
    """Go on only if it holds."""
    if not holds:
        raise Unconfirmed(otherwise)


def number(values: Mapping[str, Any], name: str) -> Any:
    """A finite number of the evidence, exactly."""
    if name not in values:
        raise Unconfirmed(f"the evidence lacks {name}")
    return exact(values[name], name)


def exact(value: object, name: str) -> Any:
    """A finite int or float, exactly."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1e300:
        raise Unconfirmed(f"{name} is {value!r}, not a finite number")
    return mp.mpf(value)


def phi(x: Any) -> Any:
    """The standard normal density."""
    return mp.npdf(x)


def cdf(x: Any) -> Any:
    """The standard normal distribution function."""
    return mp.ncdf(x)


def between(a: Any, b: Any) -> Any:
    """The normal mass of (a, b), from the tails that are small."""
    return mp.ncdf(-a) - mp.ncdf(-b) if a > 0 else mp.ncdf(b) - mp.ncdf(a)


def quantile(p: Any) -> Any:
    """The inverse of `cdf`."""
    if p <= 0 or p >= 1:
        return mp.inf if p >= 1 else -mp.inf
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def half_line_moment(p: Any) -> Any:
    """I(p): the first moment of a half-line of mass p."""
    return phi(quantile(p)) if 0 < p < 1 else mp.mpf(0)


def upper_tail(k: int, n: int, p: Any) -> Any:
    """P[X >= k] for X binomial (n, p), rounded up; exact summation of the smaller tail.

    Where that is the other one, it is taken lower by more than what it is too large by: no ratio of two of its terms is
    above 1 - 1/(n + 1), each is too large by a factor of (1 + MARGIN)^3 at most for each term before it.
    """
    if k <= 0 or p >= 1:
        return mp.mpf(1)
    if p <= 0:
        return mp.mpf(0)
    if k <= n * p:
        return min(mp.mpf(1), 1 - upper_tail(n - k + 1, n, 1 - p) * (1 - 8 * (n + 2) * MARGIN) + MARGIN)
    log_choose = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    term = mp.exp(log_choose + k * mp.log(p) + (n - k) * mp.log1p(-p))
    return term * (_tail_over_term(k, n, p / (1 - p)) + 1) * (1 + MARGIN)


def _tail_over_term(k: int, n: int, odds: Any) -> Any:
    """P[X > k] over P[X = k] from above, where odds (n - k) / (k + 1) < 1: integers in units of 2^-_BITS, rounded up.

    Each term is the one before it times odds (n - j) / (j + 1), which falls as j grows.
    """
    one = 1 << _BITS
    scaled, enough = int(mp.ceil(odds * (1 + MARGIN) * one)), int(MARGIN * one)
    term, total = one, 0
    for j in range(k, n):
        term = -(-term * scaled * (n - j) // ((j + 1) * one))
        total += term
        if term <= enough:  # later ratios are smaller, so a geometric series bounds the rest
            ratio = odds * (1 + MARGIN) * (n - j) / (j + 1)
            return (total + term * ratio / (1 - ratio)) / one
    return mp.mpf(total) / one


def is_lower_bound(p: Any, k: int, n: int, alpha: Any) -> bool:
    """Whether p is at most Clopper and Pearson's lower bound (B1): k hits or more have probability at most alpha."""
    return bool(p <= 0 or (p < 1 and upper_tail(k, n, p) <= alpha))


def is_upper_bound(p: Any, k: int, n: int, alpha: Any) -> bool:
    """Whether p is at least Clopper and Pearson's upper bound (B2)."""
    return bool(p >= 1 or (p > 0 and upper_tail(n - k, n, 1 - p) <= alpha))


def lower_bound(k: int, n: int, alpha: Any) -> Any:
    """A lower bound (B1) near the best one: guessed in float64, then moved down until the exact tail proves it."""
    if k == 0:
        return mp.mpf(0)
    guess = mp.mpf(float(beta.ppf(float(alpha), k, n - k + 1)))
    for nudge in _NUDGES:
        if is_lower_bound(guess * (1 - nudge), k, n, alpha):
            return guess * (1 - nudge)
    return mp.mpf(0)


def within(parts: Sequence[object], whole: object, what: str) -> None:
    """Parts of alpha are above 0 and sum to at most the whole, in exact arithmetic."""
    for part in (*parts, whole):
        exact(part, f"a part of alpha of {what}")
    fractions = [Fraction(part) for part in parts if isinstance(part, int | float)]
    require(all(part > 0 for part in fractions), f"{what}: a part of alpha is not above 0")
    require(
        sum(fractions) <= Fraction(whole) if isinstance(whole, int | float) else False,
        f"{what}: its parts of alpha sum to {float(sum(fractions)):.6g}, more than its {whole}",
    )
