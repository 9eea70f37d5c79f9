"""Which of several radii are certified, and may sampling stop? One input, decided from counts at looks.

Everything is fixed before the draws in a `Ladder`; a `LadderState` is what the draws have shown so far. Functions of
counts: numpy and scipy only, no torch, no randomness.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from doublebubble.bounds.sequences import MAX_DRAWS, Bet, Wealth, miss_bet, reach, target, vote_bet
from doublebubble.errors import InputError, SettingError
from doublebubble.types import Floats

Bools = npt.NDArray[np.bool_]


class Stop(Enum):
    """Why sampling stopped; the value is a sentence for a person."""

    CERTIFIED = "every radius asked for is certified"
    GIVEN_UP = "the radii that are not certified are out of reach, at level beta"
    PRECISE = "the radius can grow by no more than the precision asked for, at level beta"
    CAP = "the most draws allowed were made"


@dataclass(frozen=True)
class Ladder:
    """Rising radii, and for each the bets that must all win before it is claimed; all fixed before the draws.

    `claims[j][i]` bets for radius j against rival i (one "rival" where votes for A are only counted against the rest),
    `refusals[j][i]` bets the other way. `levels[j]` is what radius j may be wrong by: alpha for all of them, or less.
    """

    radii: tuple[float, ...]
    claims: tuple[tuple[Bet, ...], ...]
    refusals: tuple[tuple[Bet, ...], ...]
    levels: tuple[float, ...]
    beta: float
    cap: int
    precision: float | None = None

    def __post_init__(self) -> None:
        if not self.radii or any(a >= b for a, b in zip((-math.inf, *self.radii), self.radii, strict=False)):
            raise SettingError(f"radii: expected rising numbers, got {self.radii!r}")
        shapes = {len(row) for row in (*self.claims, *self.refusals)}
        if len(shapes) != 1 or {len(self.claims), len(self.refusals), len(self.levels)} != {len(self.radii)}:
            raise SettingError("ladder: expected the same rivals at every radius, with a level each")
        if not 1 <= self.cap <= MAX_DRAWS:
            raise SettingError(f"cap: expected a number of draws from 1 to {MAX_DRAWS}, got {self.cap!r}")
        if self.precision is not None and not self.precision > 0:
            raise SettingError(f"precision: expected a number above 0, got {self.precision!r}")

    @cached_property
    def _claim(self) -> Wealth:
        return Wealth([bet for row in self.claims for bet in row])

    @cached_property
    def _refusal(self) -> Wealth:
        return Wealth([bet for row in self.refusals for bet in row])

    @cached_property
    def _targets(self) -> Floats:
        return np.array([[target(level)] for level in self.levels])

    @property
    def rivals(self) -> int:
        """How many bets each radius has to win."""
        return len(self.claims[0])

    @property
    def cells(self) -> int:
        """How many cells the draws are counted in, for each rival."""
        return self._claim.cells

    def log_wealth(self, counts: npt.ArrayLike) -> Floats:
        """The log wealths (radii, rivals) of the claims after these counts (rivals, cells), rounded down."""
        return self._evaluate(self._claim, counts)

    def log_refusal(self, counts: npt.ArrayLike) -> Floats:
        """The log wealths (radii, rivals) of the refusals after these counts (rivals, cells)."""
        return self._evaluate(self._refusal, counts)

    def _evaluate(self, wealth: Wealth, counts: npt.ArrayLike) -> Floats:
        table = np.tile(np.asarray(counts), (len(self.radii), 1))
        return wealth(table).reshape(len(self.radii), self.rivals)


@dataclass(frozen=True)
class LadderState:
    """What the draws have shown: `start`, then `step` for each look.

    `counts` are those since the last change of bets; `earned` and `conceded` are the log wealths that claims and
    refusals had made before it.
    """

    draws: int
    counts: tuple[tuple[int, ...], ...]
    earned: tuple[tuple[float, ...], ...]
    conceded: tuple[tuple[float, ...], ...]
    reached: tuple[tuple[bool, ...], ...]
    refused: tuple[bool, ...]

    @property
    def certified(self) -> int:
        """How many radii are claimed, from the smallest: each has won all its bets, and so have all smaller ones."""
        won = [all(row) for row in self.reached]
        return won.index(False) if False in won else len(won)

    @property
    def given_up(self) -> int:
        """How many radii, from the largest, are out of reach: a refused one takes all larger ones along."""
        first = self.refused.index(True) if True in self.refused else len(self.refused)
        return len(self.refused) - max(first, self.certified)


def start(ladder: Ladder) -> LadderState:
    """No draws yet."""
    zeros = tuple((0.0,) * ladder.rivals for _ in ladder.radii)
    return LadderState(
        0,
        tuple((0,) * ladder.cells for _ in range(ladder.rivals)),
        zeros,
        zeros,
        tuple((False,) * ladder.rivals for _ in ladder.radii),
        (False,) * len(ladder.radii),
    )


def step(ladder: Ladder, progress: LadderState, counts: npt.ArrayLike) -> LadderState:
    """After one more look at new draws, whose counts are (rivals, cells).

    With probability at least 1 - max(levels) no radius is ever claimed whose hypothesis is true, however many looks are
    made: only the smallest false radius, at its critical rival, has to be paid for (Lemma I), and that bet wins, at any
    time, with probability at most its level.
    """
    new = np.asarray(counts)
    if new.shape != (ladder.rivals, ladder.cells) or not np.all((new >= 0) & (new == np.floor(new))):
        raise InputError(f"counts: expected integers of shape ({ladder.rivals}, {ladder.cells}), got {new!r}")
    draws = {int(total) for total in new.sum(1)}
    if len(draws) != 1:
        raise InputError(f"counts: expected the same draws for every rival, got {sorted(draws)}")
    total = np.asarray(progress.counts) + new.astype(np.int64)
    wealth = _sum_down(progress.earned, ladder.log_wealth(total))
    against = _sum_down(progress.conceded, ladder.log_refusal(total))
    return replace(
        progress,
        draws=progress.draws + draws.pop(),
        counts=_ints(total),
        reached=_bools(np.asarray(progress.reached) | (wealth >= ladder._targets)),
        refused=tuple(bool(r) for r in np.asarray(progress.refused) | (against >= target(ladder.beta)).any(1)),
    )


def change_bets(ladder: Ladder, progress: LadderState, new: Ladder) -> LadderState:
    """The progress under other bets for the same radii, fixed from what was seen so far: what was earned is staked on.

    Wealth multiplies, so this is free: the new bets count only the draws that come after.
    """
    if new.radii != ladder.radii or new.levels != ladder.levels or new.rivals != ladder.rivals:
        raise SettingError("change of bets: expected the same radii, levels and rivals")
    return replace(
        start(new),
        draws=progress.draws,
        earned=_floats(_sum_down(progress.earned, ladder.log_wealth(progress.counts))),
        conceded=_floats(_sum_down(progress.conceded, ladder.log_refusal(progress.counts))),
        reached=progress.reached,
        refused=progress.refused,
    )


def done(ladder: Ladder, progress: LadderState) -> Stop | None:
    """Why no more draws are needed, or None if they are."""
    total = len(ladder.radii)
    certified, left = progress.certified, total - progress.given_up
    if certified == total:
        return Stop.CERTIFIED
    if certified == left:
        return Stop.GIVEN_UP
    if (
        ladder.precision is not None
        and certified
        and left < total
        and ladder.radii[left] <= ladder.radii[certified - 1] * (1 + ladder.precision)
    ):
        return Stop.PRECISE
    return Stop.CAP if progress.draws >= ladder.cap else None


def replay(ladder: Ladder, looks: Sequence[npt.ArrayLike]) -> LadderState:
    """The progress after these looks, from the counts of the new draws at each: what a verifier repeats."""
    progress = start(ladder)
    for counts in looks:
        progress = step(ladder, progress, counts)
    return progress


def looks(cap: int, batch: int = 1, growth: float = 0.02, first: int = 4) -> Iterator[int]:
    """The numbers of draws at which to look: geometric, in whole batches once a step is as large as a batch.

    Rising, and the last is `cap`. More looks cost no alpha; they cost time, and save draws: at growth 0.02 about 3 %
    of the draws come after the one that would have decided.
    """
    if cap < 1 or batch < 1 or first < 1 or not growth > 0:
        raise SettingError(f"looks: expected numbers above 0, got {cap!r}, {batch!r}, {growth!r}, {first!r}")
    n = min(first, cap)
    while n < cap:
        yield n
        width = max(1, math.ceil(growth * n))
        n = min(cap, n + width if width < batch else (n + width + batch - 1) // batch * batch)
    yield cap


def vote_ladder(
    radii: Sequence[float],
    sigma: float,
    alpha: float,
    beta: float,
    cap: int,
    levels: Sequence[float] | None = None,
    precision: float | None = None,
) -> Ladder:
    """The ladder that counts votes for A against all others, (S3b): one pair of bets for each radius.

    A is fixed beforehand, unless `levels` are those of `open_levels`.
    """
    ts = tuple(radius / sigma * (1 + 1e-15) for radius in radii)
    each = tuple(levels) if levels is not None else (alpha,) * len(ts)
    if any(level > alpha for level in each):
        raise SettingError(f"levels: expected none above alpha = {alpha!r}, got {each!r}")
    claims = tuple((vote_bet(t, level, cap),) for t, level in zip(ts, each, strict=True))
    refusals = tuple((miss_bet(reach(t, level, beta, cap), beta, cap),) for t, level in zip(ts, each, strict=True))
    return Ladder(tuple(radii), claims, refusals, each, beta, cap, precision)


def precise_radii(precision: float, sigma: float, ceiling: float, least: float = 0.05) -> tuple[float, ...]:
    """Radii for `precision`: from `least` sigma to `ceiling` in steps of a third of it, so that few draws are lost."""
    if not precision > 0 or not 0 < least * sigma < ceiling:
        raise SettingError(f"precision: expected it above 0 and a ceiling above {least * sigma!r}, got {precision!r}")
    count = 1 + math.floor(3 * math.log(ceiling / (least * sigma)) / math.log1p(precision))
    return tuple(least * sigma * (1 + precision) ** (j / 3) for j in range(count))


def _sum_down(earned: Sequence[Sequence[float]], more: Floats) -> Floats:
    return np.nextafter(np.asarray(earned) + more, -np.inf)


def _ints(table: npt.NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(v) for v in row) for row in table)


def _floats(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(v) for v in row) for row in table)


def _bools(table: Bools) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(bool(v) for v in row) for row in table)
