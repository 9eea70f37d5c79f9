"""The smoothed classifier as users hold it: settings checked once, then counts, predictions and soft scores."""

import copy
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from doublebubble.bounds import AlphaBudget
from doublebubble.bounds.prediction import lead_for
from doublebubble.config import checked_domain
from doublebubble.errors import SettingError
from doublebubble.models.black_box import no_module
from doublebubble.models.fixed_batch import chosen_batch
from doublebubble.noise import NoiseLaw
from doublebubble.program import Program
from doublebubble.smoothing.forward import Forward
from doublebubble.smoothing.inputs import Input, checked_input, draw_dtype, held_domain
from doublebubble.smoothing.predicting import Predicting, Prediction
from doublebubble.smoothing.soft import soft_scores
from doublebubble.smoothing.soft_look import Directions as SoftDirections
from doublebubble.smoothing.soft_look import SoftRequest, SoftScores
from doublebubble.smoothing.votes import VoteCounter, VoteStream, by_shape
from doublebubble.streams import INPUT, Stage, Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import Counts, NoiseName


class SmoothedClassifier:
    """A classifier f smoothed by Gaussian noise of standard deviation sigma: g(x) = argmax_k P[f(x + sigma Z) = k].

    `model` takes a batch in the domain's units, normalisation inside, and returns one row of logits for each input.
    `domain` is (low, high) for inputs and adversary, None for all of R^d; noise is never clipped to it. It is widened
    by what float32 needs to hold its ends. `batch_size` is the micro-batch shape at which the model always runs, padded
    if need be: 256, or that of a file that takes no other; another one is another specification. `noise` is how the
    noise is made (docs/noise.md); under `lattice` inputs lie on a grid of `grid` steps for each unit, 255 if it is not
    said.
    """

    def __init__(
        self,
        model: nn.Module,
        sigma: float,
        num_classes: int,
        domain: tuple[float, float] | None = (0.0, 1.0),
        batch_size: int | None = None,
        input_shape: tuple[int, ...] | None = None,
        program: Program | None = None,
        noise: NoiseName = "gaussian",
        grid: int | None = None,
    ) -> None:
        if not isinstance(model, nn.Module):
            raise no_module(model)
        if not (math.isfinite(sigma) and sigma > 0):
            raise SettingError(f"sigma: expected a finite number > 0, got {sigma!r}")
        if num_classes < 2:
            raise SettingError(f"num_classes: expected at least 2, got {num_classes!r}")
        size = chosen_batch(model, batch_size)
        ends = checked_domain(domain)
        self.sigma = float(sigma)
        self.num_classes = int(num_classes)
        self.domain = None if ends is None else held_domain(ends)
        self.batch_size = size
        self.program = Program() if program is None else program
        self.input_shape = input_shape
        self._forward = Forward(model, self.num_classes, self.batch_size, self.program)
        self.noise = NoiseLaw.of(noise, self.sigma, grid, self.domain)
        self._votes = VoteCounter(self._forward, self.noise)

    def __repr__(self) -> str:
        grid = "" if self.noise.grid is None else f", grid={self.noise.grid}"
        noise = "" if self.noise.name == "gaussian" else f", noise={self.noise.name!r}{grid}"
        return (
            f"SmoothedClassifier({type(self.model).__name__}, sigma={self.sigma:g}, num_classes={self.num_classes}, "
            f"domain={self.domain}, batch_size={self.batch_size}, program={self.program.name!r}{noise})"
        )

    @property
    def model(self) -> nn.Module:
        """The model as it was given."""
        return self._forward.model

    @property
    def device(self) -> torch.device:
        """Where the model runs."""
        return self._forward.device

    # What users call

    def counts(
        self, x: Tensor, n: int, *, seed: int, index: int, stage: Stage = "certify", part: str = INPUT
    ) -> Counts:
        """Votes for each class among n draws at x, from the stream (seed, index, stage, part)."""
        given = Input(index, x)
        return self.tally(Request(given.x, _plain(n), Stream(_plain(seed), given.index, stage, part))).counts

    def predict(self, x: Tensor, n: int = 1000, alpha: float = 0.001, *, seed: int, index: int) -> int:
        """With probability at least 1 - alpha over the draws, the answer is g(x) or ABSTAIN.

        Draws are made until one class leads by enough, `n` of them at most (Theorem S). Where g(x) is not unique, any
        class named is a miss. What the noise takes off alpha is taken off first.
        """
        return self.predictions([Input(index, x)], _plain(n), alpha, seed=_plain(seed))[0].label

    def predictions(
        self, inputs: Iterable[Input], n: int = 1000, alpha: float = 0.001, *, seed: int
    ) -> list[Prediction]:
        """What `predict` says of each input and how many draws it took; the draws share micro-batches."""
        sought = []
        for given in inputs:
            level = AlphaBudget(alpha, self.noise.loss(n, given.x.numel(), alpha)).remaining
            votes = self.open_votes(Request(given.x, n, Stream(seed, given.index, "certify", "predict")))
            sought.append(Predicting(votes, self.num_classes, lead_for(level, self.num_classes, n)))
        while open_ := [one for one in sought if one.prediction is None]:
            self.extend([(one.votes, one.wanted) for one in open_])
            for one in open_:
                one.look()
        return [one.prediction for one in sought if one.prediction is not None]

    # What the rest of the package calls

    def tally(self, request: Request) -> Tally:
        """The outcome of one request."""
        return self.tallies([request])[0]

    def tallies(self, requests: Sequence[Request]) -> list[Tally]:
        """The outcomes of many requests, each as if asked for alone."""
        self._forward.require_evaluation_mode()
        return self._votes.tallies(requests, [self.checked(request.x, request.stream.index) for request in requests])

    def expect(self, draws: int) -> None:
        """Say that so many draws are ahead: the longer a run, the more is tried out of the model first."""
        self._votes.expect(draws)

    def open_votes(self, request: Request) -> VoteStream:
        """The votes of a request, at most `request.n` of them, to be drawn bit by bit by `extend`."""
        centre = self.checked(request.x, request.stream.index)
        return self._votes.opened(request, centre)

    def extend(self, wanted: Sequence[tuple[VoteStream, int]]) -> None:
        """Draw until each stream has at least so many votes, full micro-batches at a time."""
        self._forward.require_evaluation_mode()
        self._votes.extend(wanted)

    def soft_scores(
        self,
        x: Tensor,
        n: int,
        stream: Stream,
        directions: SoftDirections,
        *,
        gumbel: bool = True,
        plain_votes: bool = False,
    ) -> SoftScores:
        """Votes of n draws at x, and gradients of weighted sums of soft scores: a guide for searches, no certificate.

        Row j of `directions`, (J, K), holds the weights of the j-th sum; each row costs one backward pass. Without
        rows only the votes are counted, no graph is built, and a model without gradients will do. With `gumbel` votes
        and scores are those of 100 logits + Gumbel noise, as published; without, votes are those of the logits and
        scores are softened on the scale on which the noise moves the logits, which makes gradients much less noisy and
        a little less faithful. With `plain_votes` votes are those of the logits in either case.

        `directions` may also be what chooses them once the votes are counted. Then only the draws whose scores have a
        slope, a few in a hundred with `gumbel`, are run once more and backwards.
        """
        return self.soft_scores_of([SoftRequest(x, n, stream, directions, gumbel, plain_votes)])[0]

    def soft_scores_of(self, requests: Sequence[SoftRequest]) -> list[SoftScores]:
        """The soft scores of many requests, each as if asked for alone; votes may share micro-batches."""
        self._forward.require_evaluation_mode()
        centres = [self.checked(request.x, request.stream.index) for request in requests]
        found: dict[int, SoftScores] = {}
        for members in by_shape(centres):
            some, at = [requests[number] for number in members], [centres[number] for number in members]
            together = len(some) > 1 and self._votes.may_share(at[0], some[0].stream.index)
            found.update(zip(members, soft_scores(self._forward, self.sigma, some, at, together), strict=True))
        return [found[number] for number in range(len(requests))]

    def unconfined(self) -> "SmoothedClassifier":
        """The same classifier, program and buffers without a domain: a ball's centre may lie outside it."""
        other = copy.copy(self)
        other.domain = None
        return other

    def checked(self, x: Tensor, index: int) -> Tensor:
        """x on the model's device in the dtype of the draws, or an error; the first input fixes an unknown shape.

        On a lattice, what stands in the table for the grid point of x, in the model's dtype or float32.
        """
        shape = tuple(x.shape if self.input_shape is None else self.input_shape)
        on_grid = self.noise.lattice is not None
        dtype = draw_dtype(self._forward.fed(x) if on_grid else x)
        fed = checked_input(x, index, shape, self.domain, self.device, dtype)
        if on_grid:
            fed = self.noise.placed(x, index).to(fed)
        self.input_shape = shape
        return fed


def _plain(number: int | np.integer[Any]) -> int:
    """A numpy integer as Python's; what is no integer is refused where it is used."""
    return int(number) if isinstance(number, np.integer) else number
