"""Whether what a claim says is so on the inputs that were run, by more than chance: yes, no, or undecided.

Numbers with their bands in, one word for the page on claims out.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from doublebubble.report.measures import REPORTED, Estimate, improvements, mean, median, proportion, radii_of
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.runs.statistics import BAND_ALPHA

Trial = bool | None
"""Borne out, refuted, or None where chance explains either."""


def beyond(found: Estimate, limit: float) -> Trial:
    """Whether the number is above the limit, by its 95 % band; few inputs have no band and decide nothing."""
    if found.low is not None and found.low > limit:
        return True
    return False if found.high is not None and found.high <= limit else None


def improved_share(table: pd.DataFrame) -> Estimate | None:
    """The share of inputs with a Cohen radius whose reported radius is above it, with Clopper and Pearson's band."""
    _, gain = improvements(table, REPORTED)
    return proportion(int((gain > 0).sum()), len(gain)) if len(gain) else None


def mean_gain_percent(table: pd.DataFrame) -> Estimate | None:
    """The mean gain in percent, with Student's band."""
    _, gain = improvements(table, REPORTED)
    return mean(gain) if len(gain) else None


def median_grows(earlier: pd.DataFrame, later: pd.DataFrame) -> Trial:
    """Whether gains in percent are larger in the later table: the median change on the inputs that both have."""
    before, after = _gains(earlier), _gains(later)
    both = sorted(before.keys() & after.keys())
    return beyond(median([after[index] - before[index] for index in both]), 0.0) if both else None


def wins_more(earlier: pd.DataFrame, later: pd.DataFrame, method: str, methods: Sequence[str]) -> Trial:
    """Whether a method is the largest on more inputs in the later table: the exact sign test where the two differ."""
    before, after = _wins(earlier, method, methods), _wins(later, method, methods)
    both = before.keys() & after.keys()
    more = sum(after[index] > before[index] for index in both)
    less = sum(after[index] < before[index] for index in both)
    if not more + less or binomtest(more, more + less).pvalue > BAND_ALPHA:
        return None
    return more > less


def verdict(tries: Iterable[Trial], where: str = "") -> str:
    """Whether every try bears a claim out, none does, none decides; else how many of each.

    `where` says on what it was tried, if that is not what the claim is of.
    """
    found = list(tries)
    if not found:
        return NOT_RUN
    counts = {word: found.count(one) for word, one in (("yes", True), ("no", False), ("undecided", None))}
    there = [word for word, count in counts.items() if count]
    word = there[0] if len(there) == 1 else ", ".join(f"{counts[word]} {word}" for word in there)
    return f"{word}, {where}" if where else word


def _gains(table: pd.DataFrame) -> Mapping[int, float]:
    rows = table[(table["selected"] == table["label"]) & (table["radius_cohen"].fillna(0.0) > 0)]
    _, gain = improvements(table, REPORTED)
    return dict(zip(rows["index"].tolist(), gain.tolist(), strict=True))


def _wins(table: pd.DataFrame, method: str, methods: Sequence[str]) -> Mapping[int, bool]:
    """Of every correctly predicted input whether the method's radius is the largest, simpler ones first in ties."""
    radii = np.stack([radii_of(table, name) for name in methods])
    right = (table["selected"] == table["label"]).to_numpy() & (radii.max(0) > 0)
    won = radii.argmax(0) == list(methods).index(method)
    return dict(zip(table["index"].to_numpy()[right].tolist(), won[right].tolist(), strict=True))
