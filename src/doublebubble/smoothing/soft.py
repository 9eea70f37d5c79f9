"""Soft scores: differentiable stand-ins for votes. They guide searches and certify nothing."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from doublebubble.errors import GradientError, SettingError
from doublebubble.models.calling import ModelCode
from doublebubble.smoothing.forward import Forward, some_rows
from doublebubble.streams import NormalDraws, Stream
from doublebubble.tally import summing_device
from doublebubble.types import Counts

GUMBEL_SCALE = 100.0  # the logits' factor inside the Gumbel-softmax of the paper's code
KEPT_BYTES = 1 << 28
"""The most memory that the noise of the draws in doubt may take; beyond it every draw is run a second time."""
_SURE = 17.0  # a score ahead of the others by this much has a softmax of 1 in float32, and so no slope
_STEP = 32  # rows: batches of few sizes are run, since a new size costs a small model dearly

Directions = Tensor | Callable[[Counts], Tensor]


@dataclass(frozen=True)
class SoftScores:
    """`counts` are the votes; `gradients[j]` is the mean gradient, with respect to x, of the j-th weighted sum of soft
    scores asked for. `forwards` and `backwards` are the rows that the model was run on, padding excepted where every
    draw is run.
    """

    counts: Counts
    gradients: Tensor
    forwards: int
    backwards: int


def soft_scores(
    forward: Forward,
    sigma: float,
    x: Tensor,
    n: int,
    stream: Stream,
    directions: Directions,
    gumbel: bool,
    plain_votes: bool = False,
) -> SoftScores:
    """The soft scores of n draws at the checked centre x, as `SmoothedClassifier.soft_scores` says."""
    draws = _Draws(forward, sigma, x, n, stream, gumbel, plain_votes)
    with _inputs_alone(forward):
        return draws.chosen(directions) if callable(directions) else draws.weighted(directions)


@dataclass(frozen=True)
class _Draws:
    """The draws of one look: where, how many, and how they vote."""

    forward: Forward
    sigma: float
    centre: Tensor
    n: int
    stream: Stream
    gumbel: bool
    plain_votes: bool

    def weighted(self, directions: Tensor) -> SoftScores:
        """Directions that are known: every draw is run once, each graph used and dropped at once.

        Gradients only guide, so they need not run at the recorded shape: few draws take a batch of few rows.
        """
        directions = self._checked(directions)
        counts, gradients = self._no_votes(), self._no_gradients(len(directions))
        self.centre.requires_grad_(len(directions) > 0)
        for noise, normals in self._micro_batches(short=len(directions) > 0 and self.forward.takes_few):
            with torch.set_grad_enabled(len(directions) > 0):
                logits, scores = self._scored(self.centre + self.sigma * noise, normals)
            counts += self._votes(logits, scores)
            self._add_gradients(gradients, scores, directions)
        return SoftScores(counts.cpu().numpy(), gradients / self.n, self.n, len(directions) * self.n)

    def chosen(self, choose: Callable[[Counts], Tensor]) -> SoftScores:
        """Directions chosen by the votes: only draws in doubt are run again, with a graph.

        Where one score is far ahead the softmax is 1 up to rounding, and a backward pass would return next to nothing.
        """
        counts, doubts = self._no_votes(), _Doubts(self.forward.batch_size)
        inputs = self.forward.buffers(self.centre).inputs
        with torch.no_grad():
            for noise, normals in self._micro_batches():
                torch.add(self.centre, noise, alpha=self.sigma, out=inputs)
                logits, scores = self._scored(inputs, normals)
                counts += self._votes(logits, scores)
                doubts.add(scores, noise, normals)
        counted = counts.cpu().numpy()
        directions = self._checked(choose(counted))
        if len(directions) == 0:
            return SoftScores(counted, self._no_gradients(0), self.n, 0)
        if doubts.too_many or not self.gumbel:  # soft scores have slopes everywhere
            again = self.weighted(directions)
            return SoftScores(counted, again.gradients, 2 * self.n, again.backwards)
        gradients, rerun = self._no_gradients(len(directions)), 0
        self.centre.requires_grad_()
        for noise, normals in doubts.batches():
            _, scores = self._scored(self.centre + self.sigma * noise, normals)
            self._add_gradients(gradients, scores, directions)
            rerun += len(noise)
        return SoftScores(counted, gradients / self.n, self.n + rerun, len(directions) * rerun)

    def _micro_batches(self, short: bool = False) -> Iterator[tuple[Tensor, Tensor]]:
        """The noise of each micro-batch, padded with zeros, and the normal numbers behind its Gumbel noise.

        A `short` last one is padded to one of a few sizes only.
        """
        forward, most = self.forward, self.forward.batch_size
        noise = forward.buffers(self.centre).noise
        source = NormalDraws(self.stream, self.centre)
        normals = torch.empty((most, forward.num_classes), dtype=torch.float32, device=forward.device)
        gumbel_source = NormalDraws(self.stream.child("gumbel"), normals[0]) if self.gumbel else None
        for first in range(0, self.n, most):
            rows = min(most, self.n - first)
            source.fill(noise[:rows])
            if rows < most:
                noise[rows:] = 0
            if gumbel_source is not None:
                gumbel_source.fill(normals[:rows])
            yield some_rows(noise, 0, _size(rows, most) if short else most), normals[:rows]

    def _scored(self, batch: Tensor, normals: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and scores of as many rows as there are normal numbers for; the others are padding."""
        forward, rows = self.forward, len(normals)
        logits = forward.logits(batch, rows, [self.stream.index])[:rows]
        if self.gumbel:
            return logits, GUMBEL_SCALE * logits + _gumbel(normals).to(logits.dtype).to(forward.device)
        return logits, _sharpness(logits.detach()) * logits

    def _votes(self, logits: Tensor, scores: Tensor) -> Tensor:
        voting = (logits if self.plain_votes else scores).detach()
        return torch.bincount(voting.argmax(1), minlength=self.forward.num_classes)

    def _add_gradients(self, gradients: Tensor, scores: Tensor, directions: Tensor) -> None:
        with torch.set_grad_enabled(len(directions) > 0):
            soft = scores.softmax(1).sum(0)
            sums = directions.to(soft) @ soft
        for number in range(len(directions)):
            keep = number + 1 < len(directions)
            gradients[number] += _gradient(sums[number], self.centre, keep, self.stream.index)

    def _checked(self, directions: Tensor) -> Tensor:
        classes = self.forward.num_classes
        if directions.dim() != 2 or directions.shape[1] != classes:
            raise SettingError(f"directions: expected shape (rows, {classes}), got {tuple(directions.shape)}")
        return directions

    def _no_votes(self) -> Tensor:
        return torch.zeros(self.forward.num_classes, dtype=torch.int64, device=self.forward.device)

    def _no_gradients(self, rows: int) -> Tensor:
        centre = self.centre
        return torch.zeros((rows, *centre.shape), dtype=centre.dtype, device=centre.device)


