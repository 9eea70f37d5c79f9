"""How likely is an event that happened k times in n independent draws? Exact bounds, rounded outward.

Functions of arrays in float64: numpy and scipy only, no torch, no randomness.
"""

import functools
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaincc, betainccinv, betaincinv

from doublebubble.errors import InputError, SettingError
from doublebubble.types import Floats

Side = Literal["lower", "upper", "two-sided"]
Array = npt.NDArray[Any]
Numbers = Array | int | float

MAX_DRAWS = 10**9
"""The largest n for which the accuracy of the incomplete beta function was checked."""

_MARGIN = 1e-10  # how far a bound moves outward, relative to its distance from the nearer of 0 and 1
_CONTAIN = 3e-12  # and absolutely: scipy.stats solves its exact interval to 2e-12, and ours contains it
_SLACK = 2e-11  # what the forward check concedes to the incomplete beta function, relative to alpha


@overload
def clopper_pearson(k: int, n: int, alpha: float, side: Literal["lower", "upper"] = "lower") -> float: ...
@overload
def clopper_pearson(k: int, n: int, alpha: float, side: Literal["two-sided"]) -> tuple[float, float]: ...
@overload
def clopper_pearson(k: Array, n: Numbers, alpha: Numbers, side: Literal["lower", "upper"] = "lower") -> Floats: ...
@overload
def clopper_pearson(k: Array, n: Numbers, alpha: Numbers, side: Literal["two-sided"]) -> tuple[Floats, Floats]: ...
def clopper_pearson(
    k: Numbers, n: Numbers, alpha: Numbers, side: Side = "lower"
) -> float | Floats | tuple[float | Floats, float | Floats]:
    """With probability at least 1 - alpha over n independent draws, the bound is on the stated side of the true p.

    k of the n draws hit. `lower` and `upper` spend all of alpha on one side, (B1) and (B2); `two-sided` spends half on
    each and returns the pair. The arguments broadcast; scalars give a float. The exact bound is never inside what is
    returned, and less than 1e-10 away from it.

    scipy's inverse of the incomplete beta function was seen to err by up to 1.2e-11 of the distance from p to 0 or 1;
    the result moves outward by 1e-10 of that and by 3e-12. It is then checked with the forward function, which was
    seen to err by up to 1.4e-11 of alpha for n up to 1e9 (both measured at random, not proved);
    should the check fail, the bound moves further until it holds. k = 0 and k = n have closed forms.

    >>> round(clopper_pearson(10, 10, 0.001), 4)  # all of ten: the tenth root of alpha
    0.5012
    """
    if type(k) is int and type(n) is int and type(alpha) is float:
        return _kept(k, n, alpha, side)
    return _bounds(k, n, alpha, side)


@functools.lru_cache(maxsize=4096)
def _kept(k: int, n: int, alpha: float, side: Side) -> float | Floats | tuple[float | Floats, float | Floats]:
    """The bounds of one count: forecasts for an input ask for the same ones again and again."""
    return _bounds(k, n, alpha, side)


def _bounds(
    k: Numbers, n: Numbers, alpha: Numbers, side: Side
) -> float | Floats | tuple[float | Floats, float | Floats]:
    hits, draws, level = _checked(k, n, alpha)
    if side == "two-sided":
        return _plain(_lower(hits, draws, level / 2)), _plain(_upper(hits, draws, level / 2))
    if side == "lower":
        return _plain(_lower(hits, draws, level))
    if side == "upper":
        return _plain(_upper(hits, draws, level))
    raise SettingError(f"side: expected 'lower', 'upper' or 'two-sided', got {side!r}")


def _lower(k: Floats, n: Floats, alpha: Floats) -> Floats:
    """The p with P[X >= k | p] = alpha, rounded down; 0 at k = 0."""  # (B1)
    inner = (k > 0) & (k < n)
    a, b = np.where(inner, k, 1.0), np.where(inner, n - k + 1, 1.0)
    p = np.asarray(betaincinv(a, b, alpha), np.float64)
    p = _moved(p, -1.0, lambda q: inner & (betainc(a, b, q) > alpha * (1 - _SLACK)))
    all_hit = _shifted(np.exp(np.log(alpha) / n), -1.0, _MARGIN)  # P[X >= n | p] = p^n
    return np.where(k == 0, 0.0, np.where(k == n, all_hit, p))


def _upper(k: Floats, n: Floats, alpha: Floats) -> Floats:
    """The p with P[X <= k | p] = alpha, rounded up; 1 at k = n."""  # (B2)
    inner = (k > 0) & (k < n)
    a, b = np.where(inner, k + 1, 1.0), np.where(inner, n - k, 1.0)
    p = np.asarray(betainccinv(a, b, alpha), np.float64)
    p = _moved(p, 1.0, lambda q: inner & (betaincc(a, b, q) > alpha * (1 - _SLACK)))
    none_hit = _shifted(-np.expm1(np.log(alpha) / n), 1.0, _MARGIN)  # P[X <= 0 | p] = (1 - p)^n
    return np.where(k == n, 1.0, np.where(k == 0, none_hit, p))


def _moved(p: Floats, direction: float, fails: Callable[[Floats], npt.NDArray[np.bool_]]) -> Floats:
    """p moved outward by the margin, and by ten times more wherever the forward check still fails."""
    margin = np.full_like(p, _MARGIN)
    moved = _shifted(p, direction, margin)
    while (bad := fails(moved)).any():
        margin[bad] *= 10
        moved = _shifted(p, direction, margin)
    return moved


def _shifted(p: Floats, direction: float, margin: Floats | float) -> Floats:
    """p shifted outward by margin * min(p, 1 - p) and the fixed step, which is far above rounding; within [0, 1]."""
    step = margin * np.minimum(p, 1 - p) + _CONTAIN
    shifted: Floats = np.clip(p + direction * step, 0.0, 1.0)
    return shifted


def _checked(k: Numbers, n: Numbers, alpha: Numbers) -> tuple[Floats, Floats, Floats]:
    """The arguments as float64 arrays of one shape, or an error that names what came."""
    hits, draws, level = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (k, n, alpha)))
    if not np.all((level > 0) & (level < 1)):
        raise SettingError(f"alpha: expected a number inside (0, 1), got {_first(level, (level > 0) & (level < 1))!r}")
    good = (draws >= 1) & (draws <= MAX_DRAWS) & (draws == np.floor(draws))
    if not np.all(good):
        raise SettingError(f"number of draws n: expected an integer from 1 to {MAX_DRAWS}, got {_first(draws, good)!r}")
    good = (hits >= 0) & (hits <= draws) & (hits == np.floor(hits))
    if not np.all(good):
        raise InputError(f"count k: expected an integer from 0 to n, got {_first(hits, good)!r}")
    return hits, draws, level


def _first(values: Floats, good: npt.NDArray[np.bool_]) -> float:
    return float(values[~good].ravel()[0])


def _plain(bound: Floats) -> float | Floats:
    return float(bound) if bound.ndim == 0 else bound
