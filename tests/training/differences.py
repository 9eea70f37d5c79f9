"""A loss and its gradient, slowly: central differences in high precision."""

from collections.abc import Callable

import mpmath as mp
import numpy as np
from torch import Tensor

SlowLoss = Callable[[list[list[list[mp.mpf]]], list[int], float, float], mp.mpf]


def slow_with_gradient(
    slow_loss: SlowLoss, logits: Tensor, labels: Tensor, first: float, second: float
) -> tuple[float, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Value, and central differences with a step that 50 digits allow; `first` and `second` are the loss's settings."""
    with mp.workdps(50):
        z = [[[mp.mpf(v) for v in row] for row in draws] for draws in logits.tolist()]
        value = slow_loss(z, labels.tolist(), first, second)
        gradient = np.zeros(logits.shape)
        step = mp.mpf(10) ** -18
        for at in np.ndindex(*logits.shape):
            i, j, k = at
            kept = z[i][j][k]
            z[i][j][k] = kept + step
            above = slow_loss(z, labels.tolist(), first, second)
            z[i][j][k] = kept - step
            below = slow_loss(z, labels.tolist(), first, second)
            z[i][j][k] = kept
            gradient[at] = float((above - below) / (2 * step))
        return float(value), gradient
