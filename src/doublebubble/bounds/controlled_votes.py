"""Votes that go on with a control variate: what a draw pays by the bin it falls in, and what is shown (Theorem V).

From one look on, a step function c of the bin of z = u0.Z is taken off each vote and its mean added: the same mean with
less variance. Everything is fixed at that look from what came before it. Functions of counts: numpy and scipy only, no
torch, no randomness.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from doublebubble.bounds.ladder import Ladder
from doublebubble.bounds.planning import exact_reach
from doublebubble.bounds.sequences import (
    Bet,
    Wealth,
    informed_bet,
    log_wealth,
    miss_payoffs,
    reach,
    spread_bet,
    target,
    vote_bet,
    vote_payoffs,
)
from doublebubble.errors import InputError, SettingError
from doublebubble.geometry.profile import bin_masses
from doublebubble.types import Counts, Floats

MAJORITY = 1 / 2000
"""The part of alpha at which a class is shown to have more than half of the probability, before a change to it."""

_DIGITS = 4  # of c
_MARGIN = 1e-13  # of the terms' sizes; scipy's normal distribution function was seen to err by 1e-15
_EXACT = 8  # radii for which the law of counting votes is worth computing


def change_reserve(alpha: float, misplaced: float) -> float:
    """What is set aside of alpha for a change: a class that is not the majority, and draws in a wrong bin."""  # (Q6)
    return 2 * MAJORITY * alpha + misplaced


def is_majority(draws: int, hits: int, alpha: float, cap: int) -> bool:
    """Whether votes counted at every look show p > 1/2; a wrong class is ever shown with probability 2 MAJORITY alpha.

    However many classes there are, by (Q4) at the threshold 1/2.
    """
    level = MAJORITY * alpha
    return bool(log_wealth(vote_bet(0.0, level, cap), [hits, draws - hits]) >= target(level))


def controlled_payoffs(payoffs: npt.ArrayLike, control: Sequence[float], masses: Sequence[float]) -> Floats:
    """Payoffs (bins, votes) less a control variate: their mean is at most that of `payoffs`, and nearly equal to it.

    `payoffs` has one row for each bin of z, or one row for all; `control` is c on each bin, fixed before the draws;
    `masses` are the probabilities of the bins, correct to 1e-13 of themselves and of all.
    """
    c, m = np.asarray(control, np.float64), np.asarray(masses, np.float64)
    if c.shape != m.shape or c.ndim != 1 or not np.all(m >= 0) or abs(math.fsum(m) - 1) > 1e-12:
        raise SettingError("control variate: expected a number and a mass for each bin, masses of sum 1")
    table = np.broadcast_to(np.asarray(payoffs, np.float64), (len(c), np.asarray(payoffs).shape[-1]))
    # c enters with its mean taken off; what the masses or the sums get wrong is taken off as well
    slack = 4 * _MARGIN * (np.abs(table).max() + 2 * np.abs(c).max() + math.fsum(np.abs(c)))
    return np.asarray(table - c[:, None] + math.fsum(m * c) - slack, np.float64)


@dataclass(frozen=True)
class Control:
    """The control variate: `values` of c on the bins between `edges`, made from draws before the look of the change.

    `pilot` has the hits and misses of those draws by bin: they also say which stakes are likely to pay.
    """

    edges: tuple[float, ...]
    values: tuple[float, ...]
    pilot: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if not len(self.values) == len(self.pilot) == len(self.edges) + 1:
            raise SettingError(f"control variate: expected {len(self.edges) + 1} values and rows, one for each bin")
        if not all(0 < value < 1 and round(value, _DIGITS) == value for value in self.values):
            raise SettingError(f"control variate: expected values inside (0, 1) of {_DIGITS} decimals")

    @cached_property
    def masses(self) -> Floats:
        """The probabilities of the bins."""
        return bin_masses(self.edges)

    @cached_property
    def variance(self) -> float:
        """The variance of a hit given its bin, if c were its probability there."""
        c = np.array(self.values)
        return float(self.masses @ (c * (1 - c)))

    @cached_property
    def left(self) -> float:
        """The part of the variance of the pilot's hits that c leaves."""
        table = np.array(self.pilot, np.float64)
        hits, seen, c = table[:, 0], table.sum(1), np.array(self.values)
        p, n = hits.sum() / seen.sum(), seen.sum()
        moved = hits * (1 - c) ** 2 + (seen - hits) * c**2
        mean = float((hits - seen * c).sum() / n)
        return float((moved.sum() / n - mean**2) / max(p * (1 - p), 1e-12))

    def claim(self, t: float, level: float, cap: int) -> Bet:
        """The bet on "p_A > Phi(t)" for counts by (bin, hit or miss), stakes favoured that the pilot's draws favour."""
        table = controlled_payoffs(vote_payoffs(t), self.values, self.masses.tolist())
        return self._bet(table, level, cap)

    def refusal(self, t: float, beta: float, cap: int) -> Bet:
        """The bet on "p_A < Phi(t)": for giving up."""
        table = controlled_payoffs(miss_payoffs(t), [-value for value in self.values], self.masses.tolist())
        return self._bet(table, beta, cap)

    def _bet(self, table: Floats, level: float, cap: int) -> Bet:
        bet = spread_bet(table.ravel().tolist(), level, cap, self.variance)
        return informed_bet(bet, np.array(self.pilot, np.float64).ravel().tolist())


