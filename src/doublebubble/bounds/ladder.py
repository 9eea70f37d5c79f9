"""Which bets must win before each of several radii is claimed, and when are draws looked at?

Everything is fixed before the draws in a `Ladder`. Functions of counts: numpy and scipy only, no torch, no randomness.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from doublebubble.bounds.sequences import MAX_DRAWS, Bet, Wealth, miss_bet, reach, vote_bet
from doublebubble.errors import SettingError
from doublebubble.types import Floats


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