class _Doubts:
    """The draws whose softmax has a slope: those in which no score is far ahead, and always the one nearest to it."""

    def __init__(self, batch_size: int) -> None:
        self._batch_size = batch_size
        self._noise: list[Tensor] = []
        self._normals: list[Tensor] = []
        self._bytes = 0

    @property
    def too_many(self) -> bool:
        """Whether they were too many to be kept."""
        return self._bytes > KEPT_BYTES

    def add(self, scores: Tensor, noise: Tensor, normals: Tensor) -> None:
        """Keep those of a micro-batch."""
        best = scores.topk(2, dim=1).values
        ahead = best[:, 0] - best[:, 1]
        rows = (ahead < max(_SURE, float(ahead.min()) * (1 + 1e-6))).nonzero()[:, 0]
        self._bytes += len(rows) * noise[0].numel() * noise.element_size()
        if self.too_many:
            self._noise.clear()
            self._normals.clear()
            return
        self._noise.append(noise[rows])
        self._normals.append(normals[rows])

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """All of them, padded with zeros to a few sizes."""
        noise, normals = torch.cat(self._noise), torch.cat(self._normals)
        for first in range(0, len(noise), self._batch_size):
            part = noise[first : first + self._batch_size]
            size = _size(len(part), self._batch_size)
            padded = torch.cat([part, part.new_zeros((size - len(part), *part.shape[1:]))])
            yield padded, normals[first : first + self._batch_size]


def _size(rows: int, most: int) -> int:
    """How many rows are run for so many draws."""
    return min(most, -(-rows // _STEP) * _STEP)


@contextmanager
def _inputs_alone(forward: Forward) -> Iterator[None]:
    """Within, no weight of the program wants a gradient: graphs keep less, and nothing is computed in vain."""
    wanting = [parameter for parameter in forward.parameters() if parameter.requires_grad]
    for parameter in wanting:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in wanting:
            parameter.requires_grad_(True)


def _gradient(value: Tensor, centre: Tensor, keep: bool, index: int) -> Tensor:
    gradient = None
    if value.requires_grad:
        with ModelCode(f"input {index}: the gradient of the model failed"):
            (gradient,) = torch.autograd.grad(value, centre, retain_graph=keep, allow_unused=True)
    if gradient is None:
        raise GradientError(
            f"input {index}: expected logits that autograd can differentiate with respect to the input, got logits "
            "without a gradient: use gradient `approximate`; gradient `full` and method `double` of protocol `paper` "
            "cannot use this model"
        )
    return gradient


def _gumbel(normals: Tensor) -> Tensor:
    """Standard Gumbel noise from standard normal noise: -log(-log U) with U = Phi(normal)."""
    log_u = torch.special.log_ndtr(normals.to(summing_device(normals.device)).double())
    return -torch.log(-log_u)


def _sharpness(logits: Tensor) -> float:
    """The factor that gives the margin of the leading class over all others a standard deviation of 4."""
    top = int(logits.argmax(1).mode().values)
    others = torch.cat([logits[:, :top], logits[:, top + 1 :]], 1).max(1).values
    spread = float((logits[:, top] - others).std(correction=0))
    return 4 / spread if spread > 0 and math.isfinite(4 / spread) else 1.0
