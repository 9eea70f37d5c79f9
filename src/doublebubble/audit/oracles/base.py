"""What every oracle answers, and the exact distance to a hyperplane within a box. Imports no certifier."""

from abc import abstractmethod

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import ndtri as Phi_inv
from torch import Tensor, nn

from doublebubble.errors import InputError, SettingError
from doublebubble.types import Floats


class Oracle(nn.Module):
    """A classifier of flattened inputs of `dimension` numbers whose smoothed version is known in closed form.

    As a torch module it maps a batch of any inner shape to logits of the batch's dtype, continuous in the input. The
    methods are the truth, in float64: the input is one array of any shape with `dimension` numbers.
    """

    def __init__(self, dimension: int, num_classes: int, scale: float) -> None:
        super().__init__()
        if not scale > 0:
            raise SettingError(f"scale of the logits: expected a number above 0, got {scale!r}")
        self.dimension, self.num_classes, self.scale = dimension, num_classes, scale
        self.eval()

    def constant(self, name: str, values: Floats) -> None:
        """Keep `values` as a float64 buffer of that name."""
        self.register_buffer(name, torch.tensor(values, dtype=torch.float64))

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits (batch, classes)."""
        return self.scale * self.scores(inputs.reshape(len(inputs), self.dimension))

    @abstractmethod
    def scores(self, rows: Tensor) -> Tensor:
        """Class scores (batch, classes) of rows (batch, dimension), in the dtype of the rows."""

    @abstractmethod
    def probabilities(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """(S1): the probability of each class under noise of scale sigma, each accurate relative to itself."""

    @abstractmethod
    def gradient(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """The gradients of all class probabilities, (classes, dimension)."""

    @abstractmethod
    def robust_distance(
        self, x: npt.ArrayLike, sigma: float, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None
    ) -> float:
        """The distance from x to the nearest point of the box where g(x) is not alone the likeliest class.

        Infinity if there is no such point. Without `low` and `high` the box is all of space; x lies in it.
        """

    def predicted(self, x: npt.ArrayLike, sigma: float) -> int:
        """(S2): the likeliest class, the first of them at an exact tie."""
        return int(np.argmax(self.probabilities(x, sigma)))

    def cohen_radius(self, x: npt.ArrayLike, sigma: float) -> float:
        """(S3) of the true probabilities, to about 1e-12; p_A enters as the sum of the others, accurate near 1."""
        p = self.probabilities(x, sigma)
        others = np.delete(p, np.argmax(p))
        if others.sum() <= 0:
            raise InputError(
                "Cohen radius of the oracle: every other class is below the smallest float, no finite radius"
            )
        return float(-sigma / 2 * (Phi_inv(others.sum()) + Phi_inv(others.max())))

    def point(self, x: npt.ArrayLike, sigma: float) -> Floats:
        """x as one float64 row, after checking it and sigma."""
        row = np.asarray(x, np.float64).ravel()
        if len(row) != self.dimension or not np.isfinite(row).all():
            raise InputError(f"oracle input: expected {self.dimension} finite numbers, got {len(row)}")
        if not 0 < sigma < np.inf:
            raise SettingError(f"sigma: expected a number above 0, got {sigma!r}")
        return row


def box_of(x: Floats, low: npt.ArrayLike | None, high: npt.ArrayLike | None) -> tuple[Floats, Floats]:
    """The box's corners, shaped as x; infinite where there is no bound. x must lie inside."""
    lo = np.broadcast_to(np.asarray(-np.inf if low is None else low, np.float64).ravel(), x.shape)
    hi = np.broadcast_to(np.asarray(np.inf if high is None else high, np.float64).ravel(), x.shape)
    if not ((lo <= x) & (x <= hi)).all():
        raise InputError("oracle input: expected a point of the box, got one outside")
    return lo, hi


def distance_to_hyperplane(x: Floats, w: Floats, level: float, lo: Floats, hi: Floats) -> float:
    """min |y - x| over y in the box with w.y = level, infinity if there is none; x in the box.

    The nearest point is y(t) = clip(x + t w) for some t of the sign of level - w.x (the conditions of Kuhn and Tucker),
    and w.y(t) never falls in t. It is linear between the t at which coordinates reach the box, so the piece that
    contains the level is found by sorting those and solved exactly.
    """
    missing = level - w @ x
    if missing == 0:
        return 0.0
    v = w * np.sign(missing)
    moving = v != 0
    v, room = v[moving], np.where(v > 0, hi - x, x - lo)[moving]
    reach = room / np.abs(v)  # the t at which each coordinate stops
    order = np.argsort(reach)
    reach, squares = reach[order], (v * v)[order]
    free = np.cumsum(squares[::-1])[::-1]  # growth of w.y per unit of t while coordinates i, i+1, ... still move
    stops = np.isfinite(reach)
    at_stop = np.full(len(reach), np.inf)  # the growth of w.y when coordinate i stops
    at_stop[stops] = np.cumsum(free[stops] * np.diff(reach[stops], prepend=0.0))
    piece = int(np.searchsorted(at_stop, abs(missing)))
    if piece == len(reach):
        return float("inf")
    start, gained = (reach[piece - 1], at_stop[piece - 1]) if piece else (0.0, 0.0)
    t = start + (abs(missing) - gained) / free[piece]
    return float(np.linalg.norm(np.minimum(t * np.abs(v), room)))
