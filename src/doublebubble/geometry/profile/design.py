"""Which prices make (R1) large, if the profile is as guessed? For each bin an interval of y, for all bins one mu.

Vectorised float64. No model, no randomness. Nothing here claims anything: any prices are valid in (R1).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv

from doublebubble.errors import SettingError
from doublebubble.geometry.profile.cost import LARGEST, Prices, bin_masses, checked_edges
from doublebubble.geometry.profile.slices import peak_height, phi, roots
from doublebubble.types import Floats

_LEAST_MU = 1e-5  # stands for 0
_FIRST_MU = 0.8  # times b
_SETTLE = 2  # rounds for k alone, before mu moves too
_ROOM = 1.2  # the logarithm of mu moves by at most this in a round, by half as much after each change of direction


class Effort(NamedTuple):
    """How closely prices are solved for; any are valid."""

    rounds: int
    """Of Newton's method for all k and mu together, at most."""
    last: int
    """Rounds for k alone at the end, at most."""
    points: int
    """In each bin, at which its slices are looked at."""
    error: float
    """In the guessed probabilities, on the probit scale, and in the slope off the line: taken for 0."""


FINE = Effort(30, 25, 3, 1e-4)
ROUGH = Effort(7, 4, 3, 1e-2)
"""Loses less than 0.001 of the lead and takes a quarter of the time."""
_LEAST = 1e-4  # guessed probabilities are kept this far from 0 and 1, so that prices stay moderate
_LEAST_B = 0.002  # a displacement along the line is treated as nearly so: there mu is 0 and k jumps within a bin


@dataclass(frozen=True, eq=False)
class GuessedProfile:
    """What the search expects of the votes: for each bin of z = u0.Z, and off the line."""

    edges: Floats
    """Inner edges of the bins."""
    f_a: Floats
    """Probability of A, given the bin."""
    f_b: Floats
    """Probability of the rival, given the bin."""
    gamma: float
    """Bound on |D_off|, the slope of the lead off the line."""

    @cached_property
    def chances(self) -> Floats:
        """The probability of each bin and vote: A, the rival, any other; (bins, 3)."""
        f_other = np.maximum(1 - self.f_a - self.f_b, 0.0)
        chances: Floats = bin_masses(self.edges)[:, None] * np.stack([self.f_a, self.f_b, f_other], axis=1)
        return chances


def checked_guess(edges: npt.ArrayLike, f_a: npt.ArrayLike, f_b: npt.ArrayLike, gamma: float) -> GuessedProfile:
    """Return the guess as arrays, or an error."""
    inner = checked_edges(edges)
    a, b = np.asarray(f_a, np.float64), np.asarray(f_b, np.float64)
    for name, f in (("f_a", a), ("f_b", b)):
        if f.shape != (len(inner) + 1,) or not np.all((f >= 0) & (f <= 1)):
            raise SettingError(f"{name}: expected a probability for each of {len(inner) + 1} bins, got {f}")
    if not 0 <= gamma < np.inf:
        raise SettingError(f"gamma: expected a finite number >= 0, got {gamma!r}")
    return GuessedProfile(inner, a, b, float(gamma))


def mean_value(prices: Prices, guess: GuessedProfile) -> float:
    """Return E[k_A f_A] + E[k_B (1 - f_B)] - 1 - mu gamma at the guess: what the prices promise before cost."""
    masses = bin_masses(guess.edges)
    return float(masses @ (prices.k_a * guess.f_a + prices.k_b * (1 - guess.f_b)) - 1 - prices.mu * guess.gamma)


def best_profile_prices(
    guess: GuessedProfile, a: npt.ArrayLike, b: npt.ArrayLike, effort: Effort = FINE
) -> list[Prices]:
    """Return prices near the best for each displacement sigma (a u0 + b v), by maximising the concave (R1).

    For a given mu the best k of a bin makes the bracket positive with exactly the guessed probability; mu is where the
    first moment of these sets is gamma. All displacements are solved for together.
    """
    a, b = (np.atleast_1d(np.asarray(values, np.float64)) for values in np.broadcast_arrays(a, b))
    if not (np.all(np.isfinite(a)) and np.all((b >= 0) & (b < np.inf))):
        raise SettingError(f"displacement: expected finite a and b >= 0, got {a}, {b}")
    return _Search(guess, a, np.maximum(b, _LEAST_B), effort).prices()


def design_sectors(guess: GuessedProfile, radius: float, ends: npt.ArrayLike) -> list[tuple[float, float, Prices]]:
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


class _Slices(NamedTuple):
    """What the slices of all bins show at some prices."""

    roots: tuple[Floats, Floats]
    rates: tuple[Floats, Floats]
    """Of the mass beyond each root, as k grows."""
    speed: Floats
    """Their sum over the bin: the derivative of its probability with respect to k."""
    off: Floats
    """How far the probability is below the guessed one, on the probit scale, where it is nearly linear in k."""
    density: Floats
    """The derivative of the probability on that scale."""


