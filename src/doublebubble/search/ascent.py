"""Gradient ascent with Barzilai-Borwein steps: frozen settings, a state that is passed, a stop with a reason.

Knows neither models nor radii: it is handed a gradient at the point it proposed and proposes the next point. Of the
package it may import streams and errors only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import torch
from torch import Tensor

from doublebubble.errors import SettingError
from doublebubble.streams import NormalDraws, Stream

_NOTHING = 1e-100  # a gradient shorter than this is none: its square would underflow
_ENDLESS = 1e12  # a step factor above this is the quotient of rounding errors


class AscentEnd(Enum):
    """Why an ascent ended; the value is a sentence for a person."""

    VANISHED = "the gradient vanished"
    UNCHANGED = "the gradient did not change between two points, which leaves the step without a length"
    SMALL_STEP = "the step fell below the smallest one taken"
    ITERATIONS = "all iterations were used"


@dataclass(frozen=True)
class AscentState:
    """Where an ascent stands: `point` is where the next gradient is wanted; `stop` says why there is none."""

    point: Tensor
    iteration: int = 0
    previous_point: Tensor | None = None
    previous_gradient: Tensor | None = None
    velocity: Tensor | None = None
    stop: AscentEnd | None = None


@dataclass(frozen=True)
class Ascent:
    """The settings of an ascent.

    The first step is `first_step` times the normalised gradient, every later one gamma times the gradient with the
    length |dx.dg| / (dg.dg) of Barzilai and Borwein, at most `largest_step`. It ends when gamma falls below
    `smallest_step`, and after `iterations` gradients. `project` maps a point to the nearest one allowed. `momentum` is
    the part of the last displacement that is repeated; `noise` adds a Gaussian vector of expected length `noise` times
    the step's own, from a stream that is then required.
    """

    first_step: float
    smallest_step: float
    iterations: int
    project: Callable[[Tensor], Tensor]
    largest_step: float = math.inf
    momentum: float = 0.0
    noise: float = 0.0

    def init(self, point: Tensor) -> AscentState:
        """The state before the first gradient; the point is projected and held in float64."""
        return AscentState(self.project(point.detach().double()))

    def step(
        self, state: AscentState, gradient: Tensor, *, forwards: bool = True, stream: Stream | None = None
    ) -> AscentState:
        """The state after a gradient at `state.point`: a step along it, or against it unless `forwards`.

        Once an ascent has stopped its point stays where the last gradient was taken.
        """
        if state.stop is not None:
            raise SettingError(f"ascent: expected a state that has not stopped, but {state.stop.value}")
        g = gradient.detach().to(state.point)
        if g.shape != state.point.shape or not bool(g.isfinite().all()):
            shapes = f"{tuple(state.point.shape)}, got {tuple(g.shape)}"
            raise SettingError(f"ascent: expected a finite gradient of shape {shapes}")
        after = replace(state, iteration=state.iteration + 1, previous_point=state.point, previous_gradient=g)
        if float(g.norm()) < _NOTHING:
            return replace(after, stop=AscentEnd.VANISHED)
        gamma = self._length(state, g)
        if isinstance(gamma, AscentEnd):
            return replace(after, stop=gamma)
        if after.iteration >= self.iterations:
            return replace(after, stop=AscentEnd.ITERATIONS)
        velocity = self._displacement(state, gamma * g if forwards else -gamma * g, stream)
        return replace(after, point=self.project(state.point + velocity), velocity=velocity)

    def done(self, state: AscentState) -> bool:
        """Whether the ascent has ended, for the reason in `state.stop`."""
        return state.stop is not None

    def _length(self, state: AscentState, g: Tensor) -> float | AscentEnd:
        """The factor gamma of the gradient, or why there is none."""
        if state.previous_point is None or state.previous_gradient is None:
            return self.first_step / float(g.norm())
        dx, dg = state.point - state.previous_point, g - state.previous_gradient
        change = float((dg * dg).sum())
        gamma = abs(float((dx * dg).sum())) / change if change > 0 else math.inf  # (E4)
        if gamma > _ENDLESS:
            return AscentEnd.UNCHANGED
        gamma = min(gamma, self.largest_step)
        return AscentEnd.SMALL_STEP if gamma < self.smallest_step or gamma == 0 else gamma

    def _displacement(self, state: AscentState, step: Tensor, stream: Stream | None) -> Tensor:
        if self.momentum and state.velocity is not None:
            step = step + self.momentum * state.velocity
        if not self.noise:
            return step
        if stream is None:
            raise SettingError("ascent: calibrated noise needs a stream, got none")
        z = torch.empty((1, *step.shape), dtype=torch.float64)
        NormalDraws(stream, z[0]).fill(z)
        return step + z[0].to(step) * (self.noise * float(step.norm()) / math.sqrt(step.numel()))


def confined(low: float, high: float) -> Callable[[Tensor], Tensor]:
    """The projection to the box [low, high] in every coordinate."""
    return lambda point: point.clamp(low, high)


def within(centre: Tensor, reach: float) -> Callable[[Tensor], Tensor]:
    """The projection to the ball of radius `reach` about `centre`."""

    def project(point: Tensor) -> Tensor:
        offset = point - centre
        length = float(offset.norm())
        return point if length <= reach else centre + offset * (reach / length)

    return project
