"""Which way the class probabilities and the radius of a smoothed classifier grow, estimated from draws.

Two estimators answer: the score function, which needs votes alone, and autograd through Gumbel-softmax scores. What
they return guides a search and certifies nothing. May import smoothing and what lies below it, no bounds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import torch
from scipy.special import ndtri as Phi_inv
from torch import Tensor

from doublebubble.errors import SettingError
from doublebubble.smoothing import SmoothedClassifier, SoftRequest, SoftScores
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import Counts, Floats, GradientKind

Directions = Floats | Callable[[Counts], Floats]
"""(J, K) weights of J sums of class probabilities, or what chooses them once the votes are counted."""


class Estimator(Enum):
    """How votes are cast and gradients taken; the value is a sentence for a person."""

    APPROXIMATE = "votes of the logits, gradients by the score function: any black box"
    FULL = "votes of the Gumbel-perturbed logits, gradients by autograd through their softmax"
    SOFT = "votes of the logits, gradients by autograd through their softmax: steady, but of a softened classifier"
    AUTOGRAD_ONLY = "votes of the logits, gradients by autograd through the Gumbel-softmax"

    @classmethod
    def of(cls, kind: GradientKind) -> "Estimator":
        """The estimator that a setting names."""
        return {"approximate": cls.APPROXIMATE, "full": cls.FULL}[kind]


@dataclass(frozen=True)
class Cost:
    """What was spent: draws of noise, and runs of the model on one draw, a backward pass counting as two."""

    draws: int = 0
    forward_equivalents: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.draws + other.draws, self.forward_equivalents + other.forward_equivalents)


@dataclass(frozen=True)
class Slopes:
    """Votes per class, and the gradient in x of each sum of class probabilities asked for, (J, *shape) in float64."""

    counts: Counts
    gradients: Tensor
    cost: Cost


@dataclass(frozen=True)
class SlopeRequest:
    """`n` draws at `x` from one stream, and the sums of class probabilities whose gradients are wanted."""

    estimator: Estimator
    x: Tensor
    n: int
    stream: Stream
    directions: Directions


def slopes(
    smoothed: SmoothedClassifier, estimator: Estimator, x: Tensor, n: int, stream: Stream, directions: Directions
) -> Slopes:
    """Votes of n draws at x, and estimates of the gradients of sum_k directions[j, k] p_k(x); each errs like n^-1/2.

    The score function is unbiased for (S1); autograd differentiates a softened p, off by a little for any n. Choosing
    the directions after counting is exact for the score function, which makes the noise once more but runs the model
    once per draw. Autograd then runs the draws whose scores have a slope once more and backwards, a few in a hundred:
    at most 2 J + 2 forward-equivalents per draw, hardly more than one in practice; 2 J + 1 if the directions are fixed
    beforehand. Votes that need the row checks or the noise of a tally take a pass of their own.
    """
    return slopes_of(smoothed, [SlopeRequest(estimator, x, n, stream, directions)])[0]


def slopes_of(smoothed: SmoothedClassifier, requests: Sequence[SlopeRequest]) -> list[Slopes]:
    """The slopes of many requests, each as if asked for alone; their votes share micro-batches."""
    asked = [_scores_of(smoothed, request) for request in requests]
    scores = iter(smoothed.soft_scores_of([one for one in asked if one is not None]))
    voting = [request for request, one in zip(requests, asked, strict=True) if one is None]
    kept = [Request(request.x, request.n, request.stream, keep_votes=True) for request in voting]
    tallies = iter(smoothed.tallies(kept))
    return [
        _by_autograd(request, next(scores)) if one is not None else _by_votes(smoothed, request, next(tallies))
        for request, one in zip(requests, asked, strict=True)
    ]


def _scores_of(smoothed: SmoothedClassifier, request: SlopeRequest) -> SoftRequest | None:
    """What autograd is asked where it counts the votes too; None where they are those of a tally."""
    estimator, directions, classes = request.estimator, request.directions, smoothed.num_classes
    counts_votes = {
        Estimator.APPROXIMATE: False,
        Estimator.FULL: True,
        Estimator.SOFT: not callable(directions),
        Estimator.AUTOGRAD_ONLY: smoothed.noise.name == "gaussian",
    }
    if not counts_votes[estimator]:
        return None
    asked = (lambda counts: _rows(directions(counts), classes)) if callable(directions) else _rows(directions, classes)
    plain = estimator is Estimator.AUTOGRAD_ONLY
    return SoftRequest(request.x, request.n, request.stream, asked, estimator is not Estimator.SOFT, plain)


def _by_autograd(request: SlopeRequest, scores: SoftScores) -> Slopes:
    """Votes and gradients by autograd, which ran again what it needed to."""
    spent = Cost(request.n, scores.forwards + 2 * scores.backwards)
    return Slopes(scores.counts, _widened(scores.gradients), spent)


def _by_votes(smoothed: SmoothedClassifier, request: SlopeRequest, tally: Tally) -> Slopes:
    """Votes of a tally, and gradients by the score function or by a pass of their own."""
    estimator, x, n, stream = request.estimator, request.x, request.n, request.stream
    counts, votes, directions = tally.counts, tally.votes, request.directions
    weights = _rows(directions(counts) if callable(directions) else directions, smoothed.num_classes)
    if len(weights) == 0:
        return Slopes(counts, torch.zeros((0, *x.shape), dtype=torch.float64), Cost(n, n))
    if estimator is Estimator.APPROXIMATE:
        assert votes is not None
        return Slopes(counts, _score_function(smoothed, x, stream, weights, torch.from_numpy(votes)), Cost(n, n))
    gradients = smoothed.soft_scores(x, n, stream, weights, gumbel=estimator is not Estimator.SOFT).gradients
    return Slopes(counts, _widened(gradients), Cost(n, (2 + 2 * len(weights)) * n))


def _score_function(smoothed: SmoothedClassifier, x: Tensor, stream: Stream, weights: Tensor, votes: Tensor) -> Tensor:
    """Gradients of sum_k w_k p_k as 1/(n sigma) sum_i w[vote i] Z_i, the noise made again from its stream."""  # (E1)
    centre = smoothed.checked(x, stream.index)
    source, noise = smoothed.noise.source(stream, centre), smoothed.noise.room(centre, smoothed.batch_size)
    total = torch.zeros((len(weights), x.numel()), dtype=torch.float64)
    for first in range(0, len(votes), smoothed.batch_size):
        piece = votes[first : first + smoothed.batch_size]
        source.fill(noise[: len(piece)])
        mine = weights[:, piece].to(noise)
        total += _widened(mine @ noise[: len(piece)].reshape(len(piece), -1))
    return (total / (len(votes) * smoothed.sigma)).reshape(len(weights), *x.shape)


def _rows(directions: Floats, num_classes: int) -> Tensor:
    rows = np.asarray(directions, np.float64)
    if rows.ndim != 2 or rows.shape[1] != num_classes or not np.isfinite(rows).all():
        raise SettingError(f"directions: expected finite weights of shape (rows, {num_classes}), got {rows.shape}")
    return torch.from_numpy(rows)


def _widened(gradients: Tensor) -> Tensor:
    return gradients.cpu().double()


# The gradient of the radius


@dataclass(frozen=True)
class Rivals:
    """The leading class, its runner-up, and the probabilities at which the radius is evaluated."""

    top: int
    runner_up: int
    p_a: float
    p_b: float


class GradientState(Enum):
    """Whether draws give a gradient of the radius, or why not; the value is a sentence for a person."""

    DEFINED = "the gradient is defined"
    UNANIMOUS = "every draw votes for one class: the draws show no direction"
    SINGULAR = "a probability of 0 or 1 has no quantile to differentiate"
    VANISHED = "the gradient vanishes"
    UNASKED = "no gradient was asked for"


@dataclass(frozen=True)
class RadiusGradient:
    """The gradient of (S3) at a point, zero unless `state` is DEFINED, and the votes it came from."""

    counts: Counts
    rivals: Rivals
    value: Tensor
    state: GradientState
    cost: Cost


def leading(counts: Counts) -> tuple[int, int]:
    """The class with most votes and the next; among equals the lower number comes first."""
    order = np.argsort(-counts, kind="stable")
    return int(order[0]), int(order[1])


def estimated_rivals(counts: Counts) -> Rivals:
    """The rivals at the shares of the votes."""
    top, runner_up = leading(counts)
    n = int(counts.sum())
    return Rivals(top, runner_up, int(counts[top]) / n, int(counts[runner_up]) / n)


def phi(z: Floats) -> Floats:
    """The normal density; the one of scipy.stats takes longer than all else here."""
    density: Floats = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return density


def radius_directions(rivals: Rivals, sigma: float, num_classes: int) -> Floats:
    """The weights, (1, K), whose sum of class probabilities has the gradient of (S3); (0, K) if it is singular."""
    slopes_at = phi(Phi_inv(np.array([rivals.p_a, rivals.p_b])))
    weights = np.zeros((1, num_classes))
    with np.errstate(divide="ignore", over="ignore"):
        weights[0, [rivals.top, rivals.runner_up]] = sigma / 2 / slopes_at * np.array([1.0, -1.0])  # (E2)
    return weights if np.isfinite(weights).all() else weights[:0]


@dataclass(frozen=True)
class Look:
    """The votes of n draws at x, how to read them, and whether a gradient of the radius is wanted as well.

    `read` turns votes into the rivals and the probabilities where the quantile is differentiated: their estimates, or
    confidence bounds, whose own derivative is taken as that of the estimates.
    """

    estimator: Estimator
    x: Tensor
    n: int
    stream: Stream
    read: Callable[[Counts], Rivals] = estimated_rivals
    climbing: bool = True


def radius_gradients(smoothed: SmoothedClassifier, looks: Sequence[Look]) -> list[RadiusGradient]:
    """The gradient of (S3) for the class that leads at each point, estimated from n draws: finite, with its state.

    Each is as if asked for alone; votes share micro-batches.
    """
    readings = [_Reading(smoothed, look) for look in looks]
    found = slopes_of(
        smoothed,
        [
            SlopeRequest(look.estimator, look.x, look.n, look.stream, reading.directions)
            for look, reading in zip(looks, readings, strict=True)
        ],
    )
    return [reading.gradient(one) for reading, one in zip(readings, found, strict=True)]


class _Reading:
    """What the votes of one look are read as, and the directions that follow from it."""

    def __init__(self, smoothed: SmoothedClassifier, look: Look) -> None:
        self._smoothed, self._look = smoothed, look
        self._rivals: Rivals | None = None

    def directions(self, counts: Counts) -> Floats:
        self._rivals = self._look.read(counts)
        rows = radius_directions(self._rivals, self._smoothed.sigma, self._smoothed.num_classes)
        return rows if self._look.climbing and int(counts.max()) < self._look.n else rows[:0]

    def gradient(self, found: Slopes) -> RadiusGradient:
        assert self._rivals is not None
        value = found.gradients[0] if len(found.gradients) else torch.zeros(self._look.x.shape, dtype=torch.float64)
        if not self._look.climbing:
            state = GradientState.UNASKED
        elif int(found.counts.max()) == self._look.n:
            state = GradientState.UNANIMOUS
        elif len(found.gradients) == 0:
            state = GradientState.SINGULAR
        else:
            state = GradientState.DEFINED if bool(value.any()) else GradientState.VANISHED
        return RadiusGradient(found.counts, self._rivals, value, state, found.cost)
