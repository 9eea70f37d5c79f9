"""Exact noise on a grid: inputs are integers, noise is integers, and a table turns their sum into floats once.

The model then sees a function of integers whose law is known, and no rounding of a sum can tell it where the centre is.
May import streams, types and errors only.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from doublebubble.errors import InputError, SettingError
from doublebubble.noise.cells import BITS, PREFIX_BITS, UNDECIDED, Cells, rounded_normal
from doublebubble.noise.words import WordReader
from doublebubble.streams import Stream

Indices = npt.NDArray[np.int32]

_BLOCK = 1 << 15  # values drawn at once; smaller blocks cost time for each value, larger ones for each request
_TOLERANCE = 2.0**-22  # of a value: the rounding of i/255, or of i times the rounded 1/255, in float32
_FARTHEST = 1 / 64  # of a step: beyond some 65 536 steps from 0 a part of the value would be a large part of a step
_PAST_DOMAIN = 8  # standard deviations from the domain to the end of the range
_LARGEST_INDEX = 1 << 22  # up to it a grid point rounded to float32 is nearer to itself than to any other


@dataclass(frozen=True)
class Lattice:
    """The grid points i * step, low <= i <= high: where inputs lie, and to which noisy inputs are clipped.

    >>> Lattice.around(Fraction(1, 255), (0.0, 1.0), sigma=0.5)
    Lattice(step=Fraction(1, 255), low=-1020, high=1275)
    """

    step: Fraction
    low: int
    high: int

    def __post_init__(self) -> None:
        if not (isinstance(self.step, Fraction) and self.step > 0):
            raise SettingError(f"grid step: expected a fraction > 0, got {self.step!r}")
        if not -_LARGEST_INDEX <= self.low < self.high <= _LARGEST_INDEX:
            limits = f"{-_LARGEST_INDEX} <= low < high <= {_LARGEST_INDEX}"
            raise SettingError(f"grid range: expected {limits}, got low {self.low} and high {self.high}")

    @classmethod
    def around(cls, step: Fraction, domain: tuple[float, float], sigma: float) -> "Lattice":
        """The grid over the domain and 8 sigma on either side of it."""
        margin = _PAST_DOMAIN * Fraction(sigma)
        low, high = Fraction(domain[0]) - margin, Fraction(domain[1]) + margin
        return cls(step, math.floor(low / step), math.ceil(high / step))

    def law(self, sigma: float) -> Cells:
        """The law of the noise, told apart as far as a grid point can move and stay within the range."""
        if not (math.isfinite(sigma) and sigma > 0):
            raise SettingError(f"sigma: expected a finite number > 0, got {sigma!r}")
        return rounded_normal(self.step / Fraction(sigma), self.high - self.low)

    @cached_property
    def values(self) -> Tensor:
        """The float64 nearest to i * step, i = low .. high."""
        return torch.tensor([float(i * self.step) for i in range(self.low, self.high + 1)], dtype=torch.float64)

    def table(self, dtype: torch.dtype) -> Tensor:
        """What the model sees for i = low .. high."""
        return self.values.to(dtype)

    def indices(self, x: Tensor, number: int) -> Indices:
        """The integers i with x = i * step, or an InputError that names the input and the worst value."""
        values = x.detach().cpu().to(torch.float64).numpy()
        nearest = self._nearest(values)
        off = np.abs(values - nearest * float(self.step))
        bad = ~(off <= np.minimum(_TOLERANCE * np.abs(values), _FARTHEST * float(self.step)))  # NaN is bad, too
        if bad.any():
            at = tuple(int(k) for k in np.unravel_index(int(np.where(bad, off, -1.0).argmax()), values.shape))
            raise InputError(
                f"input {number}: expected values on the grid of step {self.step}, got {values[at]:.9g} at {at} and "
                f"{int(bad.sum())} in all that are off it"
            )
        if nearest.min() < self.low or nearest.max() > self.high:
            raise InputError(
                f"input {number}: expected grid points {self.low} to {self.high} (in steps of {self.step}), got "
                f"{int(nearest.min())} to {int(nearest.max())}"
            )
        return nearest.astype(np.int32)

    def snap(self, x: Tensor) -> Tensor:
        """The grid point of the range nearest to x, in the dtype of x: for centres that a search proposes."""
        inside = np.clip(self._nearest(x.detach().cpu().to(torch.float64).numpy()), self.low, self.high)
        return self.values[torch.from_numpy(inside.astype(np.int64)) - self.low].to(x)

    def _nearest(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.rint(values / float(self.step))


class LatticeDraws:
    """Integer noise of one stream, read in order, in pieces of any size.

    Each value is decided by 62 uniform bits. The first 16 nearly always suffice; the others are read, from words of
    their own, only where they do not. Both kinds of words are read block by block, so that value number i depends on
    the stream and on i alone.
    """

    def __init__(self, stream: Stream, law: Cells) -> None:
        self._law = law
        self._prefixes = WordReader(stream, "lattice/prefix")
        self._rest = WordReader(stream, "lattice/rest")
        self._block = np.empty(_BLOCK, np.int32)
        self._left = 0

    def fill(self, out: Indices) -> None:
        """Write the next values into a flat array."""
        done = 0
        while done < len(out):
            if self._left == 0 and len(out) - done >= _BLOCK:
                self._draw(out[done : done + _BLOCK])
                done += _BLOCK
                continue
            if self._left == 0:
                self._draw(self._block)
                self._left = _BLOCK
            take = min(self._left, len(out) - done)
            start = _BLOCK - self._left
            out[done : done + take] = self._block[start : start + take]
            self._left -= take
            done += take

    def _draw(self, out: Indices) -> None:
        prefixes = self._prefixes.read(_BLOCK * PREFIX_BITS // 64).astype("<u8", copy=False).view("<u2")
        self._law.prefixes.take(prefixes, out=out, mode="wrap")
        unsure = np.flatnonzero(out == UNDECIDED)
        rest = self._rest.read(len(unsure)) >> np.uint64(64 - (BITS - PREFIX_BITS))
        words = (prefixes[unsure].astype(np.int64) << (BITS - PREFIX_BITS)) | rest.astype(np.int64)
        out[unsure] = self._law.look_up(words)
