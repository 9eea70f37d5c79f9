"""Is a rival likelier than the class named at this very point? The test that a claimed success must pass.

The point and the rival are fixed before its draws, which no search has seen: their stream is named by the point itself.
"""

import hashlib
import math
from dataclasses import dataclass

import numpy as np
from scipy import stats
from torch import Tensor

from doublebubble.runs.attacks import ceil_distance
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request
from doublebubble.types import Floats

TRIES = 16
"""How many points of one attack may be tested: the level is shared among them."""
_OUT = 1.0 + 2.0**-49  # exceeds the roundings of differences, squares, their sum and its root


@dataclass(frozen=True, eq=False)
class Success:
    """A point where the rival is likelier than the class named, and the votes that show it."""

    point: Floats
    rival: int
    votes: tuple[int, int]
    p_value: float
    distance: float


class Confirmer:
    """Tests points of one input, at most TRIES of them: with probability 1 - level none that passes is a mistake."""

    def __init__(self, smoothed: SmoothedClassifier, x: Tensor, top: int, n: int, level: float, stream: Stream) -> None:
        self._smoothed, self._x, self._top, self._n, self._stream = smoothed, x, top, n, stream
        self._each = level / TRIES
        self.tested = 0

    @property
    def score(self) -> float:
        """The score of the sign test, in standard deviations, that a success must have, about."""
        return float(stats.norm.isf(self._each))

    @property
    def spent(self) -> bool:
        """Whether no further point may be tested."""
        return self.tested == TRIES

    def test(self, y: Tensor, rival: int) -> Success | None:
        """The success at y, or None if fresh draws do not show that the rival is likelier there."""
        if self.spent:
            raise AssertionError("the level of this attack is spent")
        self.tested += 1
        point = y.detach().cpu().double().numpy()
        name = hashlib.sha256(point.tobytes()).hexdigest()[:16]
        counts = self._smoothed.tally(Request(y, self._n, self._stream.named("confirm", rival, name))).counts
        votes = int(counts[rival]), int(counts[self._top])
        p_value = sign_test(*votes)
        if p_value > self._each:
            return None
        distance = ceil_distance(distance_up(point, self._x.detach().cpu().double().numpy()))
        return Success(point, rival, votes, p_value, distance)


def sign_test(rival: int, top: int) -> float:
    """The exact p-value of these votes if the rival is no likelier than the top class: P[X >= rival], X ~ Bin(., 1/2).

    Given how many draws vote for either, the rival's votes are binomial with its share of the two probabilities.
    """
    return float(stats.binom.sf(rival - 1, rival + top, 0.5))


def distance_up(y: Floats, x: Floats) -> float:
    """The L2 distance of two points, rounded up."""
    squares = np.square(y - x).ravel()
    return math.sqrt(math.fsum(squares.tolist())) * _OUT
