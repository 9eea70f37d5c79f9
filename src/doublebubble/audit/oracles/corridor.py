"""A classifier on which a ball away from the input gains by the box and by its gradient: a corridor with one end."""

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr as Phi
from torch import Tensor

from doublebubble.audit.oracles.base import Oracle
from doublebubble.audit.oracles.linear import phi
from doublebubble.types import Floats

BLOCKED, FREE = 0.6, 0.8  # the normal of the end wall, in the coordinates 0 and 2


class Corridor(Oracle):
    """Class 1 where 0.6 x_0 + 0.8 (x_2 - 1/2) > -end and |x_1 - 1/2| < width, else class 0.

    Under noise p_1 is the product of a half-space's and a slab's probability. From the lower face of a box in x_0, an
    attack that stays in the box cannot use x_0, so the nearest point of another class lies along x_1 and x_2.
    """

    def __init__(self, dimension: int, end: float, width: float) -> None:
        super().__init__(dimension, 2, scale=1.0)
        self.end, self.width = end, width

    def scores(self, rows: Tensor) -> Tensor:
        """The distance to the nearest wall, for class 1."""
        along = BLOCKED * rows[:, 0] + FREE * (rows[:, 2] - 0.5) + self.end
        inside = torch.minimum(along, self.width - (rows[:, 1] - 0.5).abs())
        return torch.stack([-inside, inside], 1)

    def probability(self, x: Floats, sigma: float) -> float:
        """Of class 1."""
        across, along = x[1] - 0.5, BLOCKED * x[0] + FREE * (x[2] - 0.5) + self.end
        slab = Phi((self.width - across) / sigma) - Phi((-self.width - across) / sigma)
        return float(slab * Phi(along / sigma))

    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """Of both classes."""
        p = self.probability(self.point(x, sigma), sigma)
        return np.array([1 - p, p])

    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """The product rule: the half-space's slope along its normal, the slab's along x_1."""
        row = self.point(x, sigma)
        across, along = row[1] - 0.5, BLOCKED * row[0] + FREE * (row[2] - 0.5) + self.end
        ends = np.array([self.width - across, -self.width - across, along]) / sigma
        slab = float(Phi(ends[0]) - Phi(ends[1]))
        density = phi(ends)
        slope = np.zeros(self.dimension)
        slope[1] = -(density[0] - density[1]) / sigma * float(Phi(ends[2]))
        slope[[0, 2]] = slab * density[2] / sigma * np.array([BLOCKED, FREE])
        return np.stack([-slope, slope])

    def robust_distance(
        self, x: npt.ArrayLike, sigma: float, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None
    ) -> float:
        """From the middle of the corridor and the lower face of x_0, in a box that is wide enough in x_1 and x_2.

        For every step back along x_2 the step along x_1 that it takes besides; the least length of both.
        """
        row = self.point(x, sigma)
        assert low is not None
        assert row[0] == low
        assert row[1] == row[2] == 0.5

        def lead(aside: float, back: float) -> float:
            step = np.zeros(len(row))
            step[1], step[2] = aside, -back
            return self.probability(row + step, sigma) - 0.5

        def length(back: float) -> float:
            aside = brentq(lead, 0.0, self.width + 10 * sigma, (back,), xtol=1e-14) if lead(0.0, back) > 0 else 0.0
            return float(np.hypot(aside, back))

        farthest = brentq(lambda back: lead(0.0, back), 0.0, self.end + 10 * sigma, xtol=1e-14)
        steps = np.linspace(0.0, farthest, 201)
        best = int(np.argmin([length(back) for back in steps]))
        near = steps[max(best - 1, 0)], steps[min(best + 1, 200)]
        found = minimize_scalar(length, bounds=near, method="bounded", options={"xatol": 1e-9})
        return min(float(found.fun), length(0.0), farthest)
