"""Where to put further balls: ascend the bound that will be claimed, (D1) by (D5), and let fresh search draws judge.

Serves the methods with centres besides the input. Points and statistics come out, no radius.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from doublebubble.geometry import Bound, certified_radius, nearest_point
from doublebubble.search.ascent import Ascent, confined
from doublebubble.search.gradients import Slopes
from doublebubble.search.plan import BallPlan, MethodPlan, Proposal, Statistic
from doublebubble.search.trials import Trials, WeightRows
from doublebubble.tally import Tally
from doublebubble.types import Floats, Method

_LEAST_SLOPE = 0.05  # r / sqrt(1 - s^2) exceeds r by a thousandth here: below it no search pays
_LARGEST_SLOPE = 0.9  # a steeper estimate is mostly noise, and its step r s / (1 - s^2) would leave the neighbourhood

Designer = Callable[[Trials, Tensor, Tally, int], tuple[Statistic, float]]
"""From a verdict's draws at one of several centres to the statistic to use there and the radius to expect of it."""


@dataclass(frozen=True)
class Bearings:
    """What two independent looks at x1 say about the gradient of the radius there.

    `blocked` is the part that the box keeps an attack from going against (docs/math.md, section 3), `free` the rest.
    `weights` are those of the class probabilities in the radius. Slopes are cross-fitted, the direction from one look
    and the size from the other, so that noise does not count as slope.
    """

    radius: float
    weights: Floats
    blocked: Floats
    blocked_slope: float
    free: Floats
    slope: float


def bearings_of(trials: Trials) -> Bearings:
    """The bearings at x1, taken once for all methods."""
    return trials.once("bearings", lambda: _take_bearings(trials))


def _take_bearings(trials: Trials) -> Bearings:
    """Two looks at x1, and what they agree on."""
    ahead = trials.at_input
    looks = [trials.look(trials.x, f"bearings/{k}", ahead.weights).gradients[0].numpy().reshape(-1) for k in (1, 2)]
    mean = (looks[0] + looks[1]) / 2
    wall = _blocked(trials.smoothed.domain, trials.x, mean, ahead.radius)
    parts = [np.where(wall, look, 0.0) for look in looks]
    return Bearings(
        radius=ahead.radius,
        weights=ahead.weights,
        blocked=np.where(wall, mean, 0.0),
        blocked_slope=_agreed(parts[0], parts[1]),
        free=np.where(wall, 0.0, mean),
        slope=_agreed(looks[0], looks[1]),
    )


def _blocked(domain: tuple[float, float] | None, x: Tensor, gradient: Floats, radius: float) -> npt.NDArray[np.bool_]:
    """Coordinates at which an attack of this length against the gradient would leave the box."""
    size = float(np.linalg.norm(gradient))
    if domain is None or size == 0 or not radius > 0:
        return np.zeros(gradient.shape, np.bool_)
    values = x.detach().cpu().double().numpy().reshape(-1)
    attacked = values - radius * gradient / size
    return (attacked < domain[0]) | (attacked > domain[1])


def _agreed(one: Floats, two: Floats) -> float:
    """The size of what two independent estimates of one vector have in common: 0 on average if it is all noise."""
    sizes = float(np.linalg.norm(one)), float(np.linalg.norm(two))
    if min(sizes) == 0:
        return 0.0
    return float(one @ two) * (1 / sizes[0] + 1 / sizes[1]) / 2


def blocked_shift(bearings: Bearings) -> tuple[float, float]:
    """How far to move off the faces, r s / (1 - s^2), or 0 where that cannot pay; and the slope s that they block."""
    s = min(bearings.blocked_slope, _LARGEST_SLOPE)
    return (bearings.radius * s / (1 - s * s) if s > _LEAST_SLOPE else 0.0), max(s, 0.0)


def moved(trials: Trials, x: Tensor, distance: float, direction: Floats) -> Tensor:
    """x moved along a direction, in its own dtype, kept in the domain and on the grid if there is one."""
    size = float(np.linalg.norm(direction))
    if size == 0 or distance == 0:
        return x
    step = torch.from_numpy(distance * direction / size).reshape(x.shape).to(x.device)
    there = (x.double() + step).to(x.dtype)
    inside = there if trials.smoothed.domain is None else there.clamp(*trials.smoothed.domain)
    return trials.smoothed.noise.snapped(inside)


