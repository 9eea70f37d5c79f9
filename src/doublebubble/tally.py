"""What is asked of the model at one centre, and what the draws are reduced to: votes, moments, pairs, bins of a line.

Memory here grows with the number of classes asked about and with the input's size, never with the number of draws,
unless the single votes are asked for.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from doublebubble.bounds.gradient import SUM_ERROR
from doublebubble.bounds.ray_gradient import RayMoments
from doublebubble.errors import SettingError
from doublebubble.lines import Line
from doublebubble.rays import Aim, Ray
from doublebubble.streams import Stream
from doublebubble.types import Counts, Floats

_COUNTED_TOGETHER = 16  # batches of votes
_SUMMED_TOGETHER = 1024  # draws
_LARGEST_NORMAL = 13.0  # no generator returns more: numpy's ziggurat ends below 12.3, Box-Muller on 53 bits at 8.6


def summation_error(dim: int, weight: float) -> float:
    """What half means of w x noise in R^dim, |w| at most `weight`, can lose to rounding (docs/math.md, *Sums*).

    8 roundings for the sums; 64 where their part along a line is taken off.
    """
    return weight * _LARGEST_NORMAL * math.sqrt(dim) * (_SUMMED_TOGETHER + 8 + 64) * 2.0**-53


def summing_device(device: torch.device) -> torch.device:
    """Where the moments of draws on this device are summed: there, or on the CPU if it has no float64."""
    return torch.device("cpu") if device.type == "mps" else device


@dataclass(frozen=True)
class Request:
    """`n` draws at `x` from one stream. A draw is x + sigma Z; Z of draw i is the stream's i-th normal vector.

    Each row w of `moments` asks for the sum of w[vote] Z over the draws, separately over those before `split` and from
    it on (None: all in the first half). `antithetic` uses Z and -Z in pairs, n/2 vectors for n draws, and counts for
    each class how often both, one or none of a pair voted for it. `keep_votes` keeps the vote of every draw, in order.
    Each of `lines` asks for the votes by the bin in which Z falls along it, each of `rays` how the draws from the split
    on lie along the mean of w[vote] Z before it, w being one of the rows and the ray's line one of the lines.
    """

    x: Tensor
    n: int
    stream: Stream
    moments: tuple[tuple[float, ...], ...] = ()
    split: int | None = None
    antithetic: bool = False
    keep_votes: bool = False
    lines: tuple[Line, ...] = ()
    rays: tuple[Ray, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            raise SettingError(f"input {self.stream.index}: n must be an integer >= 1, got {self.n!r}")
        if self.split is not None and not 0 <= self.split <= self.n:
            raise SettingError(f"input {self.stream.index}: split must lie in 0..{self.n}, got {self.split}")
        if self.antithetic and (self.n % 2 or self.moments or self.keep_votes or self.lines):
            expected = "an even n, no moments, no lines, no kept votes"
            raise SettingError(f"input {self.stream.index}: antithetic draws need {expected}; n = {self.n}")
        if any(len(line.direction) != self.x.numel() for line in self.lines):
            raise SettingError(
                f"input {self.stream.index}: expected lines in R^{self.x.numel()}, got another dimension"
            )

        if any(ray.weights not in self.moments or ray.line not in self.lines for ray in self.rays):
            raise SettingError(f"input {self.stream.index}: expected the moments and the line of each ray")

    def merged(self, other: "Request") -> "Request":
        """One request that serves both, for draws that two statistics share: an error unless they are the same draws.

        Two centres under one name would certify a ball with the votes of another.
        """
        if self.stream != other.stream or not torch.equal(self.x, other.x):
            raise SettingError(f"input {self.stream.index}: two centres under the name {self.stream.part}")
        splits = {split for split in (self.split, other.split) if split is not None}
        if (self.n, self.antithetic) != (other.n, other.antithetic) or len(splits) > 1:
            raise SettingError(f"input {self.stream.index}: two kinds of draws under the name {self.stream.part}")
        moments = dict.fromkeys((*self.moments, *other.moments))
        return replace(
            self,
            moments=tuple(moments),
            split=next(iter(splits), None),
            keep_votes=self.keep_votes or other.keep_votes,
            lines=tuple(dict.fromkeys((*self.lines, *other.lines))),
            rays=tuple(dict.fromkeys((*self.rays, *other.rays))),
        )


@dataclass(frozen=True)
class Tally:
    """The answer to a request.

    `counts[k]` votes of n for class k. `sums[h, j]` is the sum of w[vote] Z, flattened, over the draws of half h, w the
    j-th row of `moments`. `pairs[k]` says how many pairs voted for class k twice, once and never. `votes[i]` is the
    class of draw i. `tables[l][j, k]` counts the draws in bin j of the l-th line that voted for class k.
    `along[r]` are the moments of the r-th ray.
    """

    counts: Counts
    n: int
    halves: tuple[int, int]
    sums: Floats | None
    pairs: Counts | None
    votes: Counts | None = None
    moments: tuple[tuple[float, ...], ...] = ()
    lines: tuple[Line, ...] = ()
    tables: tuple[Counts, ...] = ()
    rays: tuple[Ray, ...] = ()
    along: tuple[RayMoments, ...] = ()

    def table(self, line: Line) -> Counts:
        """The votes by bins of a line that was asked for, (bins, classes)."""
        if line not in self.lines:
            raise SettingError("lines: expected a line that was asked for, got another")
        return self.tables[self.lines.index(line)]

    def ray(self, ray: Ray) -> RayMoments:
        """The moments along a ray that was asked for."""
        if ray not in self.rays:
            raise SettingError("rays: expected a ray that was asked for, got another")
        return self.along[self.rays.index(ray)]

    def half_means(self, weights: tuple[float, ...]) -> tuple[Floats, Floats]:
        """The means of w[vote] Z over each half of the draws, for a row of weights that was asked for."""
        if self.sums is None or weights not in self.moments:
            raise SettingError("moments: expected a row of weights that was asked for, got another")
        row = self.moments.index(weights)
        return self.sums[0, row] / self.halves[0], self.sums[1, row] / self.halves[1]


class Accumulator:
    """Adds up the draws of one request, which come in order and in pieces of any size.

    Moments are summed in blocks of `block` draws, counted from the first, so that their rounding, and with it every bit
    of a record, is the same whichever inputs shared micro-batches. A block that comes in parts is kept until it is
    whole.
    """

    def __init__(self, request: Request, num_classes: int, device: torch.device, block: int = _SUMMED_TOGETHER) -> None:
        self.request = request
        self._block = block
        self._parts: list[tuple[Tensor, Tensor]] = []
        self._counts = torch.zeros(num_classes, dtype=torch.int64, device=device)
        self._uncounted: list[Tensor] = []
        self._split = request.n if request.split is None else request.split
        self._home = summing_device(device)
        shape = (2, len(request.moments), request.x.numel())
        largest = max((abs(weight) for row in request.moments for weight in row), default=0.0)
        if summation_error(shape[2], largest) > SUM_ERROR:
            raise SettingError(
                f"input {request.stream.index}: the moments of {shape[2]} coordinates cannot be summed to {SUM_ERROR:g}"
            )
        self._sums = torch.zeros(shape, dtype=torch.float64, device=self._home)
        self._lost = torch.zeros_like(self._sums)
        self._weights = torch.tensor(request.moments, dtype=torch.float64, device=self._home)
        self._tables = [
            torch.zeros(line.bins * num_classes, dtype=torch.int64, device=self._home) for line in request.lines
        ]
        self._aims: list[Aim] = []
        self._pairs = torch.zeros((3, num_classes), dtype=torch.int64, device=device)
        self._votes = torch.empty(request.n, dtype=torch.int64, device=device) if request.keep_votes else None

    def add(self, votes: Tensor, noise: Tensor, first: int) -> None:
        """Take the votes and the noise of draws first, first + 1, ... of an ordinary request."""
        self._count(votes)
        if self._votes is not None:
            self._votes[first : first + len(votes)] = votes
        done = 0 if self.request.moments or self.request.lines else len(votes)
        while done < len(votes):
            start = first + done
            end = min(start - start % self._block + self._block, first + len(votes))
            rows = slice(done, end - first)
            self._gather(votes[rows], noise[rows], start, end)
            done = end - first

    def _gather(self, votes: Tensor, noise: Tensor, start: int, end: int) -> None:
        """Sum draws start to end - 1 if they make up a block with those kept before; else keep them."""
        whole = end % self._block == 0 or end == self.request.n
        if start % self._block or not whole:
            self._parts.append((votes.clone(), noise.clone()))
        if not whole:
            return
        if self._parts:
            votes, noise = (torch.cat(parts) for parts in zip(*self._parts, strict=True))
            self._parts.clear()
        self._sum_block(votes, noise, end - len(votes))

    def _sum_block(self, votes: Tensor, noise: Tensor, first: int) -> None:
        cut = min(max(self._split - first, 0), len(votes))
        for half, start, end in ((0, 0, cut), (1, cut, len(votes))):
            for row in range(start, end, _SUMMED_TOGETHER):
                rows = slice(row, min(row + _SUMMED_TOGETHER, end))
                self._sum(half, votes[rows], noise[rows])

    def _sum(self, half: int, votes: Tensor, noise: Tensor) -> None:
        """Add weight x noise of a few draws; what the addition rounds away is kept, exactly, and added up as well."""
        flat = noise.reshape(len(votes), -1).to(self._home).double()  # moved first: the device may have no float64
        votes = votes.to(self._home)
        bins = [line.places(flat) for line in self.request.lines]
        for table, places in zip(self._tables, bins, strict=True):
            table += torch.bincount(places * len(self._counts) + votes, minlength=len(table))
        if half == 1:
            for ray, aim in zip(self.request.rays, self._aimed(), strict=True):
                aim.add(flat, votes, bins[self.request.lines.index(ray.line)])
        if not self.request.moments:
            return
        old, new = self._sums[half], self._weights[:, votes] @ flat
        total = old + new
        taken = total - old
        self._lost[half] += (old - (total - taken)) + (new - taken)
        self._sums[half] = total

    def _aimed(self) -> list[Aim]:
        """The rays as the first half, which is over, has aimed them."""
        if not self._aims and self.request.rays:
            means = (self._sums[0] + self._lost[0]).cpu().numpy() / max(self._split, 1)
            rows = self.request.moments
            self._aims = [ray.aimed(means[rows.index(ray.weights)]) for ray in self.request.rays]
        return self._aims

    def add_pairs(self, plus: Tensor, minus: Tensor) -> None:
        """Take the votes at +Z and at -Z of the same vectors."""
        self._count(plus)
        self._count(minus)
        classes = len(self._counts)
        agreed = plus == minus
        self._pairs[0] += torch.bincount(plus[agreed], minlength=classes)
        self._pairs[1] += torch.bincount(torch.cat([plus[~agreed], minus[~agreed]]), minlength=classes)
        self._pairs[2] += len(plus)

    def _count(self, votes: Tensor) -> None:
        """Keep a few batches of votes and count them together: one by one costs a small model dearly."""
        self._uncounted.append(votes)
        if len(self._uncounted) >= _COUNTED_TOGETHER:
            self._settle()

    def _settle(self) -> None:
        if self._uncounted:
            self._counts += torch.bincount(torch.cat(self._uncounted), minlength=len(self._counts))
            self._uncounted.clear()

    def result(self) -> Tally:
        """The finished tally; the votes add up to n, or an internal error is raised."""
        self._settle()
        counts = self._counts.cpu().numpy()
        if int(counts.sum()) != self.request.n:
            raise AssertionError(f"counted {int(counts.sum())} votes of {self.request.n} draws")
        sums = (self._sums + self._lost).cpu().numpy() if self.request.moments else None
        tables = tuple(table.cpu().numpy().reshape(-1, len(counts)) for table in self._tables)
        if any(not np.array_equal(table.sum(axis=0), counts) for table in tables):
            raise AssertionError("the bins of a line do not hold the votes that were counted")
        both, one, seen = self._pairs.cpu().numpy()
        pairs = np.stack([both, one, seen - both - one], axis=1) if self.request.antithetic else None
        votes = None if self._votes is None else self._votes.cpu().numpy()
        halves = (self._split, self.request.n - self._split)
        request, along = self.request, tuple(aim.moments() for aim in self._aimed())
        asked = request.moments, request.lines, tables, request.rays, along
        return Tally(counts, request.n, halves, sums, pairs, votes, *asked)
