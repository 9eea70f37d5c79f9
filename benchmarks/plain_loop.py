"""Cohen's radius as the scripts of 2019 compute it: noise for a batch, argmax, counts in numpy, one binomial bound.

Written for comparison: it draws from torch's global generator, checks nothing, and prepares nothing.
"""

import math

import numpy as np
import torch
from scipy.stats import beta, norm
from torch import Tensor, nn

from doublebubble.types import Counts

BATCH = 1000
"""Rows of a batch, as those scripts have it."""


def plain_loop(model: nn.Module, x: Tensor, sigma: float, n0: int, n: int, alpha: float) -> tuple[int, float]:
    """The class and the radius of one input; 0 where the class has no majority."""
    top = int(_counts(model, x, sigma, n0).argmax())
    hits = int(_counts(model, x, sigma, n)[top])
    lower = float(beta.ppf(alpha, hits, n - hits + 1)) if hits else 0.0
    return top, sigma * float(norm.ppf(lower)) if lower > 0.5 else 0.0


def _counts(model: nn.Module, x: Tensor, sigma: float, n: int) -> Counts:
    counts: Counts | None = None
    with torch.no_grad():
        for number in range(math.ceil(n / BATCH)):
            rows = min(BATCH, n - number * BATCH)
            batch = x.repeat((rows, *(1,) * x.dim()))
            logits = model(batch + sigma * torch.randn_like(batch))
            counts = np.zeros(logits.shape[1], np.int64) if counts is None else counts
            for label in logits.argmax(1).numpy():
                counts[label] += 1
    assert counts is not None
    return counts
