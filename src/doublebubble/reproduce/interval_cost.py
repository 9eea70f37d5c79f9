"""Time of Goodman's and of Sison and Glaz' intervals, with and without merging rare classes (appendix, first section).

The publication found the intervals to take most of the time where many classes have few votes, and merges classes of
fewer than 5 votes into one. Times are of this machine; what merging does to the radius is shown beside them.
"""

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from doublebubble.bounds import goodman, sison_glaz
from doublebubble.bounds.asymptotic import AsymptoticBounds
from doublebubble.config import Settings
from doublebubble.geometry import cohen_radius
from doublebubble.report.tables import Table
from doublebubble.reproduce.laboratory import Laboratory
from doublebubble.reproduce.looking import keep
from doublebubble.reproduce.results import Results
from doublebubble.streams import Stream
from doublebubble.types import Counts

SOURCE = "The appendix's remark on the time that simultaneous confidence intervals take (its first section)."
KEPT = "interval-cost"
"""The stem of the file of times, among the simulations."""
CLASSES = (10, 200)
_INTERVALS: tuple[tuple[str, Callable[[Counts, float, bool], AsymptoticBounds]], ...] = (
    ("Goodman", goodman),
    ("Sison-Glaz", sison_glaz),
)


class Timed(Settings):
    """The median time of one interval on so many classes."""

    classes: int
    interval: str
    merged: bool
    milliseconds: float


class IntervalCost(Settings):
    """What was measured, for the page that compares it with the time of drawing."""

    draws: int
    times: tuple[Timed, ...]


def run(lab: Laboratory) -> Results:
    """Time every interval on the same votes."""
    scale = lab.scale
    rows, took = [], []
    for classes in CLASSES:
        votes = typical_votes(classes, scale.interval_draws)
        rare = int((votes < 5).sum())
        for name, interval in _INTERVALS:
            for merge in (False, True):
                times = []
                for _ in range(scale.interval_repeats):
                    begin = time.perf_counter()
                    bounds = interval(votes, scale.alpha, merge)
                    times.append(1000 * (time.perf_counter() - begin))
                low, high = float(bounds.lower[0]), float(bounds.upper[1:].max())
                radius = max(0.0, cohen_radius(low, high, 1.0))
                took.append(Timed(classes=classes, interval=name, merged=merge, milliseconds=median(times)))
                cells = [str(classes), name, "yes" if merge else "no", f"{median(times):.3g}", f"{min(times):.3g}"]
                rows.append((*cells, f"{low:.4f}", f"{high:.4f}", f"{radius:.3f}", str(rare)))
    keep(lab.out / "simulations" / f"{KEPT}.json", IntervalCost(draws=scale.interval_draws, times=tuple(took)))
    caption = (
        f"Time of simultaneous confidence intervals at alpha {scale.alpha:g} on {scale.interval_draws} votes, "
        f"and the radius that they give in units of sigma; repetitions: {scale.interval_repeats}. Both intervals are "
        "asymptotic: they hold with probability about 1 - alpha as the number of draws grows. Protocol paper, which "
        "uses Goodman's, looks many times and keeps the best: its radii are not guaranteed at any level."
    )
    columns = (
        "classes",
        "interval",
        "merged",
        "median ms",
        "least ms",
        "lower bound of A",
        "upper bound of others",
        "radius / sigma",
        "classes below 5 votes",
    )
    return Results(SOURCE, tables=(("interval-cost", Table(caption, columns, tuple(rows))),))


def typical_votes(classes: int, draws: int) -> Counts:
    """Votes with a leading class, a few rivals, and a long tail of classes with hardly any.

    The k-th class has probability proportional to k^-3; class 0 leads by far.
    """
    weights = 1 / np.arange(1.0, classes + 1) ** 3
    stream = Stream(0, classes, "audit", "interval_cost")
    return stream.generator().multinomial(draws, weights / weights.sum()).astype(np.int64)
