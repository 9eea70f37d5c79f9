"""The smoothed classifier (S1), (S2): the only code that runs a model for certification.

Votes are argmax votes of one program at one recorded micro-batch shape, on noise that is named by its stream, so they
are the same in any order, after a restart, and whatever other inputs share the machine.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from scipy import stats
from torch import Tensor, nn

from doublebubble.errors import InputError, ModelError, SettingError
from doublebubble.program import Program
from doublebubble.streams import NormalDraws, Stage, Stream
from doublebubble.tally import Accumulator, Request, Tally
from doublebubble.types import ABSTAIN, Counts

GUMBEL_SCALE = 100.0  # the logits' factor inside the Gumbel-softmax of the paper's code


@dataclass(frozen=True)
class SoftScores:
    """Differentiable stand-ins for votes, for the search only: never a certificate.

    `counts` are the argmax votes of the scores; `gradients[j]` is the mean gradient, with respect to
    x, of the j-th weighted sum of soft scores asked for.
    """

    counts: Counts
    gradients: Tensor


@dataclass(frozen=True)
class _Buffers:
    """The two arrays every micro-batch is built in, allocated once for a shape and dtype."""

    noise: Tensor
    inputs: Tensor


class SmoothedClassifier:
    """A classifier f smoothed by Gaussian noise of standard deviation sigma: g(x) = argmax_k P[f(x + sigma Z) = k].

    `model` takes a batch in the domain's units, normalisation inside, and returns one row of logits an input. `domain`
    is (low, high) for inputs and adversary, None for all of R^d; noise is never clipped to it. `batch_size` is the
    micro-batch shape at which the model always runs, padded if need be; another one is another specification.
    """

    def __init__(
        self,
        model: nn.Module,
        sigma: float,
        num_classes: int,
        domain: tuple[float, float] | None = (0.0, 1.0),
        batch_size: int = 256,
        input_shape: tuple[int, ...] | None = None,
        program: Program | None = None,
    ) -> None:
        if not isinstance(model, nn.Module):
            raise SettingError(f"model: expected a torch.nn.Module, got {type(model).__name__}")
        if not (math.isfinite(sigma) and sigma > 0):
            raise SettingError(f"sigma: expected a finite number > 0, got {sigma!r}")
        if num_classes < 2:
            raise SettingError(f"num_classes: expected at least 2, got {num_classes!r}")
        if batch_size < 2:
            raise SettingError(f"batch_size: expected at least 2, got {batch_size!r}")
        if domain is not None and not (math.isfinite(domain[0]) and math.isfinite(domain[1]) and domain[0] < domain[1]):
            raise SettingError(f"domain: expected (low, high) with low < high, or None, got {domain!r}")
        self.sigma = float(sigma)
        self.num_classes = int(num_classes)
        self.domain = None if domain is None else (float(domain[0]), float(domain[1]))
        self.batch_size = int(batch_size)
        self.program = Program() if program is None else program
        self.input_shape = input_shape
        self._original = model
        self._require_evaluation_mode()
        self._model = self.program.prepare(model)
        parameter = next(model.parameters(), None)
        self.device = torch.device("cpu") if parameter is None else parameter.device
        self._model_dtype = torch.float32 if parameter is None else parameter.dtype
        self._buffers: dict[tuple[tuple[int, ...], torch.dtype], _Buffers] = {}
        self._interchangeable: dict[tuple[tuple[int, ...], torch.dtype], bool] = {}

    # What users call

    def counts(self, x: Tensor, n: int, *, seed: int, index: int, stage: Stage = "certify", part: int = 0) -> Counts:
        """Votes for each class among n draws at x, from the stream (seed, index, stage, part)."""
        return self.tally(Request(x, n, Stream(seed, index, stage, part))).counts

    def predict(self, x: Tensor, n: int = 1000, alpha: float = 0.001, *, seed: int, index: int) -> int:
        """With probability at least 1 - alpha over the draws, the answer is g(x) or ABSTAIN.

        The two classes with most votes are compared by an exact two-sided binomial test (Cohen et al. 2019, PREDICT;
        for more than two classes by Hung and Fithian 2019). Where g(x) is not unique, any class named is a miss.
        """
        if not 0 < alpha < 1:
            raise SettingError(f"alpha: expected a number in (0, 1), got {alpha!r}")
        counts = self.tally(Request(x, n, Stream(seed, index, "certify", kind="predict"))).counts
        order = counts.argsort(kind="stable")[::-1]
        first, second = int(counts[order[0]]), int(counts[order[1]])
        verdict = stats.binomtest(first, first + second, 0.5).pvalue
        return int(order[0]) if verdict <= alpha else ABSTAIN

    # What the rest of the package calls

    def tally(self, request: Request) -> Tally:
        """The outcome of one request."""
        return self.tallies([request])[0]

    def tallies(self, requests: Sequence[Request]) -> list[Tally]:
        """The outcomes of many requests, each as if asked for alone.

        Requests that do not fill a micro-batch share one when the program's rows do not influence each other, which is
        tried out once for a shape; otherwise each is run by itself.
        """
        self._require_evaluation_mode()
        prepared = [self.checked(request.x, request.stream.index) for request in requests]
        sinks = [Accumulator(request, self.num_classes, self.device) for request in requests]
        groups: dict[tuple[tuple[int, ...], torch.dtype], list[int]] = {}
        for number, x in enumerate(prepared):
            groups.setdefault((tuple(x.shape), x.dtype), []).append(number)
        with torch.inference_mode():
            for members in groups.values():
                batch = _MicroBatch(self, self._buffers_for(prepared[members[0]]))
                share = len(members) > 1 and self._rows_interchangeable(prepared[members[0]])
                for number in members:
                    batch.draw(sinks[number], prepared[number])
                    if not share:
                        batch.flush()
                batch.flush()
        return [sink.result() for sink in sinks]

    def soft_scores(self, x: Tensor, n: int, stream: Stream, directions: Tensor, *, gumbel: bool = True) -> SoftScores:
        """Votes of n draws at x, and gradients of weighted sums of soft scores: a guide for searches, no certificate.

        Row j of `directions`, (J, K), holds the weights of the j-th sum; each row costs one backward pass. Without
        rows only the votes are counted, no graph is built, and a model without gradients will do. With `gumbel` votes
        and scores are those of 100 logits + Gumbel noise, as published; without, votes are those of the logits and
        scores are softened on the scale on which the noise moves the logits, which makes gradients much less noisy and
        a little less faithful.
        """
        self._require_evaluation_mode()
        if directions.dim() != 2 or directions.shape[1] != self.num_classes:
            shape = tuple(directions.shape)
            raise SettingError(f"directions: expected shape (rows, {self.num_classes}), got {shape}")
        centre = self.checked(x, stream.index).requires_grad_(len(directions) > 0)
        buffers = self._buffers_for(centre)
        source = NormalDraws(stream, centre)
        gumbel_like = torch.empty(self.num_classes, dtype=torch.float32, device=self.device)
        gumbel_source = NormalDraws(stream.child(stream.part, kind="gumbel"), gumbel_like)
        counts = torch.zeros(self.num_classes, dtype=torch.int64, device=self.device)
        gradients = torch.zeros((len(directions), *centre.shape), dtype=centre.dtype, device=self.device)
        normals = torch.empty((self.batch_size, self.num_classes), dtype=torch.float32, device=self.device)
        for first in range(0, n, self.batch_size):
            rows = min(self.batch_size, n - first)
            source.fill(buffers.noise[:rows])
            buffers.noise[rows:] = 0
            gumbel_source.fill(normals[:rows])
            with torch.set_grad_enabled(len(directions) > 0):
                logits = self._logits(centre + self.sigma * buffers.noise, rows, [stream.index])
                if gumbel:
                    scores = GUMBEL_SCALE * logits[:rows] + _gumbel(normals[:rows]).to(logits.dtype)
                else:
                    scores = _sharpness(logits[:rows].detach()) * logits[:rows]
                soft = scores.softmax(1).sum(0)
                sums = directions.to(soft) @ soft
            counts += torch.bincount(scores.argmax(1), minlength=self.num_classes)
            for number in range(len(directions)):
                gradients[number] += _gradient(sums[number], centre, number + 1 < len(directions), stream.index)
        return SoftScores(counts.cpu().numpy(), gradients / n)

    def unconfined(self) -> "SmoothedClassifier":
        """The same classifier, program and buffers without a domain: a ball's centre may lie outside it."""
        other = copy.copy(self)
        other.domain = None
        return other

    def checked(self, x: Tensor, index: int) -> Tensor:
        """x on the model's device in the dtype of the draws: float64 stays, anything narrower is widened to float32."""
        if not isinstance(x, Tensor) or not x.is_floating_point():
            got = x.dtype if isinstance(x, Tensor) else type(x).__name__
            raise InputError(f"input {index}: expected a tensor of floating-point numbers, got {got}")
        if self.input_shape is None:
            self.input_shape = tuple(x.shape)
        if tuple(x.shape) != tuple(self.input_shape):
            raise InputError(f"input {index}: expected shape {tuple(self.input_shape)}, got {tuple(x.shape)}")
        x = x.detach().to(self.device, draw_dtype(x)).contiguous()
        bad = int((~x.isfinite()).sum())
        if bad:
            raise InputError(f"input {index}: expected finite values, got {bad} that are NaN or infinite")
        if self.domain is not None:
            low, high = self.domain
            least, most = float(x.min()), float(x.max())
            if least < low or most > high:
                raise InputError(f"input {index}: expected values in [{low}, {high}], got [{least}, {most}]")
        return x

    # Inside

    def _require_evaluation_mode(self) -> None:
        training = [name or "the model itself" for name, module in self._original.named_modules() if module.training]
        if training:
            some = ", ".join(training[:3]) + (", ..." if len(training) > 3 else "")
            raise ModelError(f"expected a model in evaluation mode, but {some} is in training mode: call model.eval()")

    def _buffers_for(self, x: Tensor) -> _Buffers:
        key = (tuple(x.shape), x.dtype)
        if key not in self._buffers:
            with torch.inference_mode(False):  # the soft scores use the same buffers, with gradients
                noise = torch.zeros((self.batch_size, *x.shape), dtype=x.dtype, device=self.device)
                self._buffers[key] = _Buffers(noise, self.program.layout(torch.zeros_like(noise)))
        return self._buffers[key]

    def _logits(self, batch: Tensor, rows: int, indices: Sequence[int]) -> Tensor:
        """The program's logits for a full micro-batch of which the first `rows` are real; checked, never repaired."""
        if batch.dtype != self._model_dtype or not any(batch is own.inputs for own in self._buffers.values()):
            batch = self.program.layout(batch.to(self._model_dtype))
        try:
            logits = self._model(batch)
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            shape = tuple(batch.shape)
            raise ModelError(f"input {indices[0]}: the model failed on a batch of shape {shape}: {reason}") from error
        expected = (self.batch_size, self.num_classes)
        if not isinstance(logits, Tensor) or logits.shape != expected:
            got = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise ModelError(f"input {indices[0]}: expected logits of shape {expected}, got {got}")
        if not math.isfinite(_part(logits, 0, rows).detach().sum().item()):  # NaN and infinity survive in a sum
            self._require_finite(logits[:rows], indices)
        return logits

    def _require_finite(self, logits: Tensor, indices: Sequence[int]) -> None:
        finite = logits.isfinite().all(1)
        if not bool(finite.all()):
            bad, rows = int((~finite).sum()), len(finite)
            where = ", ".join(str(index) for index in sorted(set(indices)))
            raise ModelError(f"input {where}: expected finite logits, got NaN or infinity in {bad} of {rows} draws")

    def _rows_interchangeable(self, x: Tensor) -> bool:
        """Whether this program gives an input the same logits, to the bit, in every row and beside any neighbours."""
        key = (tuple(x.shape), x.dtype)
        if key not in self._interchangeable:
            noise = self._buffers_for(x).noise
            NormalDraws(Stream(0, 0, "audit", kind="rows"), x).fill(noise)
            batch = x + self.sigma * noise
            alone = self._logits(batch, self.batch_size, [0]).clone()
            same = True
            for kept, replaced in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
                company = batch.clone()
                company[replaced] = x
                beside = self._logits(company.flip(0), self.batch_size, [0]).flip(0)
                same = same and bool(torch.equal(alone[kept], beside[kept]))
            self._interchangeable[key] = same
        return self._interchangeable[key]


