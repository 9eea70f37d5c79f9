"""The search's own draws for one input: gradients, votes and pairs at points of interest, and what they cost.

They have streams of their own, of the stage `search`, and are never counted again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from torch import Tensor

from doublebubble.config import CertifyConfig
from doublebubble.lines import Line
from doublebubble.search.forecast import Outlook, outlook
from doublebubble.search.gradients import Cost, Estimator, Slopes, slopes
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import Counts, Floats

WeightRows = tuple[tuple[float, ...], ...]
"""Rows of weights, one for each class."""
Shared = TypeVar("Shared")
_VERDICT = "verdict"


@dataclass
class Trials:
    """Draws at points of interest for the input x, whose select draws gave the votes `selected`."""

    smoothed: SmoothedClassifier
    config: CertifyConfig
    x: Tensor
    index: int
    selected: Counts
    cost: Cost = field(default_factory=Cost)
    _shared: dict[str, object] = field(default_factory=dict)

    @cached_property
    def top(self) -> int:
        """The class under test, fixed by the select draws; among equals the lower number."""
        return int(self.selected.argmax())

    @cached_property
    def at_input(self) -> Outlook:
        """What votes alone may expect at the input, of all draws and all of alpha."""
        return self.outlook(self.selected)

    @property
    def per_look(self) -> int:
        """Draws of one look at a slope: a 68th of n, so that all methods together cost less than the certificate."""
        asked = self.config.sound.draws
        return max(2, self.config.n // 68) if asked is None else asked

    @property
    def per_verdict(self) -> int:
        """Draws at each point that is compared with the input in the end: five looks."""
        return 5 * self.per_look

    @property
    def estimator(self) -> Estimator:
        """How slopes are estimated: by autograd through softened votes, or by votes alone for a black box."""
        return Estimator.SOFT if self.config.gradient == "full" else Estimator.APPROXIMATE

    def once(self, name: str, take: Callable[[], Shared]) -> Shared:
        """What several methods want to know, found out once."""
        if name not in self._shared:
            self._shared[name] = take()
        return cast(Shared, self._shared[name])

    def look(self, x: Tensor, part: str, weights: Floats, with_slope: bool = True) -> Slopes:
        """Votes at x and, if asked for, the gradient there of sum_k weights_k p_k, for each row of weights.

        The leading class's weight is subtracted from all: the p_k sum to 1, so the gradient stays the same, and draws
        that vote for the leading class then add no noise to it.
        """
        rows = np.atleast_2d(weights)
        centred = rows - rows[:, [self.top]]
        if not with_slope:
            centred = centred[:0]
        found = slopes(self.smoothed, self.estimator, x, self.per_look, self._stream(part), centred)
        self.cost += found.cost
        return found

    def votes(
        self,
        points: Sequence[Tensor],
        part: str,
        moments: WeightRows = (),
        split: int | None = None,
        lines: tuple[Line, ...] = (),
    ) -> list[Tally]:
        """A verdict's votes at several points on the same noise.

        Each row of `moments` adds the half sums of its weights times the noise, each of `lines` the votes by its bins.
        """
        stream, n = self._stream(part), self.per_verdict
        self.cost += Cost(n * len(points), n * len(points))
        wanted = [Request(x, n, stream, moments, split, keep_votes=True, lines=lines) for x in points]
        return self.smoothed.tallies(wanted)

    def compared(self, points: Sequence[Tensor], moments: WeightRows, split: int | None) -> tuple[Tally, list[Tally]]:
        """Votes at the input and at these points on one noise for all methods: they can be compared draw by draw."""
        here = self.once(_VERDICT, lambda: self.votes([self.x], _VERDICT)[0])
        return here, self.votes(points, _VERDICT, moments, split)

    def pairs(self, x: Tensor, part: str) -> Tally:
        """For each class, how many pairs of opposite draws at x voted for it twice, once and never."""
        n = max(2, self.per_verdict // 2 * 2)
        self.cost += Cost(n, n)
        return self.smoothed.tally(Request(x, n, self._stream(part), antithetic=True))

    def worth(self, draws: int) -> float:
        """The usual gain from which on a search of so many draws pays: what they would add to the certify draws.

        Forecast at the shares as they were seen: where all draws agree, more of them raise the ceiling. Times 6,
        because a search is in vain for most inputs, and then its draws are lost.
        """
        here = self.once("worth/0", lambda: self._as_seen(self.config.n))
        more = self.once(f"worth/{draws}", lambda: self._as_seen(self.config.n + draws))
        return 6 * max(0.0, more - max(0.0, here))

    def _as_seen(self, n: int) -> float:
        """The radius to expect of n draws at the input whose votes are shared as the select draws were."""
        return outlook(self.selected, self.top, n, self.config.alpha, self.smoothed.sigma, against=0).radius

    def outlook(self, counts: Counts, balls: int = 1) -> Outlook:
        """What votes may expect of one of several balls, with its share of draws and alpha, after these counts."""
        config = self.config
        return outlook(counts, self.top, max(1, config.n // balls), config.alpha / balls, self.smoothed.sigma)

    def _stream(self, part: str) -> Stream:
        return Stream(self.config.seed, self.index, "search", part)
