"""Which class leads, and by how much, when no draws were spent on choosing it first? Votes of all classes, at looks.

Every draw counts for whichever class turns out to lead. Functions of counts: numpy and scipy only, no torch.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr as Phi

from doublebubble.bounds.controlled_votes import Change, Control, change_at, is_majority
from doublebubble.bounds.edges import Edges
from doublebubble.bounds.ladder import Ladder, Stop
from doublebubble.errors import SettingError

_PAUSES = 8  # looks from one place where a race may pause to the next


@dataclass(frozen=True)
class Win:
    """The look at which a radius won: so many draws, so many votes for the candidate.

    `table` has the hits and misses since the change to a control variate, by bin; None where votes were only counted.
    """

    draws: int
    hits: int
    table: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True)
class Race:
    """The votes so far, the class that is claimed once the smallest radius is, and where each radius won.

    `refused` is the place of the smallest radius that was given up; their number where none was. `stop` says why no
    more draws are needed; None while they are. `paused` says that the last look asked for a decision, and `table` has
    the hits and misses by bin since a `change` to a control variate.
    """

    votes: tuple[int, ...]
    wins: tuple[Win | None, ...]
    refused: int
    looks: int = 0
    candidate: int | None = None
    stop: Stop | None = None
    paused: bool = False
    change: Change | None = None
    table: tuple[tuple[int, int], ...] = ()

    @property
    def leader(self) -> int:
        """The class with the most votes, the first of them in a tie; the candidate once there is one.

        After a change, the class that it was made for.
        """
        if self.change is not None:
            return self.change.top
        return self.votes.index(max(self.votes)) if self.candidate is None else self.candidate

    @property
    def open(self) -> list[int]:
        """The places of the radii that are neither won nor given up."""
        return [place for place in range(self.refused) if self.wins[place] is None]

    @property
    def draws(self) -> int:
        """How many draws have been looked at."""
        return sum(self.votes)

    @property
    def certified(self) -> int:
        """How many radii are claimed, from the smallest: each has won, and so have all smaller ones."""
        return self.wins.index(None) if None in self.wins else len(self.wins)


def start_race(edges: Edges, classes: int) -> Race:
    """No draws yet; the ladder of the edges is a `vote_ladder` with `open_levels`."""
    if classes < 2:
        raise SettingError(f"number of classes: expected at least 2, got {classes!r}")
    radii = len(edges.ladder.radii)
    return Race((0,) * classes, (None,) * radii, radii)


def run_race(
    edges: Edges, race: Race, votes: Sequence[int], pause: Callable[[int, int, list[int]], bool] | None = None
) -> Race:
    """After the further votes, one class for each draw, look by look until one decides; the rest is not looked at.

    With `open_levels`, a radius that is wrong for the candidate is ever claimed with probability at most alpha.
    If some class has p_k above a radius's threshold, that radius is refused with probability at most beta.
    `pause` is told, at every eighth look that does not decide, the draws, the leader's votes and the places of the
    radii that are open, and may ask to stop there.
    """
    counts, wins, candidate, refused = list(race.votes), list(race.wins), race.candidate, race.refused
    draws, look, taken, stop, paused = race.draws, race.looks, 0, race.stop, False
    while stop is None and not paused and edges.looks[look] - draws <= len(votes) - taken:
        edge = edges[look]
        for vote in votes[taken : taken + edge.draws - draws]:
            counts[vote] += 1
        taken, draws, look = taken + edge.draws - draws, edge.draws, look + 1
        hits = max(counts) if candidate is None else counts[candidate]
        misses = draws - hits
        refused = next((j for j in range(refused) if misses >= edge.misses[j]), refused)
        if candidate is None and hits >= edge.hits[0]:
            candidate = counts.index(hits)
        if candidate is not None:  # nothing counts for a leader that may still change
            for j, enough in enumerate(edge.hits):
                if hits >= enough and wins[j] is None:
                    wins[j] = Win(draws, hits)
        stop = _stop(edges.ladder, wins.index(None) if None in wins else len(wins), refused, draws)
        if pause is not None and stop is None and look % _PAUSES == 0:
            paused = pause(draws, hits, [place for place in range(refused) if wins[place] is None])
    return Race(tuple(counts), tuple(wins), refused, look, candidate, stop, paused)


def change_race(edges: Edges, race: Race, sigma: float, control: Control) -> Race:
    """The race that goes on with a control variate for the class that leads now, its wealth staked on.

    With the reserve of `open_levels`, and where `may_change`, a radius that is wrong for the class claimed is still
    claimed with probability at most alpha (Theorem V). No other class can be claimed any more.
    """
    top = race.leader
    change = change_at(edges.ladder, sigma, top, race.draws, race.votes[top], race.open, control)
    return replace(race, paused=False, change=change, table=((0, 0),) * len(control.values))


def may_change(edges: Edges, race: Race, alpha: float) -> bool:
    """Whether the class is settled well enough: claimed already, or shown to have more than half of the probability."""
    cap, hits = edges.ladder.cap, race.votes[race.leader]
    return race.candidate is not None or is_majority(race.draws, hits, alpha, cap)


def run_changed(edges: Edges, race: Race, votes: Sequence[int], bins: Sequence[int]) -> Race:
    """After the further votes and the bins they fell in, look by look until one decides, as `run_race` does."""
    change = race.change
    if change is None:
        raise SettingError("race: expected one that goes on with a control variate")
    top, ladder = change.top, edges.ladder
    counts, wins, refused, candidate = list(race.votes), list(race.wins), race.refused, race.candidate
    table = np.array(race.table, np.int64)
    draws, look, taken, stop = race.draws, race.looks, 0, race.stop
    while stop is None and edges.looks[look] - draws <= len(votes) - taken:
        upto = taken + edges.looks[look] - draws
        for vote, place in zip(votes[taken:upto], bins[taken:upto], strict=True):
            counts[vote] += 1
            table[place, int(vote != top)] += 1
        taken, draws, look = upto, edges.looks[look], look + 1
        refused = min((place for place in change.refused(table) if place < refused), default=refused)
        stored = tuple((int(hits), int(misses)) for hits, misses in table)
        for place in change.won(table):
            if wins[place] is None:
                wins[place] = Win(draws, counts[top], stored)
        candidate = top if wins[0] is not None else candidate
        stop = _stop(ladder, wins.index(None) if None in wins else len(wins), refused, draws)
    kept = tuple((int(hits), int(misses)) for hits, misses in table)
    return replace(
        race,
        votes=tuple(counts),
        wins=tuple(wins),
        refused=refused,
        looks=look,
        candidate=candidate,
        stop=stop,
        table=kept,
    )


def _stop(ladder: Ladder, certified: int, refused: int, draws: int) -> Stop | None:
    """Why no more draws are needed, or None if they are."""
    radii, left = ladder.radii, max(refused, certified)
    if certified == len(radii):
        return Stop.CERTIFIED
    if certified == left:
        return Stop.GIVEN_UP
    near = 0.0 if ladder.precision is None or not certified else radii[certified - 1] * (1 + ladder.precision)
    if left < len(radii) and radii[left] <= near:
        return Stop.PRECISE
    return Stop.CAP if draws >= ladder.cap else None


def open_levels(radii: Sequence[float], sigma: float, alpha: float, reserve: float = 0.0) -> tuple[float, ...]:
    """Levels at which A need not be chosen before the draws: wrong claims, for any class, are at most alpha in all.

    For counting votes, and however many classes there are. The first radius pays for the classes that do not lead: next
    to nothing from radius sigma/2 on, half of alpha at radius 0. With a `reserve`, what a change to a control variate
    costs is set aside, and the votes may go on with one (Theorem V).
    """  # (Q4), (Q6)
    if not 0 < alpha <= 0.4:
        raise SettingError(f"alpha: expected a number in (0, 0.4], got {alpha!r}")
    if not radii or not 0 <= min(radii) <= max(radii) <= 7.9 * sigma:
        raise SettingError(f"radii: expected numbers from 0 to 7.9 sigma, got {tuple(radii)!r}")
    if not 0 <= reserve < alpha / 2:
        raise SettingError(f"reserve: expected a number from 0 to less than half of alpha, got {reserve!r}")
    alpha = (alpha - reserve) * (1 - 1e-12) if reserve else alpha
    p0 = [float(Phi(radius / sigma)) * (1 - 1e-12) for radius in radii]  # rounded down, where the others have more
    least = 0.5 if reserve else p0[0]  # after a change a leader just above 1/2 is as likely to be claimed as any

    def others(p: float, level: float) -> float:
        """The most that the classes other than the leader can add, if the leader's probability is at least p."""
        return math.exp(math.log(level) / math.log(p0[0]) * math.log1p(-p)) * (1 + 1e-9)

    low, high = 0.0, alpha
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle + others(least, middle) <= alpha * (1 - 1e-12) else (low, middle)
    return (low, *((alpha - others(p, low)) * (1 - 1e-12) for p in p0[:-1]))
