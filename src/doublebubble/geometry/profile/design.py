"""Which prices make (R1) large, if the profile is as guessed? For each bin an interval of y, for all bins one mu.

Vectorised float64. No model, no randomness. Nothing here claims anything: any prices are valid in (R1).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv

from doublebubble.errors import SettingError
from doublebubble.geometry.profile.cost import Prices, bin_masses, checked_edges
from doublebubble.geometry.profile.slices import peak_height, phi, roots
from doublebubble.types import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
_ROUNDS, _LAST_ROUNDS = 10, 20  # of Newton's method, while mu is sought and at the end
_LEAST = 1e-4  # guessed probabilities are kept this far from 0 and 1, so that prices stay moderate
_LEAST_B = 0.002  # a displacement along the line is treated as nearly so: there mu is 0 and k jumps within a bin


class Guess(NamedTuple):
    """What the search expects of the votes: for each bin of z = u0.Z, and off the line."""

    edges: Floats
    """Inner edges of the bins."""
    f_a: Floats
    """Probability of A, given the bin."""
    f_b: Floats
    """Probability of the rival, given the bin."""
    gamma: float
    """Bound on |D_off|, the slope of the lead off the line."""


def checked_guess(edges: npt.ArrayLike, f_a: npt.ArrayLike, f_b: npt.ArrayLike, gamma: float) -> Guess:
    """Return the guess as arrays, or an error."""
    inner = checked_edges(edges)
    a, b = np.asarray(f_a, np.float64), np.asarray(f_b, np.float64)
    for name, f in (("f_a", a), ("f_b", b)):
        if f.shape != (len(inner) + 1,) or not np.all((f >= 0) & (f <= 1)):
            raise SettingError(f"{name}: expected a probability for each of {len(inner) + 1} bins, got {f}")
    if not 0 <= gamma < np.inf:
        raise SettingError(f"gamma: expected a finite number >= 0, got {gamma!r}")
    return Guess(inner, a, b, float(gamma))


def mean_value(prices: Prices, guess: Guess) -> float:
    """Return E[k_A f_A] + E[k_B (1 - f_B)] - 1 - mu gamma at the guess: what the prices promise before cost."""
    masses = bin_masses(guess.edges)
    return float(masses @ (prices.k_a * guess.f_a + prices.k_b * (1 - guess.f_b)) - 1 - prices.mu * guess.gamma)


def best_profile_prices(guess: Guess, a: float, b: float, start: Prices | None = None) -> Prices:
    """Return prices near the best for the displacement sigma (a u0 + b v), by maximising the concave (R1).

    For a given mu the best k of a bin makes the bracket positive with exactly the guessed probability; mu is where the
    first moment of these sets is gamma. `start` may be the prices of a neighbouring displacement, to save time.
    """
    if not (np.isfinite(a) and 0 <= b < np.inf):
        raise SettingError(f"displacement: expected finite a and b >= 0, got {a}, {b}")
    search = _Search(guess, a, max(b, _LEAST_B), start)
    low, slope_low = 0.0, search.slope(0.0)
    if slope_low <= 0:
        return search.prices(0.0)
    high = start.mu if start is not None and start.mu > 0 else 0.25
    while (slope_high := search.slope(high)) > 0:
        low, slope_low, high = high, slope_high, 2 * high
        if high > 100:
            break
    for _ in range(12):  # regula falsi; the end that stays is worth half as much each time
        mu = low + (high - low) * min(max(slope_low / (slope_low - slope_high), 0.02), 0.98)
        slope = search.slope(mu)
        if abs(slope) < 3e-3 or high - low < 1e-3 * high:
            break
        if slope > 0:
            low, slope_low, slope_high = mu, slope, 0.5 * slope_high
        else:
            high, slope_high, slope_low = mu, slope, 0.5 * slope_low
    return search.prices(mu)


def design_sectors(guess: Guess, radius: float, ends: npt.ArrayLike) -> list[tuple[float, float, Prices]]:
    """Return (low, high, prices) for each sector between neighbouring angles `ends`, near-best at its middle.

    A functional is tight only near the displacement it was designed for, so `radius` (in sigma) should lie between the
    radius already certain and the one hoped for, about 0.7 of the way, and sectors should be narrow where the lead is
    small.
    """
    angles = np.asarray(ends, np.float64)
    sectors: list[tuple[float, float, Prices]] = []
    prices: Prices | None = None
    for low, high in zip(angles[:-1].tolist(), angles[1:].tolist(), strict=True):
        middle = 0.5 * (low + high)
        prices = best_profile_prices(guess, radius * float(np.cos(middle)), radius * float(np.sin(middle)), prices)
        sectors.append((low, high, prices))
    return sectors


def sector_ends(count: int) -> Floats:
    """Return the ends of this many sectors of 0..pi, narrower towards u0, where the lead is smallest."""
    ends: Floats = np.pi * np.linspace(0.0, 1.0, count + 1) ** 1.5
    ends[-1] = np.pi
    return ends


class _Search:
    """The best k of all bins for one mu after another, each from where the last one ended."""

    def __init__(self, guess: Guess, a: float, b: float, start: Prices | None) -> None:
        self.guess, self.b = guess, b
        z, self.weights = _quadrature(guess.edges)
        self.log_a = a * z - 0.5 * a * a
        f = np.clip(np.stack([guess.f_a, 1 - guess.f_b]), _LEAST, 1 - _LEAST)
        self.probit, self.wide = np.asarray(Phi_inv(f)), np.asarray(Phi_inv(0.5 * (1 + f)))
        self.masses = bin_masses(guess.edges)
        self.k: Floats = np.zeros(f.shape) if start is None else np.stack([start.k_a, start.k_b])
        self.rounds = int(start is not None)

    def slope(self, mu: float) -> float:
        """Solve for k at this mu; return the derivative of (R1) with respect to mu there."""
        self._solve(mu, _ROUNDS)
        left, right = roots(self.k[..., None], mu, self.b, self.log_a)
        moment = ((phi(left) - phi(right)) * self.weights).sum(axis=2)
        return float(-self.guess.gamma - (moment @ self.masses).sum())

    def prices(self, mu: float) -> Prices:
        """Return the prices for this mu, k solved for more closely."""
        self._solve(mu, _LAST_ROUNDS)
        return Prices(self.guess.edges, self.k[0], self.k[1], float(mu) if mu > 1e-6 else 0.0)

    def _solve(self, mu: float, rounds: int) -> None:
        """Newton's method on the probit scale, where the probability is nearly linear in k, within a bracket."""
        low, high = self._bracket(mu)
        k = np.clip(self.k, low, high) if self.rounds else high
        for _ in range(rounds):
            left, right = roots(k[..., None], mu, self.b, self.log_a)
            chance = ((Phi(right) - Phi(left)) * self.weights).sum(axis=2)
            probit = Phi_inv(np.clip(chance, 1e-9, 1 - 1e-9))
            error = self.probit - probit
            self.rounds += 1
            if np.all((np.abs(error) < 3e-3) | (high - low < 0.01 * np.abs(high))):
                break
            low, high = np.where(error > 0, k, low), np.where(error > 0, high, k)
            speed = (
                (_rate(left, k[..., None], mu, self.b) + _rate(right, k[..., None], mu, self.b)) * self.weights
            ).sum(axis=2)
            newton = k + error * phi(probit) / np.maximum(speed, 1e-12)
            k = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        self.k = k

    def _bracket(self, mu: float) -> tuple[Floats, Floats]:
        """Return prices with too small and too large a probability: by each end alone, and by both sharing the rest."""
        least = (mu / self.b) * (1 - peak_height(mu, self.b, self.log_a)) if mu > 0 else np.zeros(self.log_a.shape)
        top = peak_height(mu, self.b, self.log_a) / self.b if mu > 0 else np.full(self.log_a.shape, -np.inf)

        def price(y: Floats) -> Floats:
            value: Floats = np.exp(self.log_a + self.b * (y - 0.5 * self.b)) - mu * y
            return value

        h = self.probit[..., None]
        low = np.maximum(np.where(h > top, price(h), least), np.where(-h < top, price(-h), least))
        wide = self.wide[..., None]
        high = np.maximum(price(wide), price(-wide)) if mu > 0 else price(h)
        return low.min(axis=2), high.max(axis=2)


def _rate(y: Floats, k: Floats, mu: float, b: float) -> Floats:
    """Return how fast the mass beyond a root grows with k; the slope of the bracket there is mu - b w, w = k + mu y."""
    with np.errstate(invalid="ignore"):
        slope = np.abs(mu - b * (k + mu * y)) if mu > 0 else b * np.abs(k)
    return np.where(np.isfinite(y), phi(y) / np.maximum(slope, 1e-9), 0.0)


def _quadrature(edges: Floats) -> tuple[Floats, Floats]:
    """Return three points in each bin and their weights given the bin; an unbounded bin is cut after 0.98 of it."""
    far_left = float(Phi_inv(0.02 * Phi(edges[0])))
    far_right = -float(Phi_inv(0.02 * Phi(-edges[-1])))
    ends = np.concatenate(([far_left], edges, [far_right]))
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    z = middle[:, None] + half[:, None] * _NODES
    weights = _WEIGHTS * np.exp(-0.5 * (z * z - middle[:, None] ** 2))
    return z, weights / weights.sum(axis=1, keepdims=True)
