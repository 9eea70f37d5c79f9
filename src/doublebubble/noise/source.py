"""Where noisy inputs come from, by name: `gaussian`, `gaussian64` or `lattice`.

A source holds the draws of one stream about one centre and hands them out in order, in pieces of any size; the values
of draw i do not depend on the pieces. May import streams, types and errors only.
"""

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from doublebubble.errors import SettingError
from doublebubble.noise.gaussian64 import Gaussian64Draws
from doublebubble.noise.lattice import Indices, Lattice, LatticeDraws
from doublebubble.noise.remainder import Remainders
from doublebubble.streams import NormalDraws, Stream
from doublebubble.types import NOISES, NoiseName


class NoiseSource(ABC):
    """The noisy inputs of one stream about one centre."""

    def fill(self, out: Tensor) -> None:
        """Write the noise of the next len(out) draws into `out`, and no inputs: what `NormalDraws.fill` does."""
        self.draw(None, out)

    @abstractmethod
    def draw(
        self, inputs: Tensor | None, noise: Tensor | None = None, normals: Tensor | None = None, opposite: bool = False
    ) -> None:
        """Write the next draws: what the model sees, the noise for moments, and the normal vectors themselves.

        `noise` gets Z or, on a lattice, its mean given what the model sees. `normals`, in float64, gets Z; to be asked
        for in every call or in none. With `opposite` the second half of the rows is the first with -Z for Z.
        """


def noise_source(
    name: NoiseName, stream: Stream, x: Tensor, sigma: float, lattice: Lattice | None = None
) -> NoiseSource:
    """The source of that name; `lattice` is needed by the noise of that name and by no other."""
    if name not in NOISES:
        raise SettingError(f"noise: expected one of {', '.join(NOISES)}, got {name!r}")
    if (lattice is not None) != (name == "lattice"):
        raise SettingError(f"noise {name}: expected {'a' if name == 'lattice' else 'no'} lattice")
    if lattice is not None:
        return LatticeSource(stream, x, sigma, lattice)
    return GaussianSource(stream, x, sigma) if name == "gaussian" else Gaussian64Source(stream, x, sigma)


class GaussianSource(NoiseSource):
    """Normal noise in the dtype of x, added and rounded in it: fast, and only nearly the law that theorems speak of."""

    def __init__(self, stream: Stream, x: Tensor, sigma: float) -> None:
        self._x = x
        self._sigma = sigma
        self._draws = NormalDraws(stream, x)

    def draw(
        self, inputs: Tensor | None, noise: Tensor | None = None, normals: Tensor | None = None, opposite: bool = False
    ) -> None:
        """As described by NoiseSource."""
        rows = _rows(inputs, noise, normals, opposite)
        shape = (rows, *self._x.shape)
        own = torch.empty(shape, dtype=self._x.dtype, device=self._x.device) if noise is None else noise
        half = rows // 2 if opposite else rows
        self._draws.fill(own[:half])
        if opposite:
            torch.neg(own[:half], out=own[half:])
        if inputs is not None:
            torch.add(self._x, own, alpha=self._sigma, out=inputs)
        if normals is not None:
            normals.copy_(own)


class Gaussian64Source(NoiseSource):
    """Normal noise in float64 with the right tail, added in float64 and cast once to the dtype of the inputs."""

    def __init__(self, stream: Stream, x: Tensor, sigma: float) -> None:
        self._x = x.detach().cpu().to(torch.float64)
        self._sigma = sigma
        self._draws = Gaussian64Draws(stream)

    def draw(
        self, inputs: Tensor | None, noise: Tensor | None = None, normals: Tensor | None = None, opposite: bool = False
    ) -> None:
        """As described by NoiseSource."""
        rows = _rows(inputs, noise, normals, opposite)
        half = rows // 2 if opposite else rows
        own = np.empty((half, *self._x.shape))
        self._draws.fill(own.reshape(-1))
        drawn = torch.from_numpy(np.concatenate([own, -own]) if opposite else own)
        if inputs is not None:
            inputs.copy_(torch.add(self._x, drawn, alpha=self._sigma))
        for out in (noise, normals):
            if out is not None:
                out.copy_(drawn)


class LatticeSource(NoiseSource):
    """Exact noise on a grid: the model sees a function of integers, whose law is known (N1)."""

    def __init__(self, stream: Stream, x: Tensor, sigma: float, lattice: Lattice) -> None:
        law = lattice.law(sigma)
        self._shape = tuple(x.shape)
        self._offsets = lattice.indices(x, stream.index).reshape(-1) - np.int32(lattice.low)
        self._end = lattice.high - lattice.low
        self._last = law.last
        self._means = torch.from_numpy(law.means)
        self._lattice = lattice
        self._draws = LatticeDraws(stream, law)
        self._remainders = Remainders(stream, law)

    def draw(
        self, inputs: Tensor | None, noise: Tensor | None = None, normals: Tensor | None = None, opposite: bool = False
    ) -> None:
        """As described by NoiseSource."""
        rows = _rows(inputs, noise, normals, opposite)
        half = rows // 2 if opposite else rows
        steps = np.empty((rows, len(self._offsets)), np.int32)
        self._draws.fill(steps[:half].reshape(-1))
        if opposite:
            np.negative(steps[:half], out=steps[half:])
        if normals is not None:
            drawn = np.empty(steps[:half].size)
            self._remainders.fill(steps[:half].reshape(-1), drawn)
            own = drawn.reshape(half, *self._shape)
            normals.copy_(torch.from_numpy(np.concatenate([own, -own]) if opposite else own))
        if noise is not None:
            _look_up(self._means, steps + np.int32(self._last), noise)
        if inputs is not None:
            steps += self._offsets  # integers, so nothing is rounded
            np.clip(steps, 0, self._end, out=steps)
            _look_up(self._lattice.values, steps, inputs)


def _look_up(values: Tensor, places: Indices, out: Tensor) -> None:
    """Write values[places] into `out`, from a table in its dtype."""
    table = values.to(out.dtype)
    target = out if out.device.type == "cpu" and out.is_contiguous() else torch.empty(out.shape, dtype=out.dtype)
    torch.index_select(table, 0, torch.from_numpy(places.reshape(-1)), out=target.view(-1))
    if target is not out:
        out.copy_(target)


def _rows(inputs: Tensor | None, noise: Tensor | None, normals: Tensor | None, opposite: bool) -> int:
    sizes = {len(out) for out in (inputs, noise, normals) if out is not None}
    if len(sizes) != 1 or (opposite and next(iter(sizes)) % 2):
        raise SettingError(f"draws: expected outputs of one length, even for opposite draws, got {sorted(sizes)}")
    return sizes.pop()