class _Search:
    """The best k of all bins and the best mu at several displacements, by Newton's method for all of them at once.

    The derivative with respect to one bin's k does not depend on another's, so each step has a closed form.
    """

    def __init__(self, guess: GuessedProfile, a: Floats, b: Floats, effort: Effort) -> None:
        # axes: displacement, A or B, bin, point of the bin
        self.guess, self.b, self.effort = guess, b[:, None, None, None], effort
        z, self.weights = _quadrature(guess.edges, effort.points)
        self.log_a = (a[:, None, None] * z - 0.5 * (a * a)[:, None, None])[:, None]
        f = np.clip(np.stack([guess.f_a, 1 - guess.f_b]), _LEAST, 1 - _LEAST)
        self.probit, self.wide = np.asarray(Phi_inv(f)), np.asarray(Phi_inv(0.5 * (1 + f)))
        self.masses = bin_masses(guess.edges)

    def prices(self) -> list[Prices]:
        """Return prices near the best."""
        mu = np.maximum(_FIRST_MU * self.b[:, 0, 0, 0], _LEAST_MU)
        k, room, last = self._bracket(mu)[1], np.full(len(mu), _ROOM), np.zeros(len(mu))
        for number in range(self.effort.rounds):
            k, moved, error = self._step(k, mu, room if number >= _SETTLE else np.zeros(len(mu)))
            room = np.where((moved - mu) * last < 0, 0.5 * room, room)
            last, mu = moved - mu, moved
            if number >= _SETTLE and error < self.effort.error:
                break
        k = np.clip(self._settled(k, mu), -LARGEST, LARGEST)  # far out on the line the best would be larger still
        each = np.where(mu > 2 * _LEAST_MU, mu, 0.0).tolist()
        return [Prices(self.guess.edges, k[i, 0], k[i, 1], each[i]) for i in range(len(mu))]

    def _step(self, k: Floats, mu: Floats, room: Floats) -> tuple[Floats, Floats, float]:
        """One step for k and mu together; and how far off they were."""
        seen = self._slices(k, mu)
        step = seen.off * seen.density / seen.speed
        left, right = seen.roots
        moment = ((phi(left) - phi(right)) * self.weights).sum(axis=3)
        turn = (left * seen.rates[0] + right * seen.rates[1]).sum(axis=3)
        bend = (left * left * seen.rates[0] + right * right * seen.rates[1]).sum(axis=3) - turn * turn / seen.speed
        slope = -self.guess.gamma - ((moment + turn * step) @ self.masses).sum(axis=1)
        change = slope / np.maximum((bend @ self.masses).sum(axis=1), 1e-9)
        moved = np.maximum(np.clip(mu + change, np.exp(-room) * mu, np.exp(room) * mu), _LEAST_MU)
        error = max(float(np.abs(seen.off).max()), float(np.abs(np.where(moved > _LEAST_MU, slope, 0.0)).max()))
        low, high = self._bracket(moved)
        return np.clip(k + step - turn / seen.speed * (moved - mu)[:, None, None], low, high), moved, error

    def _settled(self, k: Floats, mu: Floats) -> Floats:
        """The k for these mu, within a bracket that shrinks: nearly along the line k jumps and steps alone may not end.

        With k as good as can be, an error of mu costs its square only.
        """
        low, high = self._bracket(mu)
        for _ in range(self.effort.last):
            seen = self._slices(k, mu)
            if np.all((np.abs(seen.off) < self.effort.error) | (high - low < 1e-3 * np.abs(high))):
                break
            low, high = np.where(seen.off > 0, k, low), np.where(seen.off > 0, high, k)
            newton = k + seen.off * seen.density / seen.speed
            k = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        return k

    def _slices(self, k: Floats, mu: Floats) -> "_Slices":
        """Where the bracket is positive, with which probability given the bin, and how fast that grows with k."""
        wide = mu[:, None, None, None]
        left, right = roots(k[..., None], wide, self.b, self.log_a)
        chance = ((Phi(right) - Phi(left)) * self.weights).sum(axis=3)
        probit = Phi_inv(np.clip(chance, 1e-9, 1 - 1e-9))
        # The mass beyond a root: the slope of the bracket there is mu - b w, w = k + mu y.
        slopes = (np.abs(wide - self.b * (k[..., None] + wide * y)) for y in (left, right))
        near, far = (phi(y) * self.weights / np.maximum(at, 1e-9) for y, at in zip((left, right), slopes, strict=True))
        speed = np.maximum((near + far).sum(axis=3), 1e-12)
        return _Slices((left, right), (near, far), speed, self.probit - probit, phi(probit))

    def _bracket(self, mu: Floats) -> tuple[Floats, Floats]:
        """Return prices with too small and too large a probability: by each end alone, and by both sharing the rest."""
        mu = mu[:, None, None, None]
        height = peak_height(mu, self.b, self.log_a)
        least, top = (mu / self.b) * (1 - height), height / self.b

        def price(y: Floats) -> Floats:
            value: Floats = np.exp(self.log_a + self.b * (y - 0.5 * self.b)) - mu * y
            return value

        h, wide = self.probit[..., None], self.wide[..., None]
        low = np.maximum(np.where(h > top, price(h), least), np.where(-h < top, price(-h), least))
        high = np.maximum(price(wide), price(-wide))
        return low.min(axis=3), high.max(axis=3)


def _quadrature(edges: Floats, points: int) -> tuple[Floats, Floats]:
    """Return some points in each bin and their weights given the bin; an unbounded bin is cut after 0.98 of it."""
    nodes, shares = np.polynomial.legendre.leggauss(points)
    far_left = float(Phi_inv(0.02 * Phi(edges[0])))
    far_right = -float(Phi_inv(0.02 * Phi(-edges[-1])))
    ends = np.concatenate(([far_left], edges, [far_right]))
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    z = middle[:, None] + half[:, None] * nodes
    weights = shares * np.exp(-0.5 * (z * z - middle[:, None] ** 2))
    return z, weights / weights.sum(axis=1, keepdims=True)
