"""Which class leads, and by how much, when no draws were spent on choosing it first? Votes of all classes, at looks.

Every draw counts for whichever class turns out to lead. Functions of counts: numpy and scipy only, no torch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr as Phi

from doublebubble.bounds.ladder import Ladder, Progress, Stop, done, start, step
from doublebubble.errors import InputError, SettingError


@dataclass(frozen=True)
class Race:
    """The votes so far, the leader's progress, and the class that is claimed once the smallest radius is."""

    votes: tuple[int, ...]
    progress: Progress
    candidate: int | None = None

    @property
    def leader(self) -> int:
        """The class with the most votes, the first of them in a tie; the candidate once there is one."""
        return self.votes.index(max(self.votes)) if self.candidate is None else self.candidate


def start_race(ladder: Ladder, classes: int) -> Race:
    """No draws yet; the ladder is a `vote_ladder` with `open_levels`."""
    if classes < 2:
        raise SettingError(f"number of classes: expected at least 2, got {classes!r}")
    if ladder.rivals != 1 or ladder.cells != 2:
        raise SettingError("race: expected a ladder that counts votes")
    return Race((0,) * classes, start(ladder))


def step_race(ladder: Ladder, race: Race, votes: npt.ArrayLike) -> Race:
    """After one more look at new draws, counted for each class.

    With `open_levels`, a radius that is wrong for the candidate is ever claimed with probability at most alpha.
    If some class has p_k above a radius's threshold, that radius is refused with probability at most beta.
    """
    new = np.asarray(votes)
    if new.shape != (len(race.votes),) or not np.all((new >= 0) & (new == np.floor(new))):
        raise InputError(f"votes: expected {len(race.votes)} integers >= 0, got {new!r}")
    total = tuple(int(a + b) for a, b in zip(race.votes, new, strict=True))
    draws = int(new.sum())
    if race.candidate is not None:
        hits = int(new[race.candidate])
        return Race(total, step(ladder, race.progress, [[hits, draws - hits]]), race.candidate)
    open_race = Race(total, race.progress)
    hits, draws = max(total), sum(total)  # afresh at each look, since the leader may still change
    fresh = step(ladder, start(ladder), [[hits, draws - hits]])
    refused = tuple(a or b for a, b in zip(race.progress.refused, fresh.refused, strict=True))
    if fresh.certified:
        return Race(total, replace(fresh, refused=refused), open_race.leader)
    return Race(total, replace(fresh, refused=refused))


def race_done(ladder: Ladder, race: Race) -> Stop | None:
    """Why no more draws are needed, or None if they are."""
    return done(ladder, race.progress)


def replay_race(ladder: Ladder, classes: int, looks: Sequence[npt.ArrayLike]) -> Race:
    """The race after these looks, from the votes of the new draws at each: what a verifier repeats."""
    race = start_race(ladder, classes)
    for votes in looks:
        race = step_race(ladder, race, votes)
    return race


def open_levels(radii: Sequence[float], sigma: float, alpha: float) -> tuple[float, ...]:
    """Levels at which A need not be chosen before the draws: wrong claims, for any class, are at most alpha in all.

    For counting votes only, and however many classes there are. The first radius pays for the classes that do not
    lead: next to nothing from radius sigma/2 on, half of alpha at radius 0.
    """  # (Q4)
    if not 0 < alpha <= 0.4:
        raise SettingError(f"alpha: expected a number in (0, 0.4], got {alpha!r}")
    if not radii or not 0 <= min(radii) <= max(radii) <= 7.9 * sigma:
        raise SettingError(f"radii: expected numbers from 0 to 7.9 sigma, got {tuple(radii)!r}")
    p0 = [float(Phi(radius / sigma)) * (1 - 1e-12) for radius in radii]  # rounded down, where the others have more

    def others(p: float, level: float) -> float:
        """The most that the classes other than the leader can add, if the leader's probability is at least p."""
        return math.exp(math.log(level) / math.log(p0[0]) * math.log1p(-p)) * (1 + 1e-9)

    low, high = 0.0, alpha
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle + others(p0[0], middle) <= alpha * (1 - 1e-12) else (low, middle)
    return (low, *((alpha - others(p, low)) * (1 - 1e-12) for p in p0[:-1]))
