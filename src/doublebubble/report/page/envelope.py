"""Which sigma for which radius: runs that differ in sigma, the best of them at every radius, and how sure that is."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from doublebubble.report.page.steps import Steps, certified_radii
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import Run


@dataclass(frozen=True)
class Piece:
    """Radii, rising, at which one run certifies most, and how many inputs it certifies there.

    The piece holds from above `after` up to its last radius.
    """

    run: int
    after: float
    radii: tuple[float, ...]
    certified: tuple[int, ...]


@dataclass(frozen=True)
class Choice:
    """The best run at a radius, the next best, and the p-value of the exact paired test between the two."""

    radius: float
    best: int
    certified: int
    second: int
    second_certified: int
    p_value: float


def comparable(runs: Sequence[Run]) -> list[list[int]]:
    """Groups of runs, by position, over which an envelope makes sense, each in rising order of sigma.

    They have the same inputs of the same data, protocol and level, and at least two sigmas.
    """
    groups: dict[object, list[tuple[float, int]]] = {}
    for number, run in enumerate(runs):
        if isinstance(spec := run.spec, RunSpec):
            inputs = frozenset(record.index for record in run.records)
            key = (spec.data_digest, inputs, spec.config.protocol, spec.config.alpha, spec.simultaneous)
            groups.setdefault(key, []).append((spec.sigma, number))
    several = [sorted(group) for group in groups.values() if len({sigma for sigma, _ in group}) > 1]
    return [[number for _, number in group] for group in several]


def envelope(curves: Sequence[Steps]) -> list[Piece]:
    """The largest number of certified inputs at every radius, in pieces by the curve it belongs to.

    Of equal curves the first counts. The best is chosen radius by radius on the same inputs, so the whole is a guide
    to choosing and no certificate of any one classifier.
    """
    radii = np.unique(np.concatenate([curve.radii for curve in curves]))
    counts = np.array([curve.at(radii) for curve in curves])
    best = counts.argmax(axis=0)
    cuts = [0, *(np.flatnonzero(np.diff(best)) + 1).tolist(), len(radii)]
    pieces = []
    for begin, end in itertools.pairwise(cuts):
        chosen = int(best[begin])
        after = float(radii[begin - 1]) if begin else 0.0
        values = tuple(int(count) for count in counts[chosen, begin:end])
        pieces.append(Piece(chosen, after, tuple(radii[begin:end].tolist()), values))
    return pieces


def choose(tables: Sequence[pd.DataFrame], radius: float) -> Choice:
    """The table that certifies most inputs at a radius against the next: are they told apart on these inputs?

    Of the inputs that exactly one of the two certifies, each is as likely to be certified by either if neither is
    better; the p-value is that of the exact two-sided test. Tables hold the same inputs in the same order.
    """
    certified = np.array([certified_radii(table) >= radius for table in tables])
    ranked = np.argsort(-certified.sum(axis=1), kind="stable")
    best, second = int(ranked[0]), int(ranked[1])
    only_best = int((certified[best] & ~certified[second]).sum())
    only_second = int((certified[second] & ~certified[best]).sum())
    p_value = float(binomtest(only_best, only_best + only_second).pvalue) if only_best + only_second else 1.0
    return Choice(radius, best, int(certified[best].sum()), second, int(certified[second].sum()), p_value)
