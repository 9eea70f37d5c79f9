"""One look by soft scores: its votes, the draws whose scores have a slope, and the gradients that these give."""

import math
from collections.abc import Callable, Iterator
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


@dataclass(frozen=True)
class SoftRequest:
    """`n` draws at `x` from one stream, how they vote, and the weighted sums of soft scores to differentiate."""

    x: Tensor
    n: int
    stream: Stream
    directions: Directions
    gumbel: bool = True
    plain_votes: bool = False


class SoftLook:
    """One request at its checked centre, and what is known of it so far."""

    def __init__(self, forward: Forward, sigma: float, centre: Tensor, request: SoftRequest) -> None:
        self.forward, self.sigma, self.centre, self.request = forward, sigma, centre, request
        self._counts = torch.zeros(forward.num_classes, dtype=torch.int64, device=forward.device)
        self._doubts = _Doubts(forward.batch_size)
        self._scores: SoftScores | None = None

    @property
    def bytes(self) -> int:
        """The memory that the noise of all draws would take."""
        return self.request.n * self.centre.numel() * self.centre.element_size()

    def sources(self, normals: Tensor) -> tuple[NormalDraws, NormalDraws | None]:
        """The noise of the draws, and the normal numbers behind their Gumbel noise."""
        stream = self.request.stream
        gumbel = NormalDraws(stream.child("gumbel"), normals[0]) if self.request.gumbel else None
        return NormalDraws(stream, self.centre), gumbel

    def take(self, logits: Tensor, noise: Tensor, normals: Tensor) -> None:
        """Count the votes of some draws, and keep those whose scores have a slope."""
        scores = self._scaled(logits, normals)
        self._counts += self._votes(logits, scores)
        if self.request.gumbel:
            self._doubts.add(scores, noise, normals)

    def scores(self) -> SoftScores:
        """The answer; where the directions are known, every draw is run for it here."""
        if self._scores is not None:
            return self._scores
        assert not callable(self.request.directions)
        return self.weighted(self.request.directions)

    def weighted(self, directions: Tensor) -> SoftScores:
        """Directions that are known: every draw is run once, each graph used and dropped at once.

        Gradients only guide, so they need not run at the recorded shape: few draws take a batch of few rows.
        """
        directions, n = self._checked(directions), self.request.n
        counts, gradients = torch.zeros_like(self._counts), self._no_gradients(len(directions))
        self.centre.requires_grad_(len(directions) > 0)
        for noise, normals in self._micro_batches(short=len(directions) > 0 and self.forward.takes_few):
            with torch.set_grad_enabled(len(directions) > 0):
                logits, scores = self._scored(self.centre + self.sigma * noise, normals)
            counts += self._votes(logits, scores)
            self._add_gradients(gradients, scores, directions)
        return SoftScores(counts.cpu().numpy(), gradients / n, n, len(directions) * n)

    def finish(self) -> None:
        """Once the votes are counted they choose the directions: only draws in doubt are run again, with a graph.

        Where one score is far ahead the softmax is 1 up to rounding, and a backward pass would return next to nothing.
        """
        choose, n = self.request.directions, self.request.n
        assert callable(choose)
        counted = self._counts.cpu().numpy()
        directions = self._checked(choose(counted))
        doubts, self._doubts = self._doubts, _Doubts(self.forward.batch_size)
        if len(directions) == 0:
            self._scores = SoftScores(counted, self._no_gradients(0), n, 0)
            return
        if doubts.too_many or not self.request.gumbel:  # soft scores have slopes everywhere
            again = self.weighted(directions)
            self._scores = SoftScores(counted, again.gradients, 2 * n, again.backwards)
            return
        gradients, rerun = self._no_gradients(len(directions)), 0
        self.centre.requires_grad_()
        for noise, normals in doubts.batches():
            _, scores = self._scored(self.centre + self.sigma * noise, normals)
            self._add_gradients(gradients, scores, directions)
            rerun += len(noise)
        self._scores = SoftScores(counted, gradients / n, n + rerun, len(directions) * rerun)

    def _micro_batches(self, short: bool) -> Iterator[tuple[Tensor, Tensor]]:
        """The noise of each micro-batch, padded with zeros, and the normal numbers behind its Gumbel noise.

        A `short` last one is padded to one of a few sizes only.
        """
        forward, most = self.forward, self.forward.batch_size
        noise = forward.buffers(self.centre).noise
        normals = torch.empty((most, forward.num_classes), dtype=torch.float32, device=forward.device)
        source, gumbel_source = self.sources(normals)
        for first in range(0, self.request.n, most):
            rows = min(most, self.request.n - first)
            source.fill(noise[:rows])
            if rows < most:
                noise[rows:] = 0
            if gumbel_source is not None:
                gumbel_source.fill(normals[:rows])
            yield some_rows(noise, 0, _size(rows, most) if short else most), normals[:rows]

    def _scored(self, batch: Tensor, normals: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and scores of as many rows as there are normal numbers for; the others are padding."""
        rows = len(normals)
        logits = self.forward.logits(batch, rows, [self.request.stream.index])[:rows]
        return logits, self._scaled(logits, normals)

    def _scaled(self, logits: Tensor, normals: Tensor) -> Tensor:
        """The scores whose softmax stands for the votes."""
        if self.request.gumbel:
            return GUMBEL_SCALE * logits + _gumbel(normals).to(logits.dtype).to(self.forward.device)
        return _sharpness(logits.detach()) * logits

    def _votes(self, logits: Tensor, scores: Tensor) -> Tensor:
        voting = (logits if self.request.plain_votes else scores).detach()
        return torch.bincount(voting.argmax(1), minlength=self.forward.num_classes)

    def _add_gradients(self, gradients: Tensor, scores: Tensor, directions: Tensor) -> None:
        with torch.set_grad_enabled(len(directions) > 0):
            soft = scores.softmax(1).sum(0)
            sums = directions.to(soft) @ soft
        for number in range(len(directions)):
            keep = number + 1 < len(directions)
            gradients[number] += _gradient(sums[number], self.centre, keep, self.request.stream.index)

    def _checked(self, directions: Tensor) -> Tensor:
        classes = self.forward.num_classes
        if directions.dim() != 2 or directions.shape[1] != classes:
            raise SettingError(f"directions: expected shape (rows, {classes}), got {tuple(directions.shape)}")
        return directions

    def _no_gradients(self, rows: int) -> Tensor:
        centre = self.centre
        return torch.zeros((rows, *centre.shape), dtype=centre.dtype, device=centre.device)


class _Doubts:
    """The draws whose softmax has a slope: those in which no score is far ahead; if there are none, the nearest to it.

    Which they are does not depend on the pieces in which the draws come.
    """

    def __init__(self, batch_size: int) -> None:
        self._batch_size = batch_size
        self._noise: list[Tensor] = []
        self._normals: list[Tensor] = []
        self._bytes = 0
        self._nearest = math.inf
        self._beside: tuple[Tensor, Tensor] | None = None

    @property
    def too_many(self) -> bool:
        """Whether they were too many to be kept."""
        return self._bytes > KEPT_BYTES

    def add(self, scores: Tensor, noise: Tensor, normals: Tensor) -> None:
        """Keep those of a piece."""
        best = scores.topk(2, dim=1).values
        ahead = best[:, 0] - best[:, 1]
        rows = (ahead < _SURE).nonzero()[:, 0]
        self._bytes += len(rows) * noise[0].numel() * noise.element_size()
        if self.too_many:
            self._noise.clear()
            self._normals.clear()
        elif len(rows):
            self._noise.append(noise[rows])
            self._normals.append(normals[rows])
        elif not self._bytes and (least := float(ahead.min())) < self._nearest:
            row = int(ahead.argmin())
            self._nearest, self._beside = least, (noise[row : row + 1].clone(), normals[row : row + 1].clone())

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """All of them, padded with zeros to a few sizes."""
        kept = list(zip(self._noise, self._normals, strict=True))
        if not kept and self._beside is not None:
            kept = [self._beside]
        if not kept:  # scores beyond all numbers: none is nearer than another
            return
        noise, normals = (torch.cat(parts) for parts in zip(*kept, strict=True))
        for first in range(0, len(noise), self._batch_size):
            part = noise[first : first + self._batch_size]
            size = _size(len(part), self._batch_size)
            padded = torch.cat([part, part.new_zeros((size - len(part), *part.shape[1:]))])
            yield padded, normals[first : first + self._batch_size]


def _size(rows: int, most: int) -> int:
    """How many rows are run for so many draws."""
    return min(most, -(-rows // _STEP) * _STEP)


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