@dataclass(frozen=True, eq=False)
class Change:
    """The change at one look: the class that is counted from there on, and the bets of the radii that were open.

    `earned` and `conceded` are the log wealths of claims and refusals at the look, rounded down: they are staked on.
    """

    top: int
    draws: int
    hits: int
    control: Control
    places: tuple[int, ...]
    claims: Wealth
    refusals: Wealth
    earned: Floats
    conceded: Floats
    targets: Floats
    against: float

    def won(self, table: Counts) -> list[int]:
        """The places of the radii whose wealth stands at its target after these counts (bins, 2) since the change."""
        return self._at(self.earned + self.claims(self._cells(table)), self.targets)

    def refused(self, table: Counts) -> list[int]:
        """The places of the radii that are given up after these counts since the change."""
        return self._at(self.conceded + self.refusals(self._cells(table)), np.full(len(self.places), self.against))

    def _cells(self, table: Counts) -> Counts:
        if table.shape != (len(self.control.values), 2):
            raise InputError(f"table: expected shape ({len(self.control.values)}, 2), got {table.shape}")
        return np.tile(table.ravel(), (len(self.places), 1))

    def _at(self, wealth: Floats, targets: Floats) -> list[int]:
        enough = np.nextafter(wealth, -np.inf) >= targets
        return [place for place, there in zip(self.places, enough.tolist(), strict=True) if there]


def change_at(
    ladder: Ladder, sigma: float, top: int, draws: int, hits: int, places: Sequence[int], control: Control
) -> Change:
    """The change after so many draws with so many votes for the class `top`, for the radii at these places.

    Nothing here may depend on a later draw. The wealth goes on from where counting votes has brought it.
    """
    if not places or (control.pilot and sum(map(sum, control.pilot)) > draws):
        raise SettingError("change: expected an open radius, and no more draws in the pilot than were made")
    ts = [ladder.radii[place] / sigma * (1 + 1e-15) for place in places]
    levels = [ladder.levels[place] for place in places]
    # whatever counting votes up to the cap would not reach may be given up: the promise of beta is about those votes
    farthest = exact_reach if len(places) <= _EXACT else reach
    aims = [farthest(t, level, ladder.beta, ladder.cap) for t, level in zip(ts, levels, strict=True)]
    counts = [[hits, draws - hits]]
    return Change(
        top=top,
        draws=draws,
        hits=hits,
        control=control,
        places=tuple(places),
        claims=Wealth([control.claim(t, level, ladder.cap) for t, level in zip(ts, levels, strict=True)]),
        refusals=Wealth([control.refusal(t, ladder.beta, ladder.cap) for t in aims]),
        earned=ladder.log_wealth(counts)[list(places), 0],
        conceded=ladder.log_refusal(counts)[list(places), 0],
        targets=np.array([target(level) for level in levels]),
        against=target(ladder.beta),
    )
