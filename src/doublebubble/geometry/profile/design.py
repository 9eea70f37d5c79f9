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
_LEAST_MU = 1e-5  # stands for 0


class Effort(NamedTuple):
    """How closely prices are solved for; any are valid."""

    rounds: int
    """Of Newton's method for k, while mu is sought; twice as many at the end."""
    mu_rounds: int
    slope: float
    """The derivative with respect to mu that is taken for 0."""


FINE = Effort(10, 12, 3e-3)
ROUGH = Effort(4, 8, 5e-3)
"""Loses about 0.001 of the lead and takes half of the time."""
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


def best_profile_prices(guess: Guess, a: npt.ArrayLike, b: npt.ArrayLike, effort: Effort = FINE) -> list[Prices]:
    """Return prices near the best for each displacement sigma (a u0 + b v), by maximising the concave (R1).

    For a given mu the best k of a bin makes the bracket positive with exactly the guessed probability; mu is where the
    first moment of these sets is gamma. All displacements are solved for together.
    """
    a, b = (np.atleast_1d(np.asarray(values, np.float64)) for values in np.broadcast_arrays(a, b))
    if not (np.all(np.isfinite(a)) and np.all((b >= 0) & (b < np.inf))):
        raise SettingError(f"displacement: expected finite a and b >= 0, got {a}, {b}")
    search = _Search(guess, a, np.maximum(b, _LEAST_B), effort.rounds)
    low, high = np.full(len(a), _LEAST_MU), np.full(len(a), 0.25)
    slope_low = search.slope(low)
    needed = slope_low > 0
    slope_high = search.slope(high)
    while (short := needed & (slope_high > 0) & (high < 100)).any():
        low, slope_low = np.where(short, high, low), np.where(short, slope_high, slope_low)
        high = np.where(short, 2 * high, high)
        slope_high = np.where(short, search.slope(high), slope_high)
    mu = low
    for _ in range(effort.mu_rounds):  # regula falsi; the end that stays is worth half as much each time
        gap = np.maximum(slope_low - slope_high, 1e-300)
        mu = low + (high - low) * np.clip(slope_low / gap, 0.02, 0.98)
        slope = search.slope(mu)
        if np.all(~needed | (np.abs(slope) < effort.slope) | (high - low < 1e-3 * high)):
            break
        rising = slope > 0
        low, high = np.where(rising, mu, low), np.where(rising, high, mu)
        slope_low, slope_high = (
            np.where(rising, slope, 0.5 * slope_low),
            np.where(rising, 0.5 * slope_high, slope),
        )
    return search.prices(np.where(needed, mu, _LEAST_MU))


def design_sectors(guess: Guess, radius: float, ends: npt.ArrayLike) -> list[tuple[float, float, Prices]]:
    """Return (low, high, prices) for each sector between neighbouring angles `ends`, near-best at its middle.

    A functional is tight only near the displacement it was designed for, so `radius` (in sigma) should lie between the
    radius already certain and the one hoped for, about 0.7 of the way, and sectors should be narrow where the lead is
    small.
    """
    angles = np.asarray(ends, np.float64)
    middles = 0.5 * (angles[:-1] + angles[1:])
    prices = best_profile_prices(guess, radius * np.cos(middles), radius * np.sin(middles))
    return list(zip(angles[:-1].tolist(), angles[1:].tolist(), prices, strict=True))


def sector_ends(count: int) -> Floats:
    """Return the ends of this many sectors of 0..pi, narrower towards u0, where the lead is smallest."""
    ends: Floats = np.pi * np.linspace(0.0, 1.0, count + 1) ** 1.5
    ends[-1] = np.pi
    return ends