class _MicroBatch:
    """One micro-batch being filled with the draws of one or more requests, and run when it is full."""

    def __init__(self, smoothed: SmoothedClassifier, buffers: _Buffers) -> None:
        self._smoothed = smoothed
        self._buffers = buffers
        self._filled = 0
        self._segments: list[tuple[Accumulator, int, int, int]] = []  # sink, first row, rows, number of the first draw

    def draw(self, sink: Accumulator, x: Tensor) -> None:
        """Put all draws of a request into this and, as it fills up, further micro-batches."""
        request = sink.request
        source = NormalDraws(request.stream, x)
        step = 2 if request.antithetic else 1
        done = 0
        while done < request.n:
            free = (self._smoothed.batch_size - self._filled) // step * step
            rows = min(free, request.n - done)
            if rows == 0:
                self.flush()
                continue
            self._fill(source, x, rows, request.antithetic)
            self._segments.append((sink, self._filled, rows, done))
            self._filled += rows
            done += rows
            if self._filled == self._smoothed.batch_size:
                self.flush()

    def _fill(self, source: NormalDraws, x: Tensor, rows: int, antithetic: bool) -> None:
        noise = _part(self._buffers.noise, self._filled, rows)
        if antithetic:
            source.fill(noise[: rows // 2])
            torch.neg(noise[: rows // 2], out=noise[rows // 2 :])
        else:
            source.fill(noise)
        torch.add(x, noise, alpha=self._smoothed.sigma, out=_part(self._buffers.inputs, self._filled, rows))

    def flush(self) -> None:
        """Run the micro-batch, padded with zeros, and hand out the votes."""
        if self._filled == 0:
            return
        if self._filled < self._smoothed.batch_size:
            self._buffers.inputs[self._filled :] = 0
        indices = [sink.request.stream.index for sink, *_ in self._segments]
        logits = self._smoothed._logits(self._buffers.inputs, self._filled, indices)
        votes = logits.argmax(1)
        for sink, row, rows, first in self._segments:
            mine = _part(votes, row, rows)
            if sink.request.antithetic:
                sink.add_pairs(mine[: rows // 2], mine[rows // 2 :])
            else:
                sink.add(mine, _part(self._buffers.noise, row, rows), first)
        self._segments.clear()
        self._filled = 0


def _part(whole: Tensor, first: int, rows: int) -> Tensor:
    """Some rows of a tensor; without a view where they are all, since views cost a small model dearly."""
    return whole if rows == whole.shape[0] else whole[first : first + rows]


def draw_dtype(x: Tensor) -> torch.dtype:
    """The dtype in which draws at x are made: float64 stays, anything narrower is widened to float32."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _gradient(value: Tensor, centre: Tensor, keep: bool, index: int) -> Tensor:
    gradient = None
    if value.requires_grad:
        (gradient,) = torch.autograd.grad(value, centre, retain_graph=keep, allow_unused=True)
    if gradient is None:
        raise ModelError(
            f"input {index}: expected logits that autograd can differentiate with respect to the input, got logits "
            "without a gradient: gradient `full` and method `double` of protocol `paper` cannot use this model"
        )
    return gradient


def _gumbel(normals: Tensor) -> Tensor:
    """Standard Gumbel noise from standard normal noise: -log(-log U) with U = Phi(normal)."""
    log_u = torch.special.log_ndtr(normals.double())
    return -torch.log(-log_u)


def _sharpness(logits: Tensor) -> float:
    """The factor that gives the margin of the leading class over all others a standard deviation of 4."""
    top = int(logits.argmax(1).mode().values)
    others = torch.cat([logits[:, :top], logits[:, top + 1 :]], 1).max(1).values
    spread = float((logits[:, top] - others).std(correction=0))
    return 4 / spread if spread > 0 and math.isfinite(4 / spread) else 1.0
