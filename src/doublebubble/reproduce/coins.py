"""A classifier that votes by coins: the same class probabilities wherever the input is moved, so nothing to gain.

By Fact L of docs/math.md a ball elsewhere covers no more than the ball here where the true radius is the same at all
points. A search that reports a gain on coins reports the luck of its draws.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from doublebubble.errors import SettingError

_FREQUENCY = 200.0  # turns of the wheel for each unit of the input


class Coins(nn.Module):
    """Votes for class k with probability p_k under Gaussian noise about any point, independently for each draw.

    The sum of the input's numbers, times the frequency, turns a wheel whose arcs have the lengths p_k. Under noise of
    scale sigma in d dimensions the position differs from uniform by less than 3 exp(-2 pi^2 frequency^2 sigma^2 d), so
    for sigma of 0.05 or more by nothing that a double can hold. Votes of the same noise at two points are not
    independent: the published search makes fresh noise at each look.
    """

    edges: Tensor

    def __init__(self, p: npt.ArrayLike) -> None:
        """Shares of the classes; they are scaled to sum to 1."""
        super().__init__()
        shares = np.asarray(p, np.float64)
        if shares.ndim != 1 or len(shares) < 2 or not (shares >= 0).all() or not shares.sum() > 0:
            raise SettingError(f"coins: expected a share >= 0 for each of at least 2 classes, got {p!r:.200}")
        self.num_classes = len(shares)
        self.register_buffer("edges", torch.from_numpy(np.cumsum(shares / shares.sum())[:-1]))
        self.eval()

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits (batch, classes): 1 for the class whose arc the wheel stops at, 0 for the others."""
        position = torch.remainder(_FREQUENCY * inputs.reshape(len(inputs), -1).double().sum(1), 1.0)
        return nn.functional.one_hot(torch.bucketize(position, self.edges, right=True), self.num_classes).to(inputs)