class _Search:
    """The best k of all bins at several displacements, for one mu after another, each from where the last one ended."""

    def __init__(self, guess: Guess, a: Floats, b: Floats, rounds: int) -> None:
        # axes: displacement, A or B, bin, point of the bin
        self.guess, self.b = guess, b[:, None, None, None]
        z, self.weights = _quadrature(guess.edges)
        self.log_a = (a[:, None, None] * z - 0.5 * (a * a)[:, None, None])[:, None]
        f = np.clip(np.stack([guess.f_a, 1 - guess.f_b]), _LEAST, 1 - _LEAST)
        self.probit, self.wide = np.asarray(Phi_inv(f)), np.asarray(Phi_inv(0.5 * (1 + f)))
        self.masses = bin_masses(guess.edges)
        self.rounds = rounds
        self.k: Floats | None = None

    def slope(self, mu: Floats) -> Floats:
        """Solve for k at these mu; return the derivatives of (R1) with respect to mu there."""
        k = self._solve(mu, self.rounds)
        left, right = roots(k[..., None], mu[:, None, None, None], self.b, self.log_a)
        moment = ((phi(left) - phi(right)) * self.weights).sum(axis=3)
        slopes: Floats = -self.guess.gamma - (moment @ self.masses).sum(axis=1)
        return slopes

    def prices(self, mu: Floats) -> list[Prices]:
        """Return the prices for these mu, k solved for more closely."""
        k = self._solve(mu, 2 * self.rounds)
        each = np.where(mu > 2 * _LEAST_MU, mu, 0.0).tolist()
        return [Prices(self.guess.edges, k[i, 0], k[i, 1], each[i]) for i in range(len(mu))]

    def _solve(self, mu: Floats, rounds: int) -> Floats:
        """Newton's method on the probit scale, where the probability is nearly linear in k, within a bracket."""
        mu = mu[:, None, None, None]
        low, high = self._bracket(mu)
        k = high if self.k is None else np.clip(self.k, low, high)
        for _ in range(rounds):
            left, right = roots(k[..., None], mu, self.b, self.log_a)
            chance = ((Phi(right) - Phi(left)) * self.weights).sum(axis=3)
            probit = Phi_inv(np.clip(chance, 1e-9, 1 - 1e-9))
            error = self.probit - probit
            if np.all((np.abs(error) < 3e-3) | (high - low < 0.01 * np.abs(high))):
                break
            low, high = np.where(error > 0, k, low), np.where(error > 0, high, k)
            speed = (_rate(left, k[..., None], mu, self.b) + _rate(right, k[..., None], mu, self.b)) * self.weights
            newton = k + error * phi(probit) / np.maximum(speed.sum(axis=3), 1e-12)
            k = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        self.k = k
        return k

    def _bracket(self, mu: Floats) -> tuple[Floats, Floats]:
        """Return prices with too small and too large a probability: by each end alone, and by both sharing the rest."""
        height = peak_height(mu, self.b, self.log_a)
        least, top = (mu / self.b) * (1 - height), height / self.b

        def price(y: Floats) -> Floats:
            value: Floats = np.exp(self.log_a + self.b * (y - 0.5 * self.b)) - mu * y
            return value

        h, wide = self.probit[..., None], self.wide[..., None]
        low = np.maximum(np.where(h > top, price(h), least), np.where(-h < top, price(-h), least))
        high = np.maximum(price(wide), price(-wide))
        return low.min(axis=3), high.max(axis=3)


def _rate(y: Floats, k: Floats, mu: Floats, b: Floats) -> Floats:
    """Return how fast the mass beyond a root grows with k; the slope of the bracket there is mu - b w, w = k + mu y."""
    slope = np.abs(mu - b * (k + mu * y))
    rate: Floats = phi(y) / np.maximum(slope, 1e-9)
    return rate


def _quadrature(edges: Floats) -> tuple[Floats, Floats]:
    """Return three points in each bin and their weights given the bin; an unbounded bin is cut after 0.98 of it."""
    far_left = float(Phi_inv(0.02 * Phi(edges[0])))
    far_right = -float(Phi_inv(0.02 * Phi(-edges[-1])))
    ends = np.concatenate(([far_left], edges, [far_right]))
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    z = middle[:, None] + half[:, None] * _NODES
    weights = _WEIGHTS * np.exp(-0.5 * (z * z - middle[:, None] ** 2))
    return z, weights / weights.sum(axis=1, keepdims=True)
