"""The class of an input under the smoothed classifier, or none, with as few draws as that needs. Runs no model."""

from collections.abc import Iterator
from dataclasses import dataclass

from doublebubble.bounds.ladder import looks
from doublebubble.bounds.prediction import Lead
from doublebubble.smoothing.votes import VoteStream
from doublebubble.types import ABSTAIN

_CHUNK = 16  # draws at a time, at least


@dataclass(frozen=True)
class Prediction:
    """The class that was named, or ABSTAIN, and how many draws were looked at."""

    label: int
    draws: int


class Predicting:
    """One input whose class is sought: `wanted` draws, then `look`, until there is a `prediction`."""

    def __init__(self, votes: VoteStream, classes: int, lead: Lead) -> None:
        self.votes = votes
        self.prediction: Prediction | None = None
        self._lead, self._cap = lead, votes.request.n
        self._counts = [0] * classes
        self._draws = 0
        self._looks: Iterator[int] = looks(self._cap)
        self._next = next(self._looks)

    @property
    def wanted(self) -> int:
        """How many draws to have before going on."""
        return max(self._next, self._draws + _CHUNK)

    def look(self) -> None:
        """Take all looks that the draws made so far allow, until one decides.

        A class is named once it has the votes it needs against the runner-up. None is, once the leader could not get
        them even if all draws that are left were its own.
        """
        while self.prediction is None and self._next <= self.votes.drawn:
            for vote in self.votes.votes_from(self._draws)[: self._next - self._draws]:
                self._counts[vote] += 1
            self._draws = self._next
            second, first = sorted(self._counts)[-2:]
            needed = self._lead.needed(second)
            if first >= needed:
                self.prediction = Prediction(self._counts.index(first), self._draws)
            elif first + self._cap - self._draws < needed:
                self.prediction = Prediction(ABSTAIN, self._draws)
            self._next = next(self._looks, self._cap + 1)