@dataclass(frozen=True)
class FurtherBalls:
    """A search for one method's centres: from where, with or without the box, and which statistics a ball may use."""

    trials: Trials
    method: Method
    bearings: Bearings
    boxed: bool
    rows: WeightRows
    """Sums of noise to ask of the draws that judge the centres, and where these are halved."""
    split: int | None
    design: Designer

    def propose(self, start: tuple[Tensor, ...], reason: str) -> Proposal | str:
        """A plan with balls around these points, or why fresh draws do not recommend one."""
        centres = self._ascend(start)
        statistics, gain, error = self._judged(centres)
        if not gain > error * len(centres):  # two centres have twice the freedom to fit noise
            return f"{reason}, but fresh search draws predict no gain"
        n = self.trials.config.n // len(centres)
        balls = tuple(
            BallPlan(f"{self.method}/{number}", centre, n, statistic)
            for number, (centre, statistic) in enumerate(zip(centres, statistics, strict=True), start=2)
        )
        names = ", ".join(dict.fromkeys(statistic.name for statistic in statistics))
        return Proposal(
            MethodPlan(self.method, balls, self.boxed, f"{reason}, and fresh search draws agree ({names})"), gain
        )

    @cached_property
    def _box(self) -> tuple[float | None, float | None]:
        domain = self.trials.smoothed.domain
        return domain if self.boxed and domain is not None else (None, None)

    def _bound(self, centres: tuple[Tensor, ...], radii: list[float]) -> Bound:
        return certified_radius(self.trials.x, list(centres), radii, *self._box)  # (D1)

    def _ascend(self, start: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The centres with the largest predicted bound among those that a few steps along (D5) pass.

        The noise is held fixed within the ascent, so that points differ by themselves and not by their draws.
        """
        trials, x, settings = self.trials, self.trials.x, self.trials.config.sound
        length = max(float((centre - x).double().norm()) for centre in start)
        solver = Ascent(
            first_step=max(length, 1e-6) / 4,
            smallest_step=0.0,
            iterations=settings.iterations + 1,
            project=(lambda point: point) if trials.smoothed.domain is None else confined(*trials.smoothed.domain),
            momentum=settings.momentum,
        )
        state = solver.init(torch.stack(start))
        best, best_radius = start, -math.inf
        while True:
            centres = tuple(trials.smoothed.noise.snapped(state.point.to(x.dtype)))
            last = state.iteration == settings.iterations
            looks = [
                trials.look(centre, f"{self.method}/{i}", self.bearings.weights, with_slope=not last)
                for i, centre in enumerate(centres, start=2)
            ]
            radii = [max(0.0, trials.outlook(look.counts, len(centres)).radius) for look in looks]
            bound = self._bound(centres, radii)
            if bound.radius > best_radius:
                best, best_radius = centres, bound.radius
            if last or not bound.radius > 0:
                return best
            state = solver.step(state, self._uphill(centres, radii, bound, looks))
            if solver.done(state):
                return best

    def _uphill(self, centres: tuple[Tensor, ...], radii: list[float], bound: Bound, looks: list[Slopes]) -> Tensor:
        """The gradient of the squared bound by each centre: 2 lambda_i (r_i grad r(x_i) + x* - x_i), (D5)."""
        nearest = torch.from_numpy(nearest_point(bound.multipliers, self.trials.x, list(centres), radii, *self._box))
        rows = [
            2 * lam * (r * look.gradients[0] + nearest - centre.detach().cpu().double())
            for lam, r, look, centre in zip(bound.multipliers, radii, looks, centres, strict=True)
        ]
        return torch.stack(rows)

    def _judged(self, centres: tuple[Tensor, ...]) -> tuple[list[Statistic], float, float]:
        """The statistic of each ball, the gain predicted over votes alone at the input, and its standard error.

        All points see the same noise, so the error is that of the difference, draw by draw: a ball's radius moves the
        bound by lambda_i r_i / R, and a vote for k moves the radius by weights_k.
        """
        trials = self.trials
        here, tallies = trials.compared(centres, self.rows, self.split)
        plain = trials.outlook(here.counts)
        designs = [
            self.design(trials, centre, tally, len(centres)) for centre, tally in zip(centres, tallies, strict=True)
        ]
        statistics, radii = [statistic for statistic, _ in designs], [max(0.0, radius) for _, radius in designs]
        bound = self._bound(centres, radii)
        if not bound.radius > 0 or not math.isfinite(plain.radius):
            return statistics, -math.inf, 0.0
        assert here.votes is not None
        influence = -plain.weights[here.votes]
        for lam, radius, tally in zip(bound.multipliers, radii, tallies, strict=True):
            assert tally.votes is not None
            weights = trials.outlook(tally.counts, len(centres)).weights
            influence = influence + lam * radius / bound.radius * weights[tally.votes]
        error = float(np.std(influence)) / math.sqrt(len(influence))
        return statistics, bound.radius - plain.radius, error
