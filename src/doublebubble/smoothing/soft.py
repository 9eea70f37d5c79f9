"""Soft scores: differentiable stand-ins for votes. They guide searches and certify nothing."""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from doublebubble.errors import ModelError, SettingError
from doublebubble.models.calling import ModelCode
from doublebubble.smoothing.forward import Forward
from doublebubble.streams import NormalDraws, Stream
from doublebubble.tally import summing_device
from doublebubble.types import Counts

GUMBEL_SCALE = 100.0  # the logits' factor inside the Gumbel-softmax of the paper's code
GRAPH_BYTES = 1 << 29
"""The most memory that the graphs of one look's draws may take; beyond it the model is run a second time instead."""

Directions = Tensor | Callable[[Counts], Tensor]


@dataclass(frozen=True)
class SoftScores:
    """`counts` are the votes; `gradients[j]` is the mean gradient, with respect to x, of the j-th weighted sum of soft
    scores asked for; `passes` says how often the model was run on each draw.
    """

    counts: Counts
    gradients: Tensor
    passes: int = 1


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
    if not callable(directions):
        known = _checked(directions, forward.num_classes)
        draws = _Draws(forward, sigma, x.requires_grad_(len(known) > 0), n, stream, gumbel, plain_votes)
        return draws.weighted(known)
    return _Draws(forward, sigma, x.requires_grad_(), n, stream, gumbel, plain_votes).chosen(directions)


def _checked(directions: Tensor, classes: int) -> Tensor:
    if directions.dim() != 2 or directions.shape[1] != classes:
        raise SettingError(f"directions: expected shape (rows, {classes}), got {tuple(directions.shape)}")
    return directions


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
        """Directions that are known: each graph is used and dropped at once."""
        counts, gradients = self._no_votes(), self._no_gradients(len(directions))
        with _inputs_alone(self.forward):
            for soft, votes in self._micro_batches(graph=len(directions) > 0):
                counts += votes
                self._add_gradients(gradients, soft, directions)
        return SoftScores(counts.cpu().numpy(), gradients / self.n)

    def chosen(self, choose: Callable[[Counts], Tensor]) -> SoftScores:
        """Directions chosen by the votes: the graphs are kept until all are counted, if they fit in memory."""
        counts, kept, room = self._no_votes(), list[Tensor](), _Room(-(-self.n // self.forward.batch_size))
        with _inputs_alone(self.forward):
            for soft, votes in self._micro_batches(graph=True, room=room):
                counts += votes
                if room.enough:
                    kept.append(soft)
            counted = counts.cpu().numpy()
            directions = _checked(choose(counted), self.forward.num_classes)
            gradients = self._no_gradients(len(directions))
            if len(directions) == 0:
                return SoftScores(counted, gradients)
            again = (soft for soft, _ in self._micro_batches(graph=True))
            for soft in _emptied(kept) if room.enough else again:
                self._add_gradients(gradients, soft, directions)
        return SoftScores(counted, gradients / self.n, passes=1 if room.enough else 2)

    def _micro_batches(self, graph: bool, room: "_Room | None" = None) -> Iterator[tuple[Tensor, Tensor]]:
        """For each micro-batch the sum of its soft scores, with its graph, and its votes."""
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
            weighed = room.weighed() if room is not None and first == 0 else nullcontext()
            with torch.set_grad_enabled(graph and (room is None or room.enough)), weighed:
                scored = self._scored(noise, rows, normals)
            yield scored

    def _scored(self, noise: Tensor, rows: int, normals: Tensor) -> tuple[Tensor, Tensor]:
        forward = self.forward
        logits = forward.logits(self.centre + self.sigma * noise, rows, [self.stream.index])[:rows]
        if self.gumbel:
            scores = GUMBEL_SCALE * logits + _gumbel(normals[:rows]).to(logits.dtype).to(forward.device)
        else:
            scores = _sharpness(logits.detach()) * logits
        voting = (logits if self.plain_votes else scores).detach()
        return scores.softmax(1).sum(0), torch.bincount(voting.argmax(1), minlength=forward.num_classes)

    def _add_gradients(self, gradients: Tensor, soft: Tensor, directions: Tensor) -> None:
        with torch.enable_grad():
            sums = directions.to(soft) @ soft
        for number in range(len(directions)):
            keep = number + 1 < len(directions)
            gradients[number] += _gradient(sums[number], self.centre, keep, self.stream.index)

    def _no_votes(self) -> Tensor:
        return torch.zeros(self.forward.num_classes, dtype=torch.int64, device=self.forward.device)

    def _no_gradients(self, rows: int) -> Tensor:
        centre = self.centre
        return torch.zeros((rows, *centre.shape), dtype=centre.dtype, device=centre.device)


class _Room:
    """Weighs the graph of the first of so many micro-batches: is there room for all of them?"""

    def __init__(self, batches: int) -> None:
        self._batches = batches
        self._bytes = 0

    @property
    def enough(self) -> bool:
        """Whether the graphs of all micro-batches fit, as far as they were weighed."""
        return self._batches * self._bytes <= GRAPH_BYTES

    def weighed(self) -> AbstractContextManager[None]:
        """Within, what graphs keep is noted; a tensor kept twice counts twice."""

        def pack(saved: Tensor) -> Tensor:
            self._bytes += saved.numel() * saved.element_size()
            return saved.detach()

        return saved_tensors_hooks(pack, lambda saved: saved)


def _emptied(kept: list[Tensor]) -> Iterator[Tensor]:
    """The items in order, each dropped from the list first, so that its graph goes when it was used."""
    kept.reverse()
    while kept:
        yield kept.pop()


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
        raise ModelError(
            f"input {index}: expected logits that autograd can differentiate with respect to the input, got logits "
            "without a gradient: gradient `full` and method `double` of protocol `paper` cannot use this model"
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
