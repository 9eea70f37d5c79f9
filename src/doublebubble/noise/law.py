"""The noise of one smoothed classifier: which it is, where inputs may lie under it, and what it takes off alpha.

May import streams, types and errors only.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from doublebubble.errors import SettingError
from doublebubble.noise.lattice import Lattice
from doublebubble.noise.source import NoiseSource, noise_source
from doublebubble.streams import Stream
from doublebubble.types import NOISES, NoiseName

DEFAULT_GRID = 255
"""Steps for each unit of the inputs: 8-bit images."""


@dataclass(frozen=True)
class NoiseLaw:
    """Noise of scale sigma by its name; `lattice` holds the grid for the noise of that name, None for any other.

    >>> NoiseLaw.of("lattice", 0.5, None, (0.0, 1.0)).lattice
    Lattice(step=Fraction(1, 255), low=-1020, high=1275)
    """

    name: NoiseName
    sigma: float
    lattice: Lattice | None = None

    @classmethod
    def of(cls, name: NoiseName, sigma: float, grid: int | None, domain: tuple[float, float] | None) -> "NoiseLaw":
        """The noise of that name; `grid` is how many steps make one unit, 255 if it is not said."""
        if name not in NOISES:
            raise SettingError(f"noise: expected one of {', '.join(NOISES)}, got {name!r}")
        if name != "lattice":
            if grid is not None:
                raise SettingError(f"grid: expected none, since noise {name} has no grid, got {grid!r}")
            return cls(name, sigma)
        steps = DEFAULT_GRID if grid is None else grid
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
            raise SettingError(f"grid: expected a whole number of steps for each unit, at least 1, got {grid!r}")
        if domain is None:
            raise SettingError("noise lattice: expected a domain, which says where the grid ends, got none")
        if any(steps * Fraction(end) % 1 for end in domain):
            raise SettingError(f"domain: expected ends on the grid of step 1/{steps}, got {domain}")
        lattice = Lattice.around(Fraction(1, steps), domain, sigma)
        lattice.law(sigma)  # an error now if there is no table for this step and sigma
        return cls(name, sigma, lattice)

    @property
    def grid(self) -> int | None:
        """Steps for each unit; None without a grid."""
        return None if self.lattice is None else self.lattice.step.denominator

    @property
    def limits(self) -> tuple[int, int] | None:
        """The grid points, counted from 0, that noisy values are clipped to; None without a grid."""
        return None if self.lattice is None else (self.lattice.low, self.lattice.high)

    def source(self, stream: Stream, x: Tensor) -> NoiseSource:
        """The noisy inputs of a stream about x, which lies on the grid if there is one."""
        return noise_source(self.name, stream, x, self.sigma, self.lattice)

    def loss(self, draws: int, dimension: int, alpha: float) -> float:
        """At most this is added to any error probability by so many draws: to be taken off alpha (N3).

        0 where no distance from the law of the theorems is known: those are assumed to be kept.
        """
        return 0.0 if self.lattice is None else self.lattice.law(self.sigma).loss(draws, dimension, alpha)

    def placed(self, x: Tensor, index: int) -> Tensor:
        """The point that an input stands for: itself or, on a lattice, its grid point in float64; an error off it."""
        if self.lattice is None:
            return x
        self.lattice.indices(x, index)
        return self.lattice.snap(x.detach().cpu().double())

    def snapped(self, x: Tensor) -> Tensor:
        """A point that draws may be made at, next to x: x itself, or the nearest grid point."""
        return x if self.lattice is None else self.lattice.snap(x)

    def room(self, x: Tensor, rows: int) -> Tensor:
        """An array for the noise of so many draws at x, as exact as it is drawn: for all but `gaussian` in float64."""
        if self.name == "gaussian":
            return torch.empty((rows, *x.shape), dtype=x.dtype, device=x.device)
        return torch.empty((rows, *x.shape), dtype=torch.float64)

    def nearer(self, radius: float, dimension: int) -> float:
        """A radius that stays true if its centre is moved by what float64 rounds off a grid point (N8)."""
        if self.lattice is None:
            return radius
        size = max(-self.lattice.low, self.lattice.high) * float(self.lattice.step)
        return max(0.0, math.nextafter(radius - 2.0**-52 * size * math.sqrt(dimension), -math.inf))
