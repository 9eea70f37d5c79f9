"""When do the votes of a hard input go on with a control variate, and with which one? (docs/math.md, Theorem V)

Everything is made from draws before the look of the change, and from search draws of a stream of their own: nothing
here sees a draw that it is applied to. What is found depends on the input alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from doublebubble.bounds.controlled_votes import Control, change_reserve
from doublebubble.bounds.ladder import Ladder
from doublebubble.bounds.planning import draws_ahead
from doublebubble.config import CertifyConfig
from doublebubble.errors import GradientError
from doublebubble.lines import Line, misplaced
from doublebubble.search.control_fit import EDGES, expected_cosine, fitted_control
from doublebubble.search.gradients import Cost, Estimator, slopes
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.smoothing.votes import VoteStream
from doublebubble.streams import Stream
from doublebubble.types import Counts, Floats

_LEAST_SEEN = 300  # draws before a change: fewer show too little of c, and of how many are ahead
_WORTH = 1500  # draws ahead that pay for a search
_LOOK = 64  # draws whose gradients show the direction: 512 leave 0.97 of the variance that these leave
_MOST_LEFT = 0.97  # of the variance: a control variate that leaves more is not used
_FREEDOM = 8  # degrees of freedom of the fit: 24 bins, 3 of 9 parts of each
_MOST_MISPLACED = 0.05  # of alpha
_GOOD = 0.7  # cosine between the slope and what past votes show of it, from which on it is used
_SHOWING = 0.75  # of the past draws show the direction where there are no gradients; the others show c


def reserve_for(smoothed: SmoothedClassifier, config: CertifyConfig, dim: int, alpha: float) -> float:
    """What is set aside of alpha so that votes at inputs in R^dim may go on with a control variate; 0 if they never do.

    The bins need the vectors Z that were drawn, as normal as `gaussian` noise is taken to be: under other noise they
    are not at hand. Products with them are summed in float64.
    """
    lost = misplaced(dim, len(EDGES), config.max_draws)
    if smoothed.noise.name != "gaussian" or config.max_draws < _LEAST_SEEN + _WORTH or lost > _MOST_MISPLACED * alpha:
        return 0.0
    return change_reserve(alpha, lost)


@dataclass(frozen=True)
class FoundControl:
    """A control variate on bins along a line, None where there is none worth using, and what the search cost."""

    control: Control | None
    cost: Cost


class Controlling:
    """Whether to look for a control variate for one input, and the looking."""

    def __init__(
        self, smoothed: SmoothedClassifier, config: CertifyConfig, ladder: Ladder, given: Input, votes: VoteStream
    ) -> None:
        self._smoothed, self._config, self._ladder, self._given = smoothed, config, ladder, given
        self._votes = votes
        self._ts = np.array(ladder.radii) / smoothed.sigma
        self._levels = np.array(ladder.levels)

    def worth(self, draws: int, hits: int, places: Sequence[int]) -> bool:
        """Whether so many draws are ahead for the radii at these places that a search pays, and one can succeed."""
        if draws < _LEAST_SEEN:
            return False
        ladder, some = self._ladder, list(places)
        ahead = draws_ahead(draws, hits, self._ts[some], self._levels[some], ladder.beta, ladder.cap, ladder.precision)
        return ahead >= _WORTH and (self._config.gradient == "full" or self._past_shows(draws, hits))

    def find(self, draws: int, top: int) -> FoundControl:
        """The control variate for the class `top` from the draws made so far; the stream then follows its line."""
        direction, cost, used = self._direction(draws, top)
        if not np.abs(direction).max(initial=0.0) > 0:
            return FoundControl(None, cost)
        hits = self._votes.past_votes(draws).numpy() == top
        bins = np.array(self._votes.follow(Line.along(direction, EDGES)))
        pilot: Counts = np.zeros((len(EDGES) + 1, 2), np.int64)
        np.add.at(pilot, (bins[used:draws], np.where(hits[used:draws], 0, 1)), 1)
        control = fitted_control(pilot)
        fitted = control.left / (1 - min(0.9, _FREEDOM / int(pilot.sum()))) ** 2  # on draws that the fit has not seen
        return FoundControl(control if fitted < _MOST_LEFT else None, cost)

    def _past_shows(self, draws: int, hits: int) -> bool:
        return expected_cosine(int(_SHOWING * draws), int(_SHOWING * hits), self._given.x.numel()) >= _GOOD

    def _direction(self, draws: int, top: int) -> tuple[Floats, Cost, int]:
        """Where p_A grows fastest, what it cost, and how many of the past draws were used for it.

        Draws that showed the direction lie along it by more than chance, so they cannot show c as well.
        """
        cost = Cost()
        if self._config.gradient == "full":
            stream = Stream(self._config.seed, self._given.index, "search", "control")
            weights = np.zeros((1, self._smoothed.num_classes))
            weights[0, top] = 1.0
            try:
                found = slopes(self._smoothed, Estimator.SOFT, self._given.x, _LOOK, stream, weights)
            except GradientError:  # a black box: its past votes have to show the direction
                cost = Cost(_LOOK, _LOOK)
            else:
                return found.gradients[0].numpy().reshape(-1), found.cost, 0
        used = int(_SHOWING * draws)
        if not self._past_shows(draws, int((self._votes.past_votes(draws) == top).sum())):
            return np.zeros(0), cost, used
        return self._past_slope(used, top), cost, used

    def _past_slope(self, upto: int, top: int) -> Floats:
        """(E1) from the first draws, whose noise is made again: sigma times the gradient of p_A."""
        hits = (self._votes.past_votes(upto) == top).double()
        hits -= hits.mean()
        total = torch.zeros(self._given.x.numel(), dtype=torch.float64)
        for first, noise in self._votes.past_noise(upto):
            total += hits[first : first + len(noise)] @ noise.cpu()
        return (total / upto).numpy()
