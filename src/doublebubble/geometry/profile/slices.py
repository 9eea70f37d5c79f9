"""What prices cost on one slice of the noise, z fixed: c(A) = E[(k + mu y - A exp(b y - b^2/2))_+], y standard normal.

Vectorised closed forms in float64, rounded up. No model, no randomness. The bracket is concave in y and positive
between two roots; roots are found approximately, and the bracket left over at each computed root is added.
"""

import numpy as np
from scipy.special import ndtr as Phi

from doublebubble.types import Floats

ROUNDING = 2.0**-44
"""Relative error allowed to each term: 512 units of rounding (docs/math.md, section 9)."""

_FAR = (
    9.0  # y is cut off at +-9: beyond, the bracket is at most |k| + mu |y|, and integrates to less than 1e-16 of that
)
_TAIL = 1e-16
_FLAT = 1e-12  # a lower peak, in units of mu/b, gets the roots of a peak this high
_ROOT_TWO_PI = float(np.sqrt(2 * np.pi))


def slice_cost(k: Floats, mu: Floats, b: Floats, log_a: Floats) -> Floats:
    """Return c(A), rounded up, for A = exp(log_a); all broadcast. mu is 0 or positive everywhere, and so is b."""
    if not np.any(b):
        return _along(k, mu, log_a)
    return _between_roots(k, mu, b, log_a) if np.any(mu) else _half_line(k, b, log_a)


def slice_cost_without_weight(k: Floats, mu: Floats) -> Floats:
    """Return c(0) = E[(k + mu y)_+], rounded up."""
    return _along(k, mu, np.full(np.shape(k), -np.inf))


def roots(k: Floats, mu: Floats, b: Floats, log_a: Floats) -> tuple[Floats, Floats]:
    """Return about the two roots in y of the bracket (equal, at its peak, where it is nowhere positive); mu, b > 0."""
    top = peak_height(mu, b, log_a)
    below, above = _offsets(np.maximum((b / mu) * k + (top - 1), _FLAT))
    return (top + below) / b, (top + above) / b


def peak_height(mu: Floats, b: Floats, log_a: Floats) -> Floats:
    """Return b y*, y* the place of the bracket's peak: the bracket is positive somewhere if k > (mu/b) (1 - b y*)."""
    height: Floats = (np.log(mu / b) + 0.5 * b * b) - log_a
    return height


def phi(y: Floats) -> Floats:
    """Return the standard normal density."""
    density: Floats = np.exp(-0.5 * y * y) / _ROOT_TWO_PI
    return density


def _between_roots(k: Floats, mu: Floats, b: Floats, log_a: Floats) -> Floats:
    # At y = y* + L/b the bracket is (mu/b) (eta + 1 + L - e^L): its peak is (mu/b) eta.
    top = peak_height(mu, b, log_a)
    eta = (b / mu) * k + (top - 1)
    below, above = _offsets(np.maximum(eta, _FLAT))
    left, right = (top + below) / b, (top + above) / b
    A, size = np.exp(log_a), np.abs(k)
    value_left, extra_left = _upto(np.clip(left, -_FAR, _FAR), k, mu, b, log_a, A)
    value_right, extra_right = _upto(np.clip(right, -_FAR, _FAR), k, mu, b, log_a, A)
    # At a root beyond the cut only the part of the bracket on the wrong side of 0 counts.
    at_left = np.maximum(np.where(left > -_FAR, extra_left, 0), np.where(left < _FAR, -extra_left, 0))
    at_right = np.maximum(np.where(right < _FAR, extra_right, 0), np.where(right > -_FAR, -extra_right, 0))
    extra = np.where(right > -_FAR, at_left, 0) + np.where(left < _FAR, at_right, 0)
    noise = ROUNDING * (4 * size + 16 * mu + 2 * A) + _TAIL * (size + mu)
    found = np.maximum(value_right - value_left + extra, 0.0) + noise
    none = noise + ROUNDING * (size + (mu / b) * (np.abs(top) + 1))  # the peak is above 0 by its own rounding at most
    return np.asarray(np.where(eta > 0, found, none), np.float64)


def _along(k: Floats, mu: Floats, log_a: Floats) -> Floats:
    """Return E[(k - A + mu y)_+]: b = 0. Beyond 40 deviations Phi is 0 or 1 to far below the rounding allowed for."""
    A = np.exp(log_a)
    gap = k - A
    x = np.clip(gap / np.maximum(mu, 1e-200), -40.0, 40.0)
    cost: Floats = np.maximum(gap * Phi(x) + mu * phi(x), 0.0) + ROUNDING * (np.abs(k) + A + mu)
    return cost


def _half_line(k: Floats, b: Floats, log_a: Floats) -> Floats:
    """Return E[(k - w)_+]: mu = 0. The bracket is positive for y < h, where w = k."""
    A, positive = np.exp(log_a), np.maximum(k, 0.0)
    with np.errstate(divide="ignore"):
        h = np.clip((np.log(positive) - log_a) / b + 0.5 * b, -40.0, 40.0)
    extra = np.where(np.abs(h) < 40, np.abs(positive - np.exp(log_a + b * (h - 0.5 * b))), 0.0)
    extra *= phi(np.maximum(np.abs(h) - 1, 0.0))  # at least the mass between h and the exact root
    return np.maximum(positive * Phi(h) - A * Phi(h - b), 0.0) + extra + ROUNDING * (positive + A)


def _upto(y: Floats, k: Floats, mu: Floats, b: Floats, log_a: Floats, A: Floats) -> tuple[Floats, Floats]:
    """Return the integral of the bracket times phi from minus infinity to y, and the bracket at y."""
    return k * Phi(y) - mu * phi(y) - A * Phi(y - b), k + mu * y - np.exp(log_a + b * (y - 0.5 * b))


def _offsets(eta: Floats) -> tuple[Floats, Floats]:
    """Return about the L < 0 and the L > 0 with e^L - 1 - L = eta > 0: fitted, and corrected once."""
    root = np.sqrt(eta)
    spread = np.sqrt(2.0) * root
    left = np.expm1(-spread - eta * (1 / 3 + 0.0912 * root + 0.00164 * eta)) - eta
    bend = 3 + 0.7263 * root + 0.00796 * eta / (1 + 0.1033 * root)
    right = np.log1p(spread + eta * (1 - 1 / bend))
    return np.minimum(_corrected(left, eta), 0.0), np.maximum(_corrected(right, eta), 0.0)


def _corrected(L: Floats, eta: Floats) -> Floats:
    """One step of Halley's method."""
    slope = np.exp(L) - 1
    error = slope - L - eta
    better: Floats = L - error * slope / (slope * slope - 0.5 * error * (slope + 1))
    return better
