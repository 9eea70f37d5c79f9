"""The publication's Algorithms 1 and 2, and their line search for a third ball, as docs/math.md section 4 reads them.

The draws that measure a radius here are also the draws that choose it, so nothing in this file is a guarantee. Only
protocol `paper` may import it. A search is a generator: it yields the look that it wants next and is sent what was
seen, so that looks around several inputs can be made together.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from doublebubble.bounds import goodman
from doublebubble.config import CertifyConfig
from doublebubble.geometry import cohen_radius, double_bubble_radius
from doublebubble.search.ascent import Ascent, confined, within
from doublebubble.search.gradients import Cost, Estimator, Look, RadiusGradient, Rivals, leading
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import NormalDraws, Stage, Stream
from doublebubble.types import Counts, Floats

_LARGEST_LINE_STEP = 5.0  # in units of the line search's first step


@dataclass(frozen=True)
class Measured:
    """Algorithm 2 at one point: votes, Goodman bounds, and the signed radius (S3) for the class that leads there."""

    point: Tensor
    n: int
    counts: Counts
    rivals: Rivals
    radius: float

    def centre(self) -> Floats:
        """The numbers that were fed to the model, widened."""
        return self.point.double().numpy()


@dataclass(frozen=True)
class Found:
    """What a search ended with: the best ball it looked at, if any, why it ended, and what it spent."""

    ball: Measured | None
    reason: str
    cost: Cost = field(default_factory=Cost)
    seconds: float = 0.0


@dataclass(frozen=True)
class Seen:
    """What a look has shown, and the seconds that it and all since the last look took."""

    found: RadiusGradient
    seconds: float


T = TypeVar("T")
Search = Generator[Look, Seen, T]


def goodman_rivals(counts: Counts, alpha: float) -> Rivals:
    """The leading two classes, Goodman's lower bound for the first and the largest upper bound among the others."""
    top, runner_up = leading(counts)
    bounds = goodman(counts, alpha)
    return Rivals(top, runner_up, float(bounds.lower[top]), float(np.delete(bounds.upper, top).max()))


@dataclass(frozen=True)
class SearchedInput:
    """One input to be searched around: the point x1 as it is fed to the model, and the class under test there."""

    smoothed: SmoothedClassifier
    config: CertifyConfig
    x: Tensor
    index: int
    label: int

    @property
    def estimator(self) -> Estimator:
        """How ball 2 votes and finds its way."""
        return Estimator.of(self.config.gradient)

    @property
    def draws(self) -> int:
        """Draws of one look of a search."""
        return self.config.n if self.config.paper.draws is None else self.config.paper.draws

    def stream(self, stage: Stage, part: str) -> Stream:
        """A stream of this input."""
        return Stream(self.config.seed, self.index, stage, part)

    def read(self, counts: Counts) -> Rivals:
        """Goodman's bounds for the leading two classes, at alpha."""
        return goodman_rivals(counts, self.config.alpha)

    def measure(self, point: Tensor, stage: Stage, part: str) -> Search[tuple[Measured, Cost, float]]:
        """The radius at a point from n draws of its own, what they cost, and the seconds they took."""
        n = self.config.n
        seen = yield Look(self.estimator, point, n, self.stream(stage, part), self.read, climbing=False)
        return self._measured(point, n, seen.found), seen.found.cost, seen.seconds

    def look(self, point: Tensor, estimator: Estimator, part: str) -> Search[tuple[Measured, Tensor, Cost, float]]:
        """The radius at a point and its gradient from the same draws, what they cost, and the seconds they took."""
        fed = point.to(self.x.dtype)
        seen = yield Look(estimator, fed, self.draws, self.stream("search", part), self.read)
        return self._measured(fed, self.draws, seen.found), seen.found.value, seen.found.cost, seen.seconds

    def distance(self, point: Tensor) -> float:
        """|point - x1|, in float64."""
        return float((point.double() - self.x.double()).norm())

    def _measured(self, point: Tensor, n: int, found: RadiusGradient) -> Measured:
        rivals = found.rivals
        return Measured(point, n, found.counts, rivals, cohen_radius(rivals.p_a, rivals.p_b, self.smoothed.sigma))


