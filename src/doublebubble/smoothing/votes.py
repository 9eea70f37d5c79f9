"""Draws and votes: how often the program says which class of noisy copies of an input.

Votes are argmax votes at one recorded micro-batch shape, on noise that is named by its stream, so they are the same in
any order, after a restart, and whatever other inputs share the machine.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from doublebubble.errors import SettingError
from doublebubble.lines import Line
from doublebubble.noise import NoiseLaw, NoiseSource
from doublebubble.smoothing.forward import Buffers, Forward, some_rows
from doublebubble.smoothing.rows import Rows, RowsApartError, require_room_for_noise
from doublebubble.streams import Stream
from doublebubble.tally import Accumulator, Request, Tally, summing_device

_MADE_AGAIN = 256  # draws whose noise is made again at a time
_PIECE = 16  # draws of one stream that are worth the trouble of filling free rows with them


class VoteStream(Accumulator):
    """The votes of one request in order, taken bit by bit, as far as they are needed; `request.n` is the most.

    A line may be followed from some draw on: then the bins in which the noise falls along it are known too, also those
    of the draws made before, whose noise is made again.
    """

    def __init__(self, request: Request, x: Tensor, num_classes: int, noise: NoiseLaw) -> None:
        if request.antithetic or request.moments or request.keep_votes:
            raise SettingError(f"input {request.stream.index}: a stream of votes has no pairs and no moments")
        super().__init__(request, num_classes, x.device)
        self.x = x
        self.source = noise.source(request.stream, x)
        self.asked = self.drawn = 0
        self._law = noise
        self._first = 0
        self._new: list[Tensor] = []
        self._ahead: list[int] = []
        self._past: list[Tensor] | None = None
        self._line: Line | None = None
        self._bins: list[int] = []

    def add(self, votes: Tensor, noise: Tensor, first: int) -> None:
        """Take the votes of the next draws, and the bins of their noise along the line that is followed."""
        if first != self.drawn:
            raise AssertionError(f"draw {first} came where draw {self.drawn} was expected")
        self._new.append(votes)
        if self._past is not None:
            self._past.append(votes.to("cpu", torch.int32))
        if self._line is not None:
            self._bins += self._places(self._line, noise)
        self.drawn += len(votes)

    def votes_from(self, first: int) -> list[int]:
        """The votes of draw number `first` and of all drawn after it; those before it are dropped."""
        if not self._first <= first <= self.drawn:
            raise AssertionError(f"votes from {first} on were asked for, {self._first} to {self.drawn} are at hand")
        if self._new:
            self._ahead += torch.cat(self._new).tolist()
            self._new.clear()
        del self._ahead[: first - self._first]
        if self._line is not None:
            del self._bins[: first - self._first]
        self._first = first
        return self._ahead

    def keep_past(self) -> None:
        """Keep all votes, which is to be asked for before the first draw, until a line is followed."""
        if self.drawn:
            raise AssertionError(f"{self.drawn} votes were drawn already")
        self._past = []

    def past_votes(self, upto: int) -> Tensor:
        """The votes of the first `upto` draws, which must have been kept."""
        if self._past is None or upto > self.drawn:
            raise AssertionError(f"the first {upto} votes were asked for, and they were not kept")
        return torch.cat(self._past)[:upto].long()

    def past_noise(self, upto: int) -> Iterator[tuple[int, Tensor]]:
        """The noise of the first `upto` draws made again, in pieces (number of the first draw, float64 rows)."""
        for first, noise in self._made_again(self._law.source(self.request.stream, self.x), upto):
            yield first, self._flat(noise)

    def rewind(self) -> None:
        """Back to where the votes end: what was asked for after them is to be drawn again."""
        self.source, self.asked = self._law.source(self.request.stream, self.x), self.drawn
        for _ in self._made_again(self.source, self.drawn):
            pass

    def _made_again(self, source: NoiseSource, upto: int) -> Iterator[tuple[int, Tensor]]:
        for first in range(0, upto, _MADE_AGAIN):
            noise = self._law.room(self.x, min(_MADE_AGAIN, upto - first))
            source.fill(noise)
            yield first, noise

    def follow(self, line: Line) -> list[int]:
        """From now on know the bins along this line; returns those of all draws made so far.

        The noise must be kept with the draws, which it is under `gaussian` alone.
        """
        if self._law.name != "gaussian" or self._line is not None:
            raise AssertionError("one line can be followed, under gaussian noise")
        bins = [place for _, noise in self.past_noise(self.drawn) for place in line.places(noise).tolist()]
        self._line, self._bins, self._past = line, bins[self._first :], None
        return bins

    def bins_from(self, first: int) -> list[int]:
        """The bins of the draws that `votes_from` gave the votes of."""
        if self._line is None or first != self._first:
            raise AssertionError(f"bins from {first} on were asked for, those from {self._first} are at hand")
        return self._bins

    def _places(self, line: Line, noise: Tensor) -> list[int]:
        return [int(place) for place in line.places(self._flat(noise)).tolist()]

    def _flat(self, noise: Tensor) -> Tensor:
        return noise.reshape(len(noise), -1).to(summing_device(noise.device)).double()


class VoteCounter:
    """Takes the votes of one program on inputs with noise."""

    def __init__(self, forward: Forward, noise: NoiseLaw) -> None:
        self._forward = forward
        self._noise = noise
        self._rows: dict[tuple[tuple[int, ...], torch.dtype], Rows] = {}
        self._ahead = 0

    def tallies(self, requests: Sequence[Request], centres: Sequence[Tensor]) -> list[Tally]:
        """The outcomes of many requests at their checked centres, each as if asked for alone.

        Requests that do not fill a micro-batch share one when the program's rows do not influence each other to the
        last bit; otherwise each is run by itself. Rows that influence each other by more than rounding are an error.
        """
        for request, x in zip(requests, centres, strict=True):
            if self._noise.lattice is None:
                require_room_for_noise(x, self._noise.sigma, request.stream.index)
        found: dict[int, Tally] = {}
        with torch.inference_mode():
            for members in by_shape(centres):
                first = members[0]
                rows = self._checked_rows(centres[first], requests[first].stream.index)
                rows.expect(sum(requests[number].n for number in members))
                asked = [(requests[number], centres[number]) for number in members]
                try:
                    tallies = self._group(asked, rows)
                except RowsApartError:
                    tallies = self._group(asked, rows)
                found.update(zip(members, tallies, strict=True))
        self._forward.require_evaluation_mode()
        return [found[number] for number in range(len(requests))]

    def _group(self, asked: Sequence[tuple[Request, Tensor]], rows: Rows) -> list[Tally]:
        """The outcomes of requests of one shape."""
        forward = self._forward
        reserve = rows.reserve([request.n for request, _ in asked], padded=True)
        batch = _MicroBatch(forward, self._noise, forward.buffers(asked[0][1]), rows, reserve)
        sinks = []
        for request, x in asked:
            sinks.append(Accumulator(request, forward.num_classes, forward.device, forward.batch_size))
            batch.draw(sinks[-1], x)
            if not rows.interchangeable:
                batch.flush()
        batch.flush()
        return [sink.result() for sink in sinks]

    def opened(self, request: Request, x: Tensor) -> VoteStream:
        """A stream of votes at a checked centre, none of them drawn yet."""
        if self._noise.lattice is None:
            require_room_for_noise(x, self._noise.sigma, request.stream.index)
        return VoteStream(request, x, self._forward.num_classes, self._noise)

    def extend(self, wanted: Sequence[tuple[VoteStream, int]]) -> None:
        """Draw until each stream has at least so many votes; the votes are those of `tallies`, whatever the schedule.

        Rows that would be padding hold further votes of the same streams. If the program's rows influence each other in
        the last bit, each stream fills whole micro-batches by itself.
        """
        with torch.inference_mode():
            for numbers in by_shape([stream.x for stream, _ in wanted]):
                members = [wanted[number] for number in numbers]
                first = members[0][0]
                rows = self._checked_rows(first.x, first.request.stream.index)
                rows.expect(sum(max(0, upto - stream.asked) for stream, upto in members))
                try:
                    self._further(members, rows)
                except RowsApartError:
                    for stream, _ in members:
                        stream.rewind()
                    self._further(members, rows)
        self._forward.require_evaluation_mode()

    def _further(self, members: Sequence[tuple[VoteStream, int]], rows: Rows) -> None:
        buffers = self._forward.buffers(members[0][0].x)
        reserve = rows.reserve([upto - stream.asked for stream, upto in members], padded=False)
        batch = _MicroBatch(self._forward, self._noise, buffers, rows, reserve)
        for stream, upto in members:
            batch.more(stream, max(0, upto - stream.asked))
            if not rows.interchangeable:
                batch.fill_up([stream])
        batch.fill_up([stream for stream, _ in members])

    def may_share(self, x: Tensor, index: int) -> bool:
        """Whether rows at inputs shaped as x have the same logits to the bit in any company; tried out if not known.

        For votes that are taken elsewhere. At most two micro-batches for each shape, whose own votes nobody sees.
        """
        rows = self._checked_rows(x, index)
        if not rows.begun:
            self.tallies([Request(x, 1, Stream(0, index, "audit", "share"))], [x])
        with torch.inference_mode():
            return rows.settle()

    def expect(self, draws: int) -> None:
        """Take note that so many draws are ahead."""
        self._ahead = draws
        for rows in self._rows.values():
            rows.expect(draws)

    def _checked_rows(self, x: Tensor, index: int) -> Rows:
        """What is known of the program's rows at inputs shaped as x."""
        key = (tuple(x.shape), x.dtype)
        if key not in self._rows:
            self._rows[key] = Rows(self._forward, self._noise.sigma, x, index)
            self._rows[key].expect(self._ahead)
        return self._rows[key]


