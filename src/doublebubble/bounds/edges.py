"""At how many votes is each radius claimed or given up, look by look? One table for all inputs of a run.

Deciding from a table of integers costs next to nothing, where evaluating every wealth at every look would cost as much
as a small network. Functions of counts: numpy and scipy only, no torch, no randomness.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from doublebubble.bounds.ladder import Ladder
from doublebubble.bounds.sequences import Wealth, target
from doublebubble.errors import SettingError
from doublebubble.types import Counts, Floats


@dataclass(frozen=True)
class Edge:
    """One look: after `draws` draws radius j has won with `hits[j]` votes or more, and is refused with `misses[j]`.

    A number above `draws` says that nothing is decided there. The lists are read, never written.
    """

    draws: int
    hits: list[int]
    misses: list[int]


class Edges:
    """The edges of a ladder that counts votes, at rising numbers of draws; each is found when it is first asked for.

    A win that is read off here is a win of the wealth itself: it rises with each hit and falls with each miss, so it
    suffices that it was evaluated, rounded down, at no more hits and no fewer misses.
    """

    def __init__(self, ladder: Ladder, looks: Iterable[int]) -> None:
        if ladder.rivals != 1 or ladder.cells != 2:
            raise SettingError("edges: expected a ladder that counts votes")
        self.ladder = ladder
        self.looks = tuple(looks)
        if not self.looks or any(a >= b for a, b in zip((0, *self.looks), self.looks, strict=False)):
            raise SettingError("looks: expected rising numbers of draws")
        if self.looks[-1] != ladder.cap:
            raise SettingError(f"looks: expected the last at the cap {ladder.cap}, got {self.looks[-1]}")
        self._claims = Wealth([row[0] for row in ladder.claims])
        self._refusals = Wealth([row[0] for row in ladder.refusals])
        self._targets = np.array([target(level) for level in ladder.levels])
        nothing = [1] * len(ladder.radii)  # without draws nothing is won: one vote more than there are
        self._known = [Edge(0, nothing, nothing)]

    def __getitem__(self, look: int) -> Edge:
        """The edge at look 0, 1, ...; those before it are found on the way."""
        while len(self._known) <= look + 1:
            last, draws = self._known[-1], self.looks[len(self._known) - 1]
            hits = self._moved(self._claims, np.array(last.hits), draws, draws - last.draws, 0, self._targets)
            against = np.full(len(last.misses), target(self.ladder.beta))
            misses = self._moved(self._refusals, np.array(last.misses), draws, draws - last.draws, 1, against)
            self._known.append(Edge(draws, hits.tolist(), misses.tolist()))
        return self._known[look + 1]

    def _moved(self, wealth: Wealth, edge: Counts, draws: int, more: int, cell: int, targets: Floats) -> Counts:
        """The edge after `more` further draws: at least where it was, at most as much higher."""
        low, high = edge - 1, edge + more
        while np.any(high - low > 1):
            middle = (low + high) // 2
            table = np.empty((len(edge), 2), np.int64)
            table[:, cell], table[:, 1 - cell] = middle, draws - middle
            won = wealth(table) >= targets
            open_ = high - low > 1
            high, low = np.where(open_ & won, middle, high), np.where(open_ & ~won, middle, low)
        return np.asarray(high, np.int64)
