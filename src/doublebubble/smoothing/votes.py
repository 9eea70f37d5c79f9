"""Draws and votes: how often the program says which class of noisy copies of an input.

Votes are argmax votes at one recorded micro-batch shape, on noise that is named by its stream, so they are the same in
any order, after a restart, and whatever other inputs share the machine.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from doublebubble.smoothing.forward import Buffers, Forward, some_rows
from doublebubble.streams import NormalDraws, Stream
from doublebubble.tally import Accumulator, Request, Tally


class VoteCounter:
    """Takes the votes of one program on inputs with Gaussian noise of standard deviation sigma."""

    def __init__(self, forward: Forward, sigma: float) -> None:
        self._forward = forward
        self._sigma = sigma
        self._interchangeable: dict[tuple[tuple[int, ...], torch.dtype], bool] = {}

    def tallies(self, requests: Sequence[Request], centres: Sequence[Tensor]) -> list[Tally]:
        """The outcomes of many requests at their checked centres, each as if asked for alone.

        Requests that do not fill a micro-batch share one when the program's rows do not influence each other, which is
        tried out once for each shape; otherwise each is run by itself.
        """
        forward = self._forward
        sinks = [Accumulator(request, forward.num_classes, forward.device, forward.batch_size) for request in requests]
        groups: dict[tuple[tuple[int, ...], torch.dtype], list[int]] = {}
        for number, x in enumerate(centres):
            groups.setdefault((tuple(x.shape), x.dtype), []).append(number)
        with torch.inference_mode():
            for members in groups.values():
                first = centres[members[0]]
                batch = _MicroBatch(self._forward, self._sigma, self._forward.buffers(first))
                share = len(members) > 1 and self._rows_interchangeable(first)
                for number in members:
                    batch.draw(sinks[number], centres[number])
                    if not share:
                        batch.flush()
                batch.flush()
        return [sink.result() for sink in sinks]

    def _rows_interchangeable(self, x: Tensor) -> bool:
        """Whether this program gives an input the same logits, to the bit, in every row and beside any neighbours."""
        key = (tuple(x.shape), x.dtype)
        if key not in self._interchangeable:
            rows, noise = self._forward.batch_size, self._forward.buffers(x).noise
            NormalDraws(Stream(0, 0, "audit", "rows"), x).fill(noise)
            batch = x + self._sigma * noise
            alone = self._forward.logits(batch, rows, [0]).clone()
            same = True
            for kept, replaced in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
                company = batch.clone()
                company[replaced] = x
                beside = self._forward.logits(company.flip(0), rows, [0]).flip(0)
                same = same and bool(torch.equal(alone[kept], beside[kept]))
            self._interchangeable[key] = same
        return self._interchangeable[key]


class _MicroBatch:
    """One micro-batch being filled with the draws of one or more requests, and run when it is full."""

    def __init__(self, forward: Forward, sigma: float, buffers: Buffers) -> None:
        self._forward = forward
        self._sigma = sigma
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
            free = (self._forward.batch_size - self._filled) // step * step
            rows = min(free, request.n - done)
            if rows == 0:
                self.flush()
                continue
            self._fill(source, x, rows, request.antithetic)
            self._segments.append((sink, self._filled, rows, done))
            self._filled += rows
            done += rows
            if self._filled == self._forward.batch_size:
                self.flush()

    def _fill(self, source: NormalDraws, x: Tensor, rows: int, antithetic: bool) -> None:
        noise = some_rows(self._buffers.noise, self._filled, rows)
        if antithetic:
            source.fill(noise[: rows // 2])
            torch.neg(noise[: rows // 2], out=noise[rows // 2 :])
        else:
            source.fill(noise)
        torch.add(x, noise, alpha=self._sigma, out=some_rows(self._buffers.inputs, self._filled, rows))

    def flush(self) -> None:
        """Run the micro-batch, padded with zeros, and hand out the votes."""
        if self._filled == 0:
            return
        if self._filled < self._forward.batch_size:
            self._buffers.inputs[self._filled :] = 0
        indices = [sink.request.stream.index for sink, *_ in self._segments]
        votes = self._forward.logits(self._buffers.inputs, self._filled, indices).argmax(1)
        for sink, row, rows, first in self._segments:
            mine = some_rows(votes, row, rows)
            if sink.request.antithetic:
                sink.add_pairs(mine[: rows // 2], mine[rows // 2 :])
            else:
                sink.add(mine, some_rows(self._buffers.noise, row, rows), first)
        self._segments.clear()
        self._filled = 0