def by_shape(centres: Sequence[Tensor]) -> list[list[int]]:
    """The numbers of centres that can stand in one batch, in their order."""
    groups: dict[tuple[tuple[int, ...], torch.dtype], list[int]] = {}
    for number, x in enumerate(centres):
        groups.setdefault((tuple(x.shape), x.dtype), []).append(number)
    return list(groups.values())


class _MicroBatch:
    """One micro-batch being filled with the draws of one or more requests, and run when it is full."""

    def __init__(self, forward: Forward, noise: NoiseLaw, buffers: Buffers, rows: Rows, reserve: int) -> None:
        self._forward = forward
        self._reserve = reserve
        self._law = noise
        self._buffers = buffers
        self._noise = buffers.noise
        self._rows = rows
        self._filled = 0
        self._segments: list[tuple[Accumulator, int, int, int]] = []  # sink, first row, rows, number of the first draw

    def draw(self, sink: Accumulator, x: Tensor) -> None:
        """Put all draws of a request into this and, as it fills up, further micro-batches."""
        self._make_room(sink.request, x)
        self._put(sink, self._law.source(sink.request.stream, x), 0, sink.request.n)

    def more(self, stream: VoteStream, rows: int) -> None:
        """Put the next draws of a stream in: so many, but not more than it may have."""
        first, stream.asked = stream.asked, min(stream.asked + rows, stream.request.n)
        self._put(stream, stream.source, first, stream.asked)

    def fill_up(self, streams: Sequence[VoteStream]) -> None:
        """Run what is there, next draws of the streams in the free rows: most surely needed where most were made."""
        for left, stream in zip(range(len(streams), 0, -1), sorted(streams, key=lambda s: -s.asked), strict=True):
            if not self._filled:
                return
            free = self._rows.room(self._reserve) - self._filled
            self.more(stream, min(free, max(_PIECE, -(-free // left))))
        self.flush()

    def _put(self, sink: Accumulator, source: NoiseSource, done: int, end: int) -> None:
        step = 2 if sink.request.antithetic else 1
        while done < end:
            room = self._rows.room(self._reserve)
            free = (room - self._filled) // step * step
            rows = min(free, end - done)
            if rows == 0:
                self.flush()
                continue
            self._fill(source, rows, sink.request)
            self._segments.append((sink, self._filled, rows, done))
            self._filled += rows
            done += rows
            if self._filled == room:
                self.flush()

    def _make_room(self, request: Request, x: Tensor) -> None:
        """Exact noise is kept in an array of its own, and only for those who sum it."""
        summed = request.moments or request.lines
        if self._law.name != "gaussian" and summed and self._noise is self._buffers.noise:
            self._noise = self._law.room(x, self._forward.batch_size)

    def _fill(self, source: NoiseSource, rows: int, request: Request) -> None:
        inputs = some_rows(self._buffers.inputs, self._filled, rows)
        kept = request.moments or request.lines or self._law.name == "gaussian"
        noise = some_rows(self._noise, self._filled, rows) if kept else None
        if request.lines and self._law.lattice is not None:
            source.draw(inputs, normals=noise)  # bins need Z itself, not the mean of its cell (N5)
        else:
            source.draw(inputs, noise, opposite=request.antithetic)

    def flush(self) -> None:
        """Run the micro-batch, padded if it is not full, and hand out the votes."""
        if self._filled == 0:
            return
        if self._filled < self._forward.batch_size:
            self._buffers.inputs[self._filled :] = 0
        self._rows.prepare(self._buffers.inputs, self._filled)
        indices = [sink.request.stream.index for sink, *_ in self._segments]
        logits = self._forward.logits(self._buffers.inputs, self._filled, indices)
        self._rows.count(self._buffers.inputs, self._filled, logits)
        votes = logits.argmax(1)
        for sink, row, rows, first in self._segments:
            mine = some_rows(votes, row, rows)
            if sink.request.antithetic:
                sink.add_pairs(mine[: rows // 2], mine[rows // 2 :])
            else:
                sink.add(mine, some_rows(self._noise, row, rows), first)
        self._segments.clear()
        self._filled = 0
