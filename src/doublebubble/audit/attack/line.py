"""How near along one direction can a rival be shown to lead? A forecast from looks at a few distances.

The share of the rival among the votes for it and for the top class follows, on the scale of normal quantiles, nearly a
line in the distance: exactly so at a flat boundary. What is forecast here is tested afterwards, on other draws.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtri as Phi_inv
from scipy.stats import norm

from doublebubble.audit.attack.descent import strongest
from doublebubble.types import Counts

_SPREAD = (0.85, 1.0, 1.15)  # the first looks, in multiples of where a success is thought to be
_FURTHER = 3  # looks where the line says
_MOST = 1.6  # a look is at most so many times farther or nearer than the one before

Look = Callable[[float], Counts]
"""The votes of some draws at a distance along the direction."""


@dataclass(frozen=True)
class Forecast:
    """The distance at which a test should pass, and the rival to test there."""

    distance: float
    rival: int


def forecast(look: Look, top: int, start: float, n: int, score: float) -> Forecast:
    """Where the surplus of a rival among n draws should have this score, in standard deviations of the sign test."""
    seen = [(distance, look(distance)) for distance in (share * start for share in _SPREAD)]
    found = start
    for number in range(_FURTHER + 1):
        rival = strongest(max(seen, key=lambda one: one[0])[1], top)
        found = float(np.clip(_crossing(seen, top, rival, n, score), found / _MOST, found * _MOST))
        if number < _FURTHER:
            seen.append((found, look(found)))
    return Forecast(found, rival)


def _crossing(seen: list[tuple[float, Counts]], top: int, rival: int, n: int, score: float) -> float:
    """The distance at which the line through the looks reaches the share that the score asks for.

    If the rival does not gain with the distance, that is farther than any look.
    """
    distances = np.array([distance for distance, _ in seen])
    both = np.array([int(votes[rival] + votes[top]) for _, votes in seen])
    shares = (np.array([int(votes[rival]) for _, votes in seen]) + 0.5) / (both + 1)
    quantiles = Phi_inv(shares)
    weights = np.sqrt((both + 1) * norm.pdf(quantiles) ** 2 / (shares * (1 - shares)))
    slope, height = np.polyfit(distances, quantiles, 1, w=weights)
    if slope <= 0:
        return float(distances.max()) * _MOST
    draws = int(seen[-1][1].sum())
    for_either = max(1.0, n * float(both[np.argmax(distances)]) / draws)
    needed = min(0.5 + score / (2 * sqrt(for_either)), 1 - 1e-9)
    return float((Phi_inv(needed) - height) / slope)
