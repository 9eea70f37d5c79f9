"""The worst classifiers of docs/images/worst.png: for one input, those that Cohen, first order and a profile leave.

All three have the same probability of A, the last two the same slope; each changes its class where the radius beside it
ends (the last one a little beyond, as its bins are narrower). Displacements and noise are in units of sigma.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv

from benchmarks.profile_ceiling import Reached, exact_radius
from doublebubble.geometry import Rival, cohen_radius, first_order_radius
from doublebubble.geometry.profile import checked_guess, default_edges
from doublebubble.geometry.profile.slices import roots
from doublebubble.types import Floats

P, SLOPE, OFF = 0.8, 0.8, 0.03
"""The probability of A; the slope along u0, as a part of a half-space's; the slope off u0."""
BINS = 40

Region = Callable[[Floats, Floats], Floats]
"""Where A is: positive, at places (z, y) of the noise."""


@dataclass(frozen=True)
class Worst:
    """What is known, the classifier that is then the worst, the radius, and the displacement that reaches it."""

    title: str
    known: str
    radius: float
    displacement: tuple[float, float]
    region: Region


def worst_classifiers() -> tuple[Worst, Worst, Worst]:
    """The three, from what is known of the same input."""
    plain = cohen_radius(P, 1 - P, 1.0)
    slope = 2 * SLOPE * _density(float(Phi_inv(P)))  # of the lead: both classes' slopes
    first = first_order_radius(P, [Rival(1 - P, float(np.hypot(slope, OFF)))], 1.0)
    profile = reached()
    return (
        Worst("Cohen", "the probability of A", plain, (plain, 0.0), _half_space()),
        Worst("first order", "and the slope", first, (first, 0.0), _slab(0.5 * float(np.hypot(slope, OFF)))),
        Worst("profile", "and the votes along u0", profile.radius, profile.displacement, _between(profile)),
    )


def reached() -> Reached:
    """How far the profile's radius reaches, where, and with which prices."""
    edges = default_edges(BINS)
    blur = float(np.sqrt(1 - SLOPE**2))
    ends = np.concatenate([[-8.0], edges, [8.0]])
    inside = [np.linspace(low, high, 401) for low, high in itertools.pairwise(ends)]
    f = [np.average(Phi((Phi_inv(P) - SLOPE * z) / blur), weights=_density(z)) for z in inside]
    return exact_radius(checked_guess(edges, f, 1 - np.array(f), OFF), float(Phi_inv(P)))


def _half_space() -> Region:
    return lambda z, y: float(Phi_inv(P)) - z + 0 * y


def _slab(moment: float) -> Region:
    """(F1): -L < z < c with the mass p and the first moment given."""

    def far(c: float) -> float:
        return float(Phi_inv(min(1 + P - Phi(c), 1.0)))

    c = brentq(lambda c: _density(c) - _density(far(c)) - moment, float(Phi_inv((1 + P) / 2)), float(Phi_inv(P)) + 1e-9)
    return lambda z, y: np.minimum(c - z, z + far(c)) + 0 * y


def _between(found: Reached) -> Region:
    """Where the bracket of (R1) is positive: for each z an interval of y, with the known chance.

    On bins of no width: at every z the price is such that the chance is exactly that of A there.
    """
    a, b = (np.array(value) for value in found.displacement)
    mu = np.array(found.prices.mu)
    z = np.linspace(-4.0, 4.0, 1601)
    chance = Phi((Phi_inv(P) - SLOPE * z) / np.sqrt(1 - SLOPE**2))
    low, high = np.full(z.shape, -20.0), np.full(z.shape, 200.0)
    for _ in range(60):
        k = 0.5 * (low + high)
        left, right = roots(k, mu, b, a * z - 0.5 * a * a)
        small = Phi(right) - Phi(left) < chance
        low, high = np.where(small, k, low), np.where(small, high, k)

    def region(at: Floats, y: Floats) -> Floats:
        bracket: Floats = np.interp(at, z, low) + mu * y - np.exp(a * at + b * y - 0.5 * (a * a + b * b))
        return bracket

    return region


def _density(z: Floats | float) -> Any:
    return np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
