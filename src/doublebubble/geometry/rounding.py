"""Sums and square roots with a proven bound on what rounding does to them. Numpy only."""

import math

from doublebubble.types import Floats


def levels(size: int) -> int:
    """Additions that any one term of `fold_sum` goes through."""
    return max(0, size - 1).bit_length()


def fold_sum(terms: Floats) -> float:
    """The sum by halving, in place: within levels(len) * 2^-52 * sum |terms| of the exact one. Overwrites `terms`."""
    size = len(terms)
    while size > 1:
        half = (size + 1) // 2
        terms[: size - half] += terms[half:size]
        size = half
    return float(terms[0])


def sqrt_down(value: float) -> float:
    """A float whose exact square is at most `value`; 0 if value <= 0."""
    return math.nextafter(math.sqrt(value), 0.0) if value > 0.0 else 0.0
