"""Which sigma for which radius: runs that differ in sigma, the best of them at every radius, and how sure that is."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from doublebubble.report.page.steps import Steps, certified_radii
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun


@dataclass(frozen=True)
class Stretch:
    """Radii, rising, at which one run certifies most, and how many inputs it certifies there.

    The stretch goes from above `after` up to its last radius.
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


@dataclass(frozen=True)
class Group:
    """Runs, by position and in rising order of sigma, and the inputs that every one of them has finished."""

    runs: tuple[int, ...]
    inputs: tuple[int, ...]


def comparable(runs: Sequence[StoredRun]) -> tuple[list[Group], list[tuple[int, ...]]]:
    """Groups of runs over which an envelope makes sense, and sets of runs that one group should but cannot hold.

    Runs of a group have the same data, protocol with its form, and level, at least two sigmas, and inputs that all have
    finished. A run joins the first group with which it shares an input that all in it share; where that makes several
    groups of runs that are otherwise alike, no input is finished in all of those.
    """
    alike: dict[object, list[int]] = {}
    for number, run in enumerate(runs):
        if isinstance(spec := run.spec, RunSpec):
            key = (spec.data_digest, spec.config.protocol, spec.config.thrifty, spec.config.alpha, spec.simultaneous)
            alike.setdefault(key, []).append(number)
    several = [numbers for numbers in alike.values() if len({_sigma(runs[number]) for number in numbers}) > 1]
    groups, apart = [], []
    for numbers in several:
        split = _split(runs, numbers)
        groups += [group for group in split if len({_sigma(runs[number]) for number in group.runs}) > 1]
        if len(split) > 1:
            apart.append(tuple(numbers))
    return groups, apart


def _split(runs: Sequence[StoredRun], numbers: Sequence[int]) -> list[Group]:
    """The runs in as few groups as come of taking them one by one, each with the inputs that its runs share."""
    found: list[tuple[list[int], set[int]]] = []
    for number in numbers:
        finished = {record.index for record in runs[number].records}
        for members, common in found:
            if common & finished:
                members.append(number)
                common &= finished
                break
        else:
            found.append(([number], finished))
    order = [sorted(members, key=lambda number: (_sigma(runs[number]), number)) for members, _ in found]
    return [Group(tuple(members), tuple(sorted(common))) for members, (_, common) in zip(order, found, strict=True)]


def _sigma(run: StoredRun) -> float:
    return run.spec.sigma if isinstance(run.spec, RunSpec) else 0.0


def common_tables(tables: Sequence[pd.DataFrame], inputs: Sequence[int]) -> list[pd.DataFrame]:
    """The rows of these inputs from every table; tables have their rows in rising order of input, and keep it."""
    return [table[table["index"].isin(inputs)] for table in tables]


def envelope(curves: Sequence[Steps]) -> list[Stretch]:
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
        pieces.append(Stretch(chosen, after, tuple(radii[begin:end].tolist()), values))
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
