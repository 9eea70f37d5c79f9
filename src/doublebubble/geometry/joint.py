"""How far A keeps its lead over B when one mean, of prices times votes, is known: the joint functional of section 8.

Pure functions of numbers in float64. No model, no randomness.
"""

from math import exp, inf, isfinite, log, nextafter

from scipy.special import ndtri as Phi_inv

from doublebubble.errors import InputError, SettingError
from doublebubble.geometry.first_order import Phi

_ROUNDING = 2.0**-44  # relative error allowed to each term
_FARTHEST = 38.0  # beyond this many sigma no float64 probability differs from 0 and 1


def joint_cost(k: float, t: float) -> float:
    """Return C(k; t) = E[(k - exp(t z - t^2/2))_+], rounded up: what a price k > 0 costs at distance t sigma.

    It does not decrease in t.
    """
    if not (0 < k < inf and 0 <= t < inf):
        raise SettingError(f"joint cost: expected a price k > 0 and t >= 0, got {k}, {t}")
    if t == 0:
        return max(0.0, nextafter(k - 1.0, inf))
    h = log(k) / t + 0.5 * t
    inside, moved = k * Phi(h), Phi(h - t)
    return max(0.0, inside - moved + _ROUNDING * (inside + moved) + 2.0**-50 * (1 + k))  # (J1)


def joint_radius(mean_lower: float, k_a: float, k_b: float, sigma: float) -> float:
    """Guarantee: A stays ahead of B on the open ball of this radius, if E[k_a 1[A] + k_b 1[not B]] >= mean_lower.

    The expectation is over the votes at the ball's centre. Any positive prices are valid; `best_prices` proposes some.
    Rounded down; 0 if no lead is certain.
    """
    if not (isfinite(mean_lower) and mean_lower <= (k_a + k_b) * (1 + _ROUNDING)):
        raise InputError(f"mean_lower: expected a number of at most k_a + k_b = {k_a + k_b}, got {mean_lower}")
    if not 0 < sigma < inf:
        raise SettingError(f"sigma: expected a positive number, got {sigma}")

    def lead(t: float) -> float:
        return mean_lower - 1 - joint_cost(k_a, t) - joint_cost(k_b, t) - _ROUNDING * (1 + abs(mean_lower))  # (J2)

    if not lead(0.0) > 0:
        return 0.0
    low, high = 0.0, 1.0
    while lead(high) > 0 and high < _FARTHEST:
        low, high = high, 2 * high
    for _ in range(52):
        middle = 0.5 * (low + high)
        if lead(middle) > 0:
            low = middle
        else:
            high = middle
    return max(0.0, nextafter(sigma * low, -inf))


def best_prices(p_a: float, p_b: float) -> tuple[float, float]:
    """Return the prices (k_a, k_b) that certify most if the probabilities are as guessed: (S3), with exact ones."""
    if not (0 <= p_a <= 1 and 0 <= p_b <= 1):
        raise SettingError(f"probabilities: expected numbers from 0 to 1, got {p_a}, {p_b}")
    h_a, h_b = (float(Phi_inv(min(max(p, 1e-12), 1 - 1e-12))) for p in (p_a, 1 - p_b))
    t = max(0.5 * (h_a + h_b), 1e-3)
    return exp(t * h_a - 0.5 * t * t), exp(t * h_b - 0.5 * t * t)