def find_second(searched: SearchedInput) -> Search[Found]:
    """Algorithm 1: the ball that looked best for r(x') - |x' - x1| along an ascent of that difference, (E3).

    Where another class leads, its radius is descended instead and nothing is recorded.
    """
    settings, x = searched.config.paper, searched.x.double()
    ascent = Ascent(
        settings.first_step,
        settings.smallest_step,
        settings.iterations,
        project=_domain_of(searched),
        momentum=settings.momentum,
        noise=settings.calibrated_noise,
    )
    state = ascent.init(x + settings.start_noise * _normal(searched.stream("search", "second/start"), x))
    best: Measured | None = None
    spent, seconds = Cost(), 0.0
    while not ascent.done(state):
        part = f"second/{0 if settings.fixed_draws else state.iteration}"
        seen, gradient, cost, took = yield from searched.look(state.point, searched.estimator, part)
        spent, seconds = spent + cost, seconds + took
        right = seen.rivals.top == searched.label
        beaten = -np.inf if best is None else _excess(searched, best)
        if right and seen.radius > 0 and _excess(searched, seen) > beaten:
            best = seen
        if right:
            gradient = gradient - _away(state.point, x)
        step_stream = searched.stream("search", f"second/{state.iteration}/step")
        state = ascent.step(state, gradient, forwards=right, stream=step_stream)
    assert state.stop is not None
    return Found(best, f"best of {state.iteration} looks, ended because {state.stop.value}", spent, seconds)


def find_third(searched: SearchedInput, second: Measured) -> Search[Found]:
    """The ball on the line from ball 2 through x1 that looked best for (D3), along an ascent over s in [0, 1]."""
    settings, x = searched.config.paper, searched.x.double()
    r2, d2 = second.radius, searched.distance(second.point)
    if d2 == 0 or r2 <= d2:
        why = "ball 2 is centred at the input" if d2 == 0 else "ball 2 does not reach the input"
        return Found(None, f"no line to search: {why}")
    along = (x - second.point.double()) * ((r2 - d2) / d2)  # x3(s) = x1 + s * along
    estimator = Estimator.FULL if searched.estimator is Estimator.FULL else Estimator.AUTOGRAD_ONLY
    first = settings.line_first_step
    ascent = Ascent(
        first, settings.line_smallest_step, settings.line_iterations, confined(0.0, 1.0), _LARGEST_LINE_STEP * first
    )
    state = ascent.init(torch.tensor([settings.line_start]))
    best: tuple[float, Measured] | None = None
    spent, seconds = Cost(), 0.0
    while not ascent.done(state):
        part = f"third/{0 if settings.fixed_draws else state.iteration}"
        seen, gradient, cost, took = yield from searched.look(x + state.point * along, estimator, part)
        spent, seconds = spent + cost, seconds + took
        slope = float((gradient * along).sum())
        right = seen.rivals.top == searched.label
        if right and seen.radius > 0:
            d3 = searched.distance(seen.point)
            joint = double_bubble_radius(r2, d2, seen.radius, d3)
            if best is None or joint > best[0]:
                best = (joint, seen)
            slope = _bubble_slope(r2, d2, seen.radius, d3, slope)
        state = ascent.step(state, torch.tensor([slope]), forwards=right)
    assert state.stop is not None
    reason = f"best of {state.iteration} looks, ended because {state.stop.value}"
    return Found(None if best is None else best[1], reason, spent, seconds)


def _bubble_slope(r2: float, d2: float, r3: float, d3: float, slope3: float) -> float:
    """The derivative in s of (D3) where d3 = s (r2 - d2) and r3 has derivative slope3, (E5).

    Where (D3) is zero its square is climbed instead, on the scale of r2 - d2.
    """
    reach, span = r2 - d2, d2 + d3
    squared = (d2 * (r3**2 - d3**2) + d3 * (r2**2 - d2**2)) / span
    growth = d2 * (2 * r3 * slope3 - 2 * d3 * reach) + reach * (r2**2 - d2**2)
    return (growth - squared * reach) / span / (2 * (np.sqrt(squared) if squared > 0 else reach))


def _excess(searched: SearchedInput, ball: Measured) -> float:
    """What Algorithm 1 climbs: the radius less the distance."""
    return ball.radius - searched.distance(ball.point)


def _away(point: Tensor, x: Tensor) -> Tensor:
    """The gradient of |point - x|; zero where they meet, which is among its subgradients."""
    offset = point - x
    length = float(offset.norm())
    return offset / length if length > 0 else torch.zeros_like(offset)


def _domain_of(searched: SearchedInput) -> Callable[[Tensor], Tensor]:
    """The box; in free space the ball beyond which no radius that n draws can reach would cover x1."""
    if searched.smoothed.domain is not None:
        return confined(*searched.smoothed.domain)
    agreed = np.zeros(searched.smoothed.num_classes, np.int64)
    agreed[searched.label] = searched.draws
    rivals = searched.read(agreed)
    return within(searched.x.double(), max(0.0, cohen_radius(rivals.p_a, rivals.p_b, searched.smoothed.sigma)))


def _normal(stream: Stream, like: Tensor) -> Tensor:
    out = torch.empty((1, *like.shape), dtype=torch.float64)
    NormalDraws(stream, out[0]).fill(out)
    return out[0]
