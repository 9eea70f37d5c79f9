"""Sums and square roots with a proven bound on what rounding does to them. Numpy only."""

import math

import numpy as np

from doublebubble.types import Floats


def levels(size: int) -> int:
    """Additions that any one term of `fold_sum` goes through."""
    return max(0, size - 1).bit_length()


def fold_sum(terms: Floats) -> float:
    """The sum by halving: within levels(len) * 2^-52 * sum |terms| of the exact one, whatever numpy does inside."""
    folded, size = np.array(terms, dtype=np.float64), len(terms)
    while size > 1:
        half = (size + 1) // 2
        folded[: size - half] += folded[half:size]
        size = half
    return float(folded[0]) if size else 0.0


def sqrt_down(value: float) -> float:
    """A float whose exact square is at most `value`; 0 if value <= 0."""
    return math.nextafter(math.sqrt(value), 0.0) if value > 0.0 else 0.0
