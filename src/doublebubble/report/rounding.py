"""Numbers as people read them, alike on the page and on the terminal. Intervals are rounded outward, radii down."""

import math

from doublebubble.runs.record import floor_radius
from doublebubble.runs.statistics import CertifiedAccuracy


def percent(count: int, n: int) -> str:
    """A fraction of inputs, to the nearest tenth of a per cent, halves up: in integers, so the scripts agree."""
    tenths = (2000 * count + n) // (2 * n)
    return f"{tenths // 10}.{tenths % 10} %"


def interval(point: CertifiedAccuracy) -> str:
    """The Clopper-Pearson interval, rounded outward to tenths of a per cent."""
    low, high = math.floor(point.low * 1000), math.ceil(point.high * 1000)
    return f"{low // 10}.{low % 10} to {high // 10}.{high % 10} %"


def length(radius: float) -> str:
    """A radius with 4 decimals, rounded down."""
    return f"{math.floor(floor_radius(radius) * 10_000 + 1e-6) / 10_000:.4f}"
