"""Has the mean of what the draws pay been shown to be above 0, whenever one looks? Bets and their wealth.

A draw falls in one of a few cells, and each cell has a payoff. If the mean payoff is at most 0, no way of betting makes
money: wealth 1/alpha is reached, at any time, with probability at most alpha (Ville). Counting votes, rivals and
control variates are all bets on cells. Functions of counts in float64: numpy and scipy only, no torch, no randomness.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr as Phi

from doublebubble.errors import InputError, SettingError
from doublebubble.types import Floats

MAX_DRAWS = 10**9
"""The largest number of draws for which the margin of rounding was derived."""

_U = 2.0**-53
_RUIN = 2.0**-20  # no stake risks more than 1 - 2^-20 of the wealth, so every logarithm is finite
_PHI = 1e-13  # by how much a normal probability moves outward; scipy's was seen to err by 4e-16 of it up to t = 8
_SPACING = 0.2  # between neighbouring stakes, in the log odds of the part of the wealth at risk
_TOP_ODDS = 7.0  # log odds of the largest stake: the best one where 1 in 1000 of what p0 allows is missed
_TOP_POWER = 0.75  # of 1 - f, by which the weights of the large stakes fall


@dataclass(frozen=True)
class Bet:
    """A mixture of constant stakes on payoffs: its wealth has mean at most 1 at all times if the mean payoff is <= 0.

    All of it is fixed before the draws it is applied to. `payoffs` has one number for each cell, rounded down.
    """

    payoffs: tuple[float, ...]
    stakes: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not all(math.isfinite(v) for v in (*self.payoffs, *self.stakes, *self.weights)):
            raise SettingError("bet: expected finite payoffs, stakes and weights")
        if len(self.stakes) != len(self.weights) or not self.stakes:
            raise SettingError(f"bet: expected a weight per stake, got {len(self.weights)} for {len(self.stakes)}")
        if min(self.weights) <= 0 or math.fsum(self.weights) > 1:
            raise SettingError(f"weights: expected numbers above 0 of sum at most 1, got {math.fsum(self.weights)!r}")
        if min(self.stakes) < 0 or max(self.stakes) > largest_stake(self.payoffs):
            raise SettingError(
                f"stakes: expected numbers from 0 to {largest_stake(self.payoffs)!r}, got {max(self.stakes)!r}"
            )


def largest_stake(payoffs: Sequence[float]) -> float:
    """The stake at which the worst cell leaves 2^-20 of the wealth."""
    if not len(payoffs) or not min(payoffs) < 0:
        raise SettingError(f"payoffs: expected one below 0 among them, got {tuple(payoffs)!r}")
    return (1 - _RUIN) / -min(payoffs) * (1 - 4 * _U)


def log_wealth(bet: Bet, counts: npt.ArrayLike) -> Any:
    """At most the logarithm of the wealth after these counts of the cells (last axis): a lower bound of (Q2).

    If the mean payoff is at most 0, the chance that the wealth is ever 1/alpha or more is at most alpha. The margin
    taken off for rounding is derived in section 10 of docs/math.md; at 1e7 draws it is below 1e-6.
    """
    return Wealth([bet])(np.asarray(counts)[..., None, :])[..., 0]


class Wealth:
    """Many bets with as many cells each, evaluated together: counts (..., bets, cells) give log wealths (..., bets)."""

    def __init__(self, bets: Sequence[Bet]) -> None:
        cells = {len(bet.payoffs) for bet in bets}
        if len(cells) != 1:
            raise SettingError(f"bets: expected the same number of cells in each, got {sorted(cells)}")
        most = max(len(bet.stakes) for bet in bets)
        self.cells = cells.pop()
        stakes = np.zeros((len(bets), most, 1))
        logs = np.full((len(bets), most), -math.inf)
        for i, bet in enumerate(bets):
            stakes[i, : len(bet.stakes), 0] = bet.stakes
            logs[i, : len(bet.weights)] = np.log(bet.weights)
        gain = stakes * np.array([bet.payoffs for bet in bets])[:, None, :]
        growth = np.log1p(gain)
        error = _U * (8 * np.abs(gain) / (1 + gain) + (self.cells + 16) * np.abs(growth))
        self._growth = np.ascontiguousarray((growth - error).transpose(0, 2, 1))  # (bets, cells, stakes), rounded down
        self._size = np.ascontiguousarray(np.abs(growth).transpose(0, 2, 1))
        self._logs = logs - 8 * _U * np.where(np.isfinite(logs), np.abs(logs), 0.0)

    def __call__(self, counts: npt.ArrayLike) -> Floats:
        """The logarithms of the wealths, rounded down."""
        table = np.asarray(counts, np.float64)
        if table.shape[-2:] != (len(self._logs), self.cells):
            raise InputError(f"counts: expected shape (..., {len(self._logs)}, {self.cells}), got {table.shape}")
        if not np.all((table >= 0) & (table == np.floor(table)) & (table <= MAX_DRAWS)):
            raise InputError(f"counts: expected integers from 0 to {MAX_DRAWS}")
        logs = np.array(np.broadcast_to(self._logs, (*table.shape[:-1], self._logs.shape[-1])))
        size = np.zeros_like(logs)
        for cell in range(self.cells):
            logs += table[..., cell, None] * self._growth[:, cell]
            size += table[..., cell, None] * self._size[:, cell]
        logs -= _U * (self.cells + 4) * size  # the products and sums of the two lines above
        top = logs.max(-1)
        total = top + np.log(np.exp(logs - top[..., None]).sum(-1))
        return np.asarray(total - _U * (logs.shape[-1] + 32) * (1 + np.abs(total) + np.abs(top)), np.float64)


def target(alpha: float) -> float:
    """At least ln(1/alpha): the log wealth that proves a statement at level alpha."""
    if not 0 < alpha < 1:
        raise SettingError(f"level: expected a number inside (0, 1), got {alpha!r}")
    return -math.log(alpha) * (1 + 4 * _U)


def spread_bet(payoffs: Sequence[float], level: float, cap: int, variance: float) -> Bet:
    """A bet on these payoffs for a mean that is not known: stakes from those of easy inputs to those the cap can use.

    `variance` is a guess of the payoff's variance; any value is sound. The part f of the wealth at risk has evenly
    spaced log odds, with even weights from the stake that is best for a mean just provable within `cap` draws up to
    f = 1/2; below that stake the weights fall like f, and above f = 1/2 like a power of 1 - f.
    """
    if cap < 1 or not variance > 0:
        raise SettingError(f"bet: expected cap >= 1 and variance > 0, got {cap!r} and {variance!r}")
    top = largest_stake(payoffs)
    least = min(math.sqrt(2 * target(level) / (cap * variance)) / top, 0.5)
    start = math.log(least / 4)
    odds = np.linspace(start, _TOP_ODDS, 1 + math.ceil((_TOP_ODDS - start) / _SPACING))
    part = 1 / (1 + np.exp(-odds))
    return weighed(payoffs, top * part, np.minimum(1, part / least) * np.minimum(1, 2 * (1 - part)) ** _TOP_POWER)


def weighed(payoffs: Sequence[float], stakes: npt.ArrayLike, weights: npt.ArrayLike) -> Bet:
    """The bet with these stakes, its weights scaled to a sum just below 1."""
    w = np.asarray(weights, np.float64)
    w = np.maximum(w / math.fsum(w), 1e-300) * (1 - 1e-12)
    return Bet(tuple(map(float, payoffs)), tuple(map(float, np.asarray(stakes))), tuple(map(float, w)))


def informed_bet(bet: Bet, counts: Sequence[float], trust: float = 0.9) -> Bet:
    """The bet with `trust` of its weight moved to the stakes that earlier draws favour; the rest stays as it was.

    `counts` of the cells come from draws that the new bet will not be applied to, or from a forecast.
    """
    if not 0 <= trust < 1:
        raise SettingError(f"trust: expected a number in [0, 1), got {trust!r}")
    gain = np.outer(bet.stakes, bet.payoffs)
    logs = np.log(bet.weights) + np.log1p(gain) @ np.asarray(counts, np.float64)
    posterior = np.exp(logs - logs.max())
    mixed = trust * posterior / posterior.sum() + (1 - trust) * np.asarray(bet.weights)
    return weighed(bet.payoffs, bet.stakes, mixed)


def vote_payoffs(t: float) -> tuple[float, float]:
    """Payoffs of a hit and of a miss, of mean at most 0 exactly if p_A <= Phi(t): (S3b) at radius t sigma."""  # (Q1)
    if not 0 <= t <= 8:
        raise SettingError(f"radius over sigma: expected a number from 0 to 8, got {t!r}")
    above = float(Phi(-t)) * (1 - _PHI)  # 1 - p0, rounded down
    return above, math.nextafter(above - 1, -math.inf)


def miss_payoffs(t: float) -> tuple[float, float]:
    """Payoffs of a hit and of a miss, of mean at most 0 if p_A >= Phi(t): what giving up bets on."""
    if not 0 <= t <= 8:
        raise SettingError(f"radius over sigma: expected a number from 0 to 8, got {t!r}")
    above = float(Phi(-t)) * (1 + _PHI)  # 1 - p0, rounded up
    return -above, math.nextafter(1 - above, -math.inf)


def vote_bet(t: float, alpha: float, cap: int) -> Bet:
    """The bet on "p_A > Phi(t)" for counts (hits, misses), spread over all p_A."""
    p0 = float(Phi(t))
    return spread_bet(vote_payoffs(t), alpha, cap, p0 * (1 - p0))


def miss_bet(t: float, beta: float, cap: int) -> Bet:
    """The bet on "p_A < Phi(t)" for counts (hits, misses), spread over all p_A: for giving up."""
    p0 = float(Phi(t))
    return spread_bet(miss_payoffs(t), beta, cap, p0 * (1 - p0))


def reach(t: float, alpha: float, beta: float, cap: int) -> float:
    """At p_A <= Phi(reach) a bet on "p_A > Phi(t)" wins at level alpha within `cap` draws at most beta of the time.

    At least t, and t itself where nothing larger is proved. Giving up on what lies below it loses few certificates.
    """  # (Q3)
    p0 = float(Phi(t))
    powers = np.exp(np.linspace(math.log(1.001), math.log(1000.0), 200))

    def chance(step: float) -> float:
        """The bound on the logarithm of the chance at p1, the least over Hoelder's exponents."""
        p1 = float(Phi(t + step))
        with np.errstate(over="ignore"):
            tilt = p0 * np.expm1(powers * math.log(p1 / p0)) + (1 - p0) * np.expm1(
                powers * float(np.log(Phi(-t - step) / Phi(-t)))
            )
        bounds = cap * np.log1p(tilt) / powers + (1 - 1 / powers) * math.log(alpha)
        return float(np.min(bounds))

    low, high = 0.0, min(2.0, 8 - t)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) <= math.log(beta) - 1e-9 else (low, middle)
    return t + low
