"""A ladder of radii, look by look, as the lemma has it: a second implementation that races and forecasts agree with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from doublebubble.bounds.ladder import Ladder, Stop
from doublebubble.bounds.sequences import target


@dataclass(frozen=True)
class LadderState:
    """What the draws have shown: `start`, then `step` for each look."""

    draws: int
    counts: tuple[tuple[int, ...], ...]
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
    return LadderState(
        0,
        tuple((0,) * ladder.cells for _ in range(ladder.rivals)),
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
    (draws,) = {int(total) for total in new.sum(1)}
    total = np.asarray(progress.counts) + new.astype(np.int64)
    wealth = ladder.log_wealth(total)
    against = ladder.log_refusal(total)
    return replace(
        progress,
        draws=progress.draws + draws,
        counts=tuple(tuple(int(v) for v in row) for row in total),
        reached=_tuples(
            np.asarray(progress.reached) | (wealth >= np.array([[target(level)] for level in ladder.levels]))
        ),
        refused=tuple(bool(r) for r in np.asarray(progress.refused) | (against >= target(ladder.beta)).any(1)),
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


def _tuples(table: npt.NDArray[np.bool_]) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(bool(v) for v in row) for row in table)
