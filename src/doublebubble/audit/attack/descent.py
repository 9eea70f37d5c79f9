"""Where does the lead of a class fall fastest? Projected gradient steps on the smoothed classifier.

Each step estimates, over the noise, the gradient of the lead over the strongest rival, adds it to those before, and
goes where their sum leads, within the domain and at one distance from the input. What is found here is a guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from doublebubble.audit.attack.confirming import sign_test
from doublebubble.audit.attack.guide import Guide
from doublebubble.geometry.way import way_point
from doublebubble.runs.attacks import AttackSettings
from doublebubble.search.gradients import Cost, Estimator, Slopes, slopes
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.types import Counts, Floats

_KEPT = 0.8  # of the earlier gradients, at each step
_PUSHES = 8  # out of balls and back to the distance asked for, until both hold
_SEEMS = 0.01  # the level at which the draws of one step suggest a success


@dataclass(frozen=True, eq=False)
class Descent:
    """The search around one input for a class other than `top`."""

    smoothed: SmoothedClassifier
    x: Tensor
    top: int
    settings: AttackSettings
    guide: Guide
    stream: Stream

    def point(self, direction: Floats, distance: float) -> Tensor:
        """The point at this distance from the input in this direction, as the model takes it."""
        point = way_point(self.guide.x, direction, distance, self.smoothed.domain)
        return torch.from_numpy(point).to(self.x)

    def random_direction(self, *name: str | int) -> Floats:
        """A direction without a preference."""
        return self.stream.named("direction", *name).generator().standard_normal(self.guide.x.shape)

    def seek(self, starts: Sequence[Floats], radius: float, *, certified: bool, name: int) -> "Sought":
        """Where a rival comes nearest to the top class at this radius, or the first direction that seems to succeed.

        Tries one start after another; a start of 0 is the input itself. Balls of the plan are avoided unless the radius
        is `certified`.
        """
        best: Sought | None = None
        for number, start in enumerate(starts):
            found = self._follow(_unit(start), radius, certified, self.stream.named("descent", name, number))
            cost = found.cost if best is None else best.cost + found.cost
            best = replace(found if best is None or found.lead < best.lead else best, cost=cost)
            if found.succeeds:
                break
        assert best is not None
        return best

    def press(self, way: Floats, radius: float, rival: int, name: int) -> tuple[Floats, Cost]:
        """A direction in which this rival gains most at this radius, from steps that do not stop at a success."""
        cost = Cost()
        for step in range(self.settings.steps):
            weights = lead_weights(np.zeros(self.smoothed.num_classes, np.int64), self.top, rival)
            seen = self._slope(way, radius, weights, self.stream.named("press", name, rival, step))
            cost += seen.cost
            way = _KEPT * _unit(way) - _unit(seen.gradients[0].numpy())
        return way, cost

    def _follow(self, way: Floats, radius: float, certified: bool, stream: Stream) -> "Sought":
        votes, cost, best = np.zeros(self.smoothed.num_classes, np.int64), Cost(), Sought(way, 2.0, False, Cost())
        for step in range(self.settings.steps):
            at = way if certified else self._led_out(way, radius)
            rival = strongest(votes, self.top) if (votes > 0).sum() > 1 else None
            seen = self._slope(at, radius, lead_weights(votes, self.top, rival), stream.child(step))
            votes, cost = seen.counts, cost + seen.cost
            ahead, behind = int(votes[self.top]), int(votes[strongest(votes, self.top)])
            lead, succeeds = (ahead - behind) / self.settings.draws, sign_test(behind, ahead) <= _SEEMS
            best = Sought(at, lead, succeeds, cost) if lead <= best.lead else best
            if succeeds:
                break
            way = _KEPT * at - _unit(seen.gradients[0].numpy())
        return replace(best, cost=cost)

    def _slope(self, way: Floats, radius: float, weights: Floats, stream: Stream) -> Slopes:
        """Votes, and the gradient of a sum of class probabilities, at a distance in a direction."""
        estimator = Estimator.APPROXIMATE if self.settings.gradient == "approximate" else Estimator.SOFT
        point = self.point(way, radius)
        return slopes(self.smoothed, estimator, point, self.settings.draws, stream, weights[None])

    def _led_out(self, way: Floats, radius: float) -> Floats:
        """The direction, turned so that at this radius it leads out of the balls of the plan."""
        for _ in range(_PUSHES if way.any() else 0):
            y = way_point(self.guide.x, way, radius, self.smoothed.domain)
            moved = self.guide.outside(y)
            if moved is y:
                break
            way = _unit(moved - self.guide.x) * float(np.linalg.norm(way))
        return way


@dataclass(frozen=True, eq=False)
class Sought:
    """A direction, the lead that the top class seems to keep there, and whether a rival seems to lead instead."""

    way: Floats
    lead: float
    succeeds: bool
    cost: Cost


def strongest(votes: Counts, top: int) -> int:
    """The class other than `top` with most votes; the lowest number among equals."""
    return int(np.argmax(np.where(np.arange(len(votes)) == top, -1, votes)))


def lead_weights(votes: Counts, top: int, rival: int | None) -> Floats:
    """The weights of the classes in the lead of `top` over a rival, or over all others at once (None).

    The mean weight of the votes is taken off: that changes no gradient, and makes the score function less noisy.
    """
    weights = np.zeros(len(votes))
    weights[top] = 1.0
    if rival is not None:
        weights[rival] = -1.0
    mean = float(weights @ votes) / max(1, int(votes.sum()))
    return weights - mean


def _unit(direction: Floats) -> Floats:
    length = float(np.linalg.norm(direction))
    return direction / length if length else direction
