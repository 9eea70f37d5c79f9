"""The direction that the first half of the draws points to, and how the second half lies along it: (R7).

May import lines, bounds, types and errors.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from doublebubble.bounds.ray_gradient import HEAVIEST, RayMoments
from doublebubble.errors import SettingError
from doublebubble.lines import Line, projection, unit_vector
from doublebubble.types import Floats


@dataclass(frozen=True, eq=False)
class Ray:
    """What to ask of both halves; fixed before the draws.

    `weights` of the votes, for the mean of weight x noise over the first half, of which the part off the `line` counts,
    with `eta` added. A draw of the second half has the weight `second[vote]` less `control[bin]`, its bin being that of
    the line; its projection on the mean of the first half counts as at most `clip`.
    """

    weights: tuple[float, ...]
    second: tuple[float, ...]
    line: Line
    control: tuple[float, ...]
    clip: float
    eta: Floats | None = None

    def __post_init__(self) -> None:
        if len(self.control) != self.line.bins or len(self.second) != len(self.weights):
            raise SettingError(f"ray: expected a number for each of {self.line.bins} bins and for each class")
        if not all(0 <= value <= HEAVIEST for value in (*self.control, *self.second)):
            raise SettingError(f"ray: expected weights and control variates from 0 to {HEAVIEST:g}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ray) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        eta = None if self.eta is None else self.eta.tobytes()
        return self.weights, self.second, self.line, self.control, self.clip, eta

    def aimed(self, mean: Floats) -> "Aim":
        """The direction to look along, from the mean of weight x noise over the first half."""
        off = self.line.off(mean)
        if self.eta is not None:
            off = off + self.eta
        length = float(np.linalg.norm(off))
        direction = unit_vector(off) if length > 0 else np.zeros_like(off)
        ahead = 0.0 if self.eta is None else float(direction @ self.eta)
        return Aim(self, direction, length, ahead)


class Aim:
    """A ray once the first half is over: adds up powers of V over the second half."""

    def __init__(self, ray: Ray, direction: Floats, length: float, ahead: float) -> None:
        self._ray, self._direction, self._length, self._ahead = ray, direction, length, ahead
        self._sums = np.zeros(4)
        self._draws = 0

    def add(self, noise: Tensor, votes: Tensor, bins: Tensor) -> None:
        """Take some draws of the second half: noise (rows, d) in float64, votes, and bins along the line."""
        ray = self._ray
        weights = torch.tensor(ray.second, dtype=torch.float64, device=noise.device)[votes]
        weights -= torch.tensor(ray.control, dtype=torch.float64, device=noise.device)[bins]
        v = weights * projection(noise, self._direction).clamp(-ray.clip, ray.clip)
        square = v * v
        self._sums += [float(power.sum()) for power in (v, square, square * v, square * square)]
        self._draws += len(votes)

    def moments(self) -> RayMoments:
        """What the bound needs of all draws."""
        return RayMoments(self._length, self._ahead, *(self._sums / max(self._draws, 1)).tolist())
