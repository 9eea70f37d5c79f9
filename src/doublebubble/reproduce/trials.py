"""Whether what a claim says is so on the inputs that were run, by more than chance: yes, no, or undecided.

Numbers with their bands in, a few words for the page on claims out.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from doublebubble.report.measures import REPORTED, Estimate, improvements, median, radii_of
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.runs.statistics import BAND_ALPHA

Trial = bool | None
"""Borne out, refuted, or None where chance explains either."""


def beyond(found: Estimate, limit: float) -> Trial:
    """Whether the number is above the limit, by its 95 % band; few inputs have no band and decide nothing."""
    if found.low is not None and found.low > limit:
        return True
    return False if found.high is not None and found.high <= limit else None


def agreed(said: Iterable[Trial]) -> Trial:
    """What all of them say; nothing is decided where they differ."""
    found = set(said)
    return found.pop() if len(found) == 1 else None


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


def in_a_word(tries: Iterable[Trial]) -> str:
    """Whether every try bears a claim out, none does, or none decides; else how many of each."""
    found = list(tries)
    counts = {word: found.count(one) for word, one in (("yes", True), ("no", False), ("undecided", None))}
    there = [word for word, count in counts.items() if count]
    if len(there) < 2:
        return there[0] if there else NOT_RUN
    return ", ".join(f"{counts[word]} {word}" for word in there)


def verdict(by_study: Mapping[str, Iterable[Trial]]) -> str:
    """The same for each study, those of which the same is said together; those without a try are left out."""
    said = dict[str, list[str]]()
    for study, tries in by_study.items():
        word = in_a_word(tries)
        if word != NOT_RUN:
            said.setdefault(word, []).append(study)
    return "; ".join(f"{word} on {', '.join(studies)}" for word, studies in said.items()) or NOT_RUN


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
