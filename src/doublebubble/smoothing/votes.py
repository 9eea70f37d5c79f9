"""Draws and votes: how often the program says which class of noisy copies of an input.

Votes are argmax votes at one recorded micro-batch shape, on noise that is named by its stream, so they are the same in
any order, after a restart, and whatever other inputs share the machine.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from doublebubble.errors import SettingError
from doublebubble.smoothing.forward import Buffers, Forward, some_rows
from doublebubble.smoothing.rows import Rows, require_room_for_noise
from doublebubble.streams import NormalDraws
from doublebubble.tally import Accumulator, Request, Tally

_PIECE = 16  # draws of one stream that are worth the trouble of filling free rows with them


class VoteStream(Accumulator):
    """The votes of one request in order, taken bit by bit, as far as they are needed; `request.n` is the most."""

    def __init__(self, request: Request, x: Tensor, num_classes: int) -> None:
        if request.antithetic or request.moments or request.keep_votes:
            raise SettingError(f"input {request.stream.index}: a stream of votes has no pairs and no moments")
        super().__init__(request, num_classes, x.device)
        self.x = x
        self.source = NormalDraws(request.stream, x)
        self.asked = self.drawn = 0
        self._first = 0
        self._new: list[Tensor] = []
        self._ahead: list[int] = []

    def add(self, votes: Tensor, noise: Tensor, first: int) -> None:
        """Take the votes of the next draws."""
        if first != self.drawn:
            raise AssertionError(f"draw {first} came where draw {self.drawn} was expected")
        self._new.append(votes)
        self.drawn += len(votes)

    def votes_from(self, first: int) -> list[int]:
        """The votes of draw number `first` and of all drawn after it; those before it are dropped."""
        if not self._first <= first <= self.drawn:
            raise AssertionError(f"votes from {first} on were asked for, {self._first} to {self.drawn} are at hand")
        if self._new:
            self._ahead += torch.cat(self._new).tolist()
            self._new.clear()
        del self._ahead[: first - self._first]
        self._first = first
        return self._ahead


class VoteCounter:
    """Takes the votes of one program on inputs with Gaussian noise of standard deviation sigma."""

    def __init__(self, forward: Forward, sigma: float) -> None:
        self._forward = forward
        self._sigma = sigma
        self._rows: dict[tuple[tuple[int, ...], torch.dtype], Rows] = {}

    def tallies(self, requests: Sequence[Request], centres: Sequence[Tensor]) -> list[Tally]:
        """The outcomes of many requests at their checked centres, each as if asked for alone.

        Requests that do not fill a micro-batch share one when the program's rows do not influence each other to the
        last bit; otherwise each is run by itself. Rows that influence each other by more than rounding are an error.
        """
        forward = self._forward
        sinks = [Accumulator(request, forward.num_classes, forward.device, forward.batch_size) for request in requests]
        groups: dict[tuple[tuple[int, ...], torch.dtype], list[int]] = {}
        for number, x in enumerate(centres):
            require_room_for_noise(x, self._sigma, requests[number].stream.index)
            groups.setdefault((tuple(x.shape), x.dtype), []).append(number)
        with torch.inference_mode():
            for members in groups.values():
                first = centres[members[0]]
                rows = self._checked_rows(first, requests[members[0]].stream.index)
                batch = _MicroBatch(self._forward, self._sigma, self._forward.buffers(first), rows)
                for number in members:
                    batch.draw(sinks[number], centres[number])
                    if not rows.interchangeable:
                        batch.flush()
                batch.flush()
        return [sink.result() for sink in sinks]

    def opened(self, request: Request, x: Tensor) -> VoteStream:
        """A stream of votes at a checked centre, none of them drawn yet."""
        require_room_for_noise(x, self._sigma, request.stream.index)
        return VoteStream(request, x, self._forward.num_classes)

    def extend(self, wanted: Sequence[tuple[VoteStream, int]]) -> None:
        """Draw until each stream has at least so many votes; the votes are those of `tallies`, whatever the schedule.

        Rows that would be padding hold further votes of the same streams. If the program's rows influence each other in
        the last bit, each stream fills whole micro-batches by itself.
        """
        groups: dict[tuple[tuple[int, ...], torch.dtype], list[tuple[VoteStream, int]]] = {}
        for stream, upto in wanted:
            groups.setdefault((tuple(stream.x.shape), stream.x.dtype), []).append((stream, upto))
        with torch.inference_mode():
            for members in groups.values():
                first = members[0][0]
                rows = self._checked_rows(first.x, first.request.stream.index)
                batch = _MicroBatch(self._forward, self._sigma, self._forward.buffers(first.x), rows)
                for stream, upto in members:
                    batch.more(stream, max(0, upto - stream.asked))
                    if not rows.interchangeable:
                        batch.fill_up([stream])
                batch.fill_up([stream for stream, _ in members])

    def _checked_rows(self, x: Tensor, index: int) -> Rows:
        """What is known of the program's rows at inputs shaped as x; tried out the first time."""
        key = (tuple(x.shape), x.dtype)
        if key not in self._rows:
            self._rows[key] = Rows(self._forward, self._sigma, x, index)
        return self._rows[key]


class _MicroBatch:
    """One micro-batch being filled with the draws of one or more requests, and run when it is full."""

    def __init__(self, forward: Forward, sigma: float, buffers: Buffers, rows: Rows) -> None:
        self._forward = forward
        self._sigma = sigma
        self._buffers = buffers
        self._rows = rows
        self._filled = 0
        self._segments: list[tuple[Accumulator, int, int, int]] = []  # sink, first row, rows, number of the first draw

    def draw(self, sink: Accumulator, x: Tensor) -> None:
        """Put all draws of a request into this and, as it fills up, further micro-batches."""
        self._put(sink, NormalDraws(sink.request.stream, x), x, 0, sink.request.n)

    def more(self, stream: VoteStream, rows: int) -> None:
        """Put the next draws of a stream in: so many, but not more than it may have."""
        first, stream.asked = stream.asked, min(stream.asked + rows, stream.request.n)
        self._put(stream, stream.source, stream.x, first, stream.asked)

    def fill_up(self, streams: Sequence[VoteStream]) -> None:
        """Run what is there, next draws of the streams in the free rows: most surely needed where most were made."""
        for left, stream in zip(range(len(streams), 0, -1), sorted(streams, key=lambda s: -s.asked), strict=True):
            if not self._filled:
                return
            free = self._forward.batch_size - self._filled
            self.more(stream, min(free, max(_PIECE, -(-free // left))))
        self.flush()

    def _put(self, sink: Accumulator, source: NormalDraws, x: Tensor, done: int, end: int) -> None:
        antithetic = sink.request.antithetic
        step = 2 if antithetic else 1
        while done < end:
            free = (self._forward.batch_size - self._filled) // step * step
            rows = min(free, end - done)
            if rows == 0:
                self.flush()
                continue
            self._fill(source, x, rows, antithetic)
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
        logits = self._forward.logits(self._buffers.inputs, self._filled, indices)
        self._rows.count(self._buffers.inputs, self._filled, logits)
        votes = logits.argmax(1)
        for sink, row, rows, first in self._segments:
            mine = some_rows(votes, row, rows)
            if sink.request.antithetic:
                sink.add_pairs(mine[: rows // 2], mine[rows // 2 :])
            else:
                sink.add(mine, some_rows(self._buffers.noise, row, rows), first)
        self._segments.clear()
        self._filled = 0
