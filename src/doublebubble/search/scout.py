"""The search's eyes: gradients and paired votes at points of interest, and an account of what they cost."""

from dataclasses import dataclass, field

from torch import Tensor

from doublebubble.bounds import ClassPlan
from doublebubble.config import CertifyConfig
from doublebubble.search.gradients import Cost, Estimator, Slopes, slopes
from doublebubble.search.predict import Outlook, outlook
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import Counts, Floats


@dataclass
class Scout:
    """Looks at points for one input with the search's own draws; adds up what that costs.

    `at_input` keeps the votes at the input that candidates are compared with.
    """

    smoothed: SmoothedClassifier
    config: CertifyConfig
    index: int
    classes: ClassPlan
    cost: Cost = field(default_factory=Cost)
    at_input: Tally | None = None

    @property
    def per_look(self) -> int:
        """Draws of one look at a slope: a 68th of n, so that all methods together cost less than the certificate."""
        asked = self.config.sound.draws
        return max(2, self.config.n // 68) if asked is None else asked

    @property
    def per_verdict(self) -> int:
        """Draws at each point that is compared with the input in the end: five looks."""
        return 5 * self.per_look

    def look(self, x: Tensor, part: int, weights: Floats, with_slope: bool = True) -> Slopes:
        """Votes at x and, if asked for, the gradient there of sum_k weights_k p_k.

        The leading class's weight is subtracted from all: the p_k sum to 1, so the gradient stays the same, and draws
        that vote for the leading class then add no noise to it.
        """
        estimator = Estimator.SOFT if self.config.gradient == "full" else Estimator.APPROXIMATE
        centred = (weights - weights[self.classes.partition.top])[None, :]
        rows = centred if with_slope else centred[:0]
        found = slopes(self.smoothed, estimator, x, self.per_look, self._stream(part), rows)
        self.cost += found.cost
        return found

    def votes(
        self, points: list[Tensor], part: int, moments: tuple[tuple[float, ...], ...] = (), split: int | None = None
    ) -> list[Tally]:
        """A verdict's votes at several points on the same noise, so that they can be compared draw by draw.

        Each row of `moments` adds the half sums of its weights times the noise.
        """
        stream, n = self._stream(part), self.per_verdict
        self.cost += Cost(n * len(points), n * len(points))
        return self.smoothed.tallies([Request(x, n, stream, moments, split, keep_votes=True) for x in points])

    def pairs(self, x: Tensor, classes: tuple[tuple[int, ...], ...], part: int) -> Tally:
        """How often both, one and none of a pair of opposite draws at x voted for one of a set of classes."""
        n = max(2, self.per_verdict // 2 * 2)
        self.cost += Cost(n, n)
        return self.smoothed.tally(Request(x, n, self._stream(part), antithetic=True, pairs=classes))

    def outlook(self, counts: Counts, balls: int = 1) -> Outlook:
        """What one of several balls may expect of its share of draws and alpha."""
        return outlook(counts, self.classes, self.config.n // balls, self.config.alpha / balls, self.smoothed.sigma)

    def _stream(self, part: int) -> Stream:
        return Stream(self.config.seed, self.index, "search", part)
