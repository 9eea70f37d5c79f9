"""How large can a mean be, given n independent draws of a bounded variable? A bet of a stake fixed beforehand: (R2).

Functions of a table of values and integer counts in float64: numpy only, no torch, no randomness.
"""

from math import fsum, isfinite, log, sqrt

import numpy as np
import numpy.typing as npt

from doublebubble.errors import InputError, SettingError
from doublebubble.types import Counts, Floats

_ROUNDING = 2.0**-48  # of each logarithm and of its sensitivity to its argument: 32 units of rounding, 9 are needed
_SMALLEST_FACTOR = 1e-12  # a factor below this counts as 0
_BELOW_ONE = 1 - 2.0**-48


def mean_upper_bound(
    values: npt.ArrayLike, counts: npt.ArrayLike, stake: float, alpha: float, low: float, high: float
) -> float:
    """With probability at least 1 - alpha over n independent draws of Y, E Y is at most this: (R2).

    `counts[i]` of the draws had Y = `values[i]`. Y takes values between `low` and `high` only: the least and the
    largest possible, not those seen. `stake`, at most 1/(high - low), `low` and `high` are fixed before the draws.
    Never above `high`.

    The root is found approximately and then moved up until the sum itself, less a bound on its rounding, passes.
    The bound is wider than a normal quantile would make it, by a factor that tends to sqrt(2 ln(1/alpha))/z: 1.20 at
    alpha = 0.001, 1.49 at 0.05.

    >>> round(mean_upper_bound([0.0, 1.0], [950, 50], 0.5, 0.001, 0.0, 1.0), 4)
    0.0809
    """
    y, n = _checked_table(values, counts, low, high)
    stake = _checked_stake(stake, low, high)
    _check_alpha(alpha)
    if high == low or n.sum() == 0:
        return float(high)
    y, n = y[n > 0], n[n > 0]
    target = -log(alpha) * (1 + _ROUNDING)
    u = _near_root(y, n, stake, target, high)
    step = 2.0**-50 * max(abs(low), abs(high))
    while u < high and _log_wealth(u, y, n, stake) < target:
        u += step
        step *= 2
    return float(min(u, high))


def mean_lower_bound(
    values: npt.ArrayLike, counts: npt.ArrayLike, stake: float, alpha: float, low: float, high: float
) -> float:
    """With probability at least 1 - alpha over n independent draws of Y, E Y is at least this: (R2) for -Y."""
    return -mean_upper_bound(-np.asarray(values, np.float64), counts, stake, alpha, -high, -low)


def near_best_stake(n: int, variance: float, alpha: float, low: float, high: float) -> float:
    """Return a stake that makes (R2) narrow for n draws if Y has about this variance.

    It claims nothing: a wrong guess makes the bound larger, not wrong. Capped at what the range of Y allows.
    """
    _check_alpha(alpha)
    if n < 1 or not variance >= 0 or not low <= high:
        raise SettingError(f"stake: expected n >= 1, variance >= 0, low <= high, got {n}, {variance}, {low}, {high}")
    most = _BELOW_ONE / (high - low) if high > low else 1.0
    spread = n * variance
    return min(sqrt(-2 * log(alpha) / spread), most) if spread > 0 else most


def _log_wealth(u: float, y: Floats, n: Floats, stake: float) -> float:
    """Return sum n_i ln(1 + stake (u - y_i)), rounded down."""
    x = stake * (u - y)
    factor = 1 + x
    if factor.min() < _SMALLEST_FACTOR:
        return float("-inf")
    terms = n * np.log1p(x)
    noise = np.abs(terms) + n * np.abs(x) / factor
    return fsum(terms.tolist()) - _ROUNDING * fsum(noise.tolist())


def _near_root(y: Floats, n: Floats, stake: float, target: float, high: float) -> float:
    """Return about the root of (R2), by Newton's steps from the sample mean: the sum is concave, so they stay below."""
    u = float(n @ y) / float(n.sum())
    for _ in range(60):
        factor = np.maximum(1 + stake * (u - y), _SMALLEST_FACTOR)
        step = (target - float(n @ np.log(factor))) / (stake * float(n @ (1 / factor)))
        u += step
        if u >= high or abs(step) <= 2.0**-46 * max(abs(u), abs(high)):
            break  # what is left, the square of this, is far below the rounding
    return min(u, high)


def _checked_table(values: npt.ArrayLike, counts: npt.ArrayLike, low: float, high: float) -> tuple[Floats, Floats]:
    """The table as float64 vectors; counts up to 2^53 are exact there."""
    y, given = np.asarray(values, np.float64), np.asarray(counts)
    if y.ndim != 1 or y.shape != given.shape or not np.issubdtype(given.dtype, np.integer):
        raise InputError(
            f"table: expected as many integer counts as values, got {given.shape} {given.dtype}, {y.shape}"
        )
    n: Counts = given.astype(np.int64)
    if len(n) and (n.min() < 0 or n.sum() >= 2**53):
        raise InputError(f"counts: expected integers >= 0 with a sum below 2^53, got {n.tolist()}")
    if not (isfinite(low) and isfinite(high) and low <= high):
        raise SettingError(f"range of Y: expected finite low <= high, got {low}, {high}")
    if not np.all((y >= low) & (y <= high)):
        raise InputError(f"values: expected numbers from {low} to {high}, got {y.tolist()}")
    return y, n.astype(np.float64)


def _checked_stake(stake: float, low: float, high: float) -> float:
    """The stake, a hair below 1/(high - low) at most: so that no factor is negative even by rounding."""
    if not (0 < stake < float("inf") and stake * (high - low) <= 1 + 1e-12):
        raise SettingError(f"stake: expected a number in (0, 1/(high - low)], got {stake} for {low}, {high}")
    return min(stake, _BELOW_ONE / (high - low)) if high > low else stake


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise SettingError(f"alpha: expected a number inside (0, 1), got {alpha!r}")
