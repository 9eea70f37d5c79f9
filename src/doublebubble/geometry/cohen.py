"""The radius that the class probabilities at one point certify around it: float64, no model, no randomness."""

import math
from typing import overload

import numpy as np
from scipy.special import ndtri as Phi_inv

from doublebubble.errors import InputError, SettingError
from doublebubble.types import Floats

_EPS = float(np.finfo(np.float64).eps)
_ULPS = 16  # of every term of the sum; the quantile function was seen to err by 3.2


@overload
def cohen_radius(p_a: float, p_b: float | None, sigma: float) -> float: ...
@overload
def cohen_radius(p_a: Floats, p_b: Floats | float | None, sigma: Floats | float) -> Floats: ...
def cohen_radius(p_a: Floats | float, p_b: Floats | float | None, sigma: Floats | float) -> Floats | float:
    """If p_A(x) >= p_a and every other p_k(x) <= p_b, then g = A on the open ball of this radius about x, if positive.

    (S3) when p_b is given, (S3b) when it is None; arguments broadcast, scalars give a float. The value is signed:
    zero or less certifies nothing, and a search can climb it; p_a = 0 or p_b = 1 gives minus infinity. p_a = 1 or
    p_b = 0 would certify all of space, which no exact bound can: an InputError.

    Rounded down. scipy's quantile function was seen to err by up to 3.2 units in the last place (38 780 random p
    against 40 digits: measured, not proved), a product, a subtraction and a halving add at most 2 more
    of the sum of the terms' sizes; 16 are taken off.

    >>> round(cohen_radius(0.8413447460685429, None, sigma=0.5), 6)  # Phi(1), so 1 sigma
    0.5
    """
    a, s = np.asarray(p_a, np.float64), _checked_sigma(sigma)
    if not np.all((a >= 0) & (a < 1)):
        raise InputError(f"p_a: expected a probability in [0, 1), got {p_a!r}")
    q_a = np.asarray(Phi_inv(a))
    if p_b is None:
        value, size = s * q_a, s * np.abs(q_a)  # (S3b)
    else:
        b = np.asarray(p_b, np.float64)
        if not np.all((b > 0) & (b <= 1)):
            raise InputError(f"p_b: expected a probability in (0, 1], got {p_b!r}")
        q_b = np.asarray(Phi_inv(b))
        value, size = s / 2 * (q_a - q_b), s / 2 * (np.abs(q_a) + np.abs(q_b))  # (S3)
    rounded = np.nextafter(value - _ULPS * _EPS * size, -np.inf)
    return float(rounded) if rounded.ndim == 0 else rounded


def cohen_ceiling(n: int, alpha: float, sigma: float) -> float:
    """No counts of n draws certify a larger Cohen radius at level alpha than this: all n agree.

    Rounded up by 1e-12 of itself. Zero or less: these n and alpha can certify nothing.
    """
    if n < 1:
        raise SettingError(f"number of draws n: expected an integer >= 1, got {n!r}")
    if not 0 < alpha < 1:
        raise SettingError(f"alpha: expected a number inside (0, 1), got {alpha!r}")
    scale = float(_checked_sigma(sigma))
    log_p = math.log(alpha) / n
    ceiling = scale * float(Phi_inv(math.exp(log_p)) if log_p < -0.5 else -Phi_inv(-math.expm1(log_p)))  # (S4)
    return ceiling + 1e-12 * abs(ceiling)


def _checked_sigma(sigma: Floats | float) -> Floats:
    """Sigma as an array; the range keeps every product away from overflow and underflow."""
    s = np.asarray(sigma, np.float64)
    if not np.all((s >= 1e-100) & (s <= 1e100)):
        raise SettingError(f"sigma: expected a number above 0 (from 1e-100 to 1e100), got {sigma!r}")
    return s
