"""How far does Theorem R reach if the profile and the slope off the line are known exactly? No certificate.

With exact numbers every displacement may have prices of its own, so there are no sectors and nothing to cover: the
radius is where the best prices for the displacement itself first prove no lead.
"""

from typing import NamedTuple

import numpy as np

from doublebubble.geometry.profile import GuessedProfile, Prices, PriceTable, best_profile_prices, mean_value
from doublebubble.geometry.profile.cost import FARTHEST, NARROWEST
from doublebubble.geometry.profile.design import FINE
from doublebubble.types import Floats

_ANGLES = np.array([0.03, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.05, 1.2, 1.35, 1.5, 1.7, 2.0])
_STEPS = 8  # radii looked at along each angle
_ROUNDS = 4  # of looking more closely, each at a seventh of the spacing and at angles nearer to the worst


class Reached(NamedTuple):
    """The radius in sigmas, and the displacement at which the worst classifier draws level."""

    radius: float
    angle: float
    prices: Prices

    @property
    def displacement(self) -> tuple[float, float]:
        """Along the line, and at right angles to it."""
        return self.radius * float(np.cos(self.angle)), self.radius * float(np.sin(self.angle))


def exact_radius(prices_for: GuessedProfile, r0: float, known: GuessedProfile | None = None) -> Reached:
    """The radius that (R1) gives, at least r0, in sigmas: prices for one guess, means of what is `known`.

    The two differ where what is known is an estimate: prices from a smooth fit do not adapt to its noise.
    """
    values = prices_for if known is None else known
    angles, low, high = _ANGLES, max(r0, 0.02), min(1.6 * r0 + 0.5, FARTHEST)
    worst = Reached(max(r0, 0.0), 0.0, best_profile_prices(prices_for, max(r0, 0.02), 0.0)[0])
    for _ in range(_ROUNDS):
        radii = np.linspace(low, high, _STEPS)
        angle, radius = (grid.ravel() for grid in np.meshgrid(angles, radii))
        a, b = radius * np.cos(angle), radius * np.sin(angle)
        prices = best_profile_prices(prices_for, a, b, FINE)
        leads = _leads(prices, values, a, b).reshape(_STEPS, -1)
        lost = np.any(leads <= 0, axis=1).tolist()
        if lost[0]:
            break
        row = lost.index(True) if any(lost) else _STEPS - 1
        column = int(leads[row].argmin())
        worst = Reached(float(radii[row]), float(angles[column]), prices[row * len(angles) + column])
        if not any(lost):
            break
        low, high = float(radii[row - 1]), float(radii[row])
        around = np.abs(np.diff(angles)).min()
        angles = np.clip(angles[column] + around * np.linspace(-1, 1, 7), 0.01, 3.1)
    return worst


def _leads(prices: list[Prices], known: GuessedProfile, a: Floats, b: Floats) -> Floats:
    """What each functional proves at its own displacement; bins are divided, so that chords lose little."""
    table = PriceTable([_divided(each) for each in prices])
    means = np.array([mean_value(each, known) for each in prices])
    leads: Floats = means - table.cost(np.arange(len(prices)), a, b)
    return leads


def _divided(prices: Prices) -> Prices:
    """The same prices on narrower bins."""
    edges = prices.edges
    parts = np.maximum(1, np.floor(np.diff(edges) / (1.01 * NARROWEST))).astype(int)
    inner = [np.linspace(low, high, n + 1)[:-1] for low, high, n in zip(edges[:-1], edges[1:], parts, strict=True)]
    fine: Floats = np.concatenate([*inner, edges[-1:]])
    repeats = [1, *parts.tolist(), 1]
    return Prices(fine, np.repeat(prices.k_a, repeats), np.repeat(prices.k_b, repeats), prices.mu)
