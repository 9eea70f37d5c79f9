"""How far a class keeps its lead, from pairs of opposite draws: (F6) of docs/math.md.

Pure functions of probability bounds in float64. No model, no randomness.
"""

from collections.abc import Sequence
from math import inf, nextafter
from typing import NamedTuple

from scipy.special import ndtri

from doublebubble.errors import SettingError
from doublebubble.geometry.first_order import ROUNDING, SMALLEST_TAIL, Phi


class PairMass(NamedTuple):
    """Lower bounds, for one event of a single draw, on how pairs of opposite draws x + sigma Z, x - sigma Z show it."""

    both: float
    """C_S: probability that both draws show it."""
    single: float
    """C_N: half the probability that exactly one of them does."""


def dipole_radius(a: PairMass, not_rivals: Sequence[PairMass], sigma: float) -> float:
    """Guarantee: A stays ahead of every rival on the open ball of this radius, if the bounds given hold at its centre.

    `a` is for the event "vote = A"; `not_rivals` holds, for each rival B, the bounds for the event "vote is not B".
    The result never exceeds the exact value of (F6); 0 if A does not lead.
    """
    if not 0 < sigma < inf:
        raise SettingError(f"sigma: expected a positive number, got {sigma}")
    if not not_rivals:
        raise SettingError("not_rivals: expected at least one rival, got none")
    ends = [_ends(mass) for mass in (a, *not_rivals)]
    t = min(_lead_time(ends[0], other) for other in ends[1:])
    return max(0.0, nextafter(sigma * t, -inf))


def _ends(mass: PairMass) -> tuple[float, float]:
    """Return (a, b): the symmetric slab |z| < a and the half-line z < b hold no more than the masses given."""
    both, single = mass
    if not (0 <= both < 1 and 0 <= single <= 0.5 and both + 2 * single <= 1 + ROUNDING):
        raise SettingError(f"pair: expected both in [0, 1), single in [0, 1/2], both + 2 single <= 1, got {mass}")
    a, b = 0.0, -inf
    if both > 0:
        a = -float(ndtri(0.5 * (1 - both)))
        while a > 0 and Phi(-a) * (1 - ROUNDING) < 0.5 * (1 - both):
            a -= ROUNDING * (1 + a)
    if single > SMALLEST_TAIL:  # less counts as none
        b = float(ndtri(single))
        while Phi(b) * (1 + ROUNDING) > single:
            b -= ROUNDING * (1 - b)
    return max(a, 0.0), b


def _lead(t: float, ends_a: tuple[float, float], ends_b: tuple[float, float]) -> float:
    """Return a lower bound on p_A - p_B at distance t sigma, less its rounding."""
    (a, b), (a_b, b_b) = ends_a, ends_b
    plus = (Phi(a - t), Phi(b - t), Phi(b_b - t))
    minus = (Phi(-a - t), Phi(t - a_b), Phi(-a_b - t))
    return sum(plus) - sum(minus) - ROUNDING * (sum(plus) + sum(minus))


def _lead_time(ends_a: tuple[float, float], ends_b: tuple[float, float]) -> float:
    """Bisect from below for the last t with a certain lead; the exact lead falls with t."""
    if _lead(0.0, ends_a, ends_b) <= 0:
        return 0.0
    low, high = 0.0, 1.0
    while _lead(high, ends_a, ends_b) > 0:
        low, high = high, 2 * high
    for _ in range(52):
        middle = 0.5 * (low + high)
        if _lead(middle, ends_a, ends_b) > 0:
            low = middle
        else:
            high = middle
    return low
