"""The cells of the page on claims: measures of a run's table, and their words by sigma, gradient and study."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from doublebubble import registry
from doublebubble.report.measures import (
    REPORTED,
    gain_in_sum,
    improvements,
    mean_seconds,
    method_view,
    winners,
    worked_on,
)
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import GRADIENTS
from doublebubble.reproduce.scales import Study
from doublebubble.reproduce.timing import timing_wishes
from doublebubble.runs.statistics import average_radius, certified_accuracy
from doublebubble.types import GradientKind

NOT_RUN = "not run"
Measure = Callable[[pd.DataFrame], float | None]
Parts = list[tuple[str, str]]
_ARROW, _PERCENT = "\u00a0→ ", "\u00a0%"  # lines of a narrow cell break after an arrow, and nowhere within a number


@dataclass(frozen=True)
class Shown:
    """A measure, and how it is written: its number, a unit, and a word before it if there is one."""

    measure: Measure
    number: str
    unit: str
    word: str = ""

    def said(self, tables: Iterable[pd.DataFrame | None]) -> str | None:
        """The measure of a table, or the least and the most of several; nothing if none has it."""
        found = [value for table in tables if table is not None and (value := self.measure(table)) is not None]
        if not found:
            return None
        words = dict.fromkeys(self.number.format(value) for value in (min(found), max(found)))
        return f"{self.word}{' to '.join(words)}{self.unit}"


def share(measure: Measure, after: str = "") -> tuple[Shown, ...]:
    """A share, in percent."""
    return (Shown(lambda table: None if (part := measure(table)) is None else 100 * part, "{:.0f}", f"%{after}"),)


def percents(**measures: Measure) -> tuple[Shown, ...]:
    """Gains in percent, each under its name; the first needs none."""
    words = ["", *(f"{name.replace('_', ' ')} " for name in list(measures)[1:])]
    return tuple(Shown(measure, "{:+z.1f}", " %", word) for word, measure in zip(words, measures.values(), strict=True))


def share_improved(table: pd.DataFrame) -> float | None:
    """The part of correctly predicted inputs whose reported radius is above Cohen's."""
    _, gain = improvements(table, REPORTED)
    return float((gain > 0).mean()) if len(gain) else None


def mean_percent(table: pd.DataFrame) -> float | None:
    """The mean gain of the reported radius over Cohen's, in percent."""
    _, gain = improvements(table, REPORTED)
    return float(gain.mean()) if len(gain) else None


def percent_in_sum(table: pd.DataFrame) -> float | None:
    """By how many percent the reported radii exceed Cohen's in sum."""
    gain = gain_in_sum(table, REPORTED, table)
    return None if gain is None else gain.value


def median_percent(table: pd.DataFrame) -> float | None:
    """The median of the same."""
    _, gain = improvements(table, REPORTED)
    return float(np.median(gain)) if len(gain) else None


def share_won(table: pd.DataFrame, method: str) -> float | None:
    """The part of correctly predicted inputs on which a method is largest, of all that the run was asked for."""
    found = winners(table, [name for name in registry.names() if f"radius_{name}" in table])
    return found[method].value if method in found else None


def counted(table: pd.DataFrame) -> int:
    """How many inputs are correctly predicted and have a Cohen radius, so that a gain over it can be told."""
    return len(improvements(table, REPORTED)[0])


def hardest(evidence: Evidence) -> Study:
    """CIFAR-10 if the scale has it."""
    return next((s for s in evidence.scale.studies if s.dataset == "cifar10"), evidence.scale.studies[0])


def easiest(evidence: Evidence) -> Study:
    """The first study, which has the most sigmas."""
    return evidence.scale.studies[0]


def measured(
    evidence: Evidence, study: Study, measure: Measure, sigmas: Iterable[float], gradient: GradientKind
) -> list[float]:
    """The measure under `paper` at every sigma at which there is one."""
    tables = [evidence.published(study, sigma, gradient) for sigma in sigmas]
    found = [measure(table) for table in tables if table is not None]
    return [value for value in found if value is not None]


def over(evidence: Evidence, study: Study, shown: Sequence[Shown], sigmas: Iterable[float]) -> Parts:
    """What is shown by sigma under `paper`: approximate / full gradients, and on how many inputs."""
    parts = []
    for sigma in sigmas:
        parts.append((f"sigma {sigma:g}", _pair(evidence.published, study, sigma, shown)))
        if study.wide:
            parts.append((f"thrifty form, sigma {sigma:g}", _pair(evidence.thrifty, study, sigma, shown)))
    return of_study(study, parts)


def _pair(
    held: Callable[[Study, float, GradientKind], pd.DataFrame | None],
    study: Study,
    sigma: float,
    shown: Sequence[Shown],
) -> str:
    tables = [held(study, sigma, gradient) for gradient in GRADIENTS]
    there = [table for table in tables if table is not None]
    if not there:
        return NOT_RUN
    return " / ".join(_words([table], shown) for table in tables) + f" ({_counts(there)} of {len(there[0])} inputs)"


def sound_over(evidence: Evidence, study: Study, shown: Sequence[Shown], sigmas: Iterable[float]) -> Parts:
    """What is shown by sigma under `sound`, full gradients, and on how many inputs."""
    parts = []
    for sigma in sigmas:
        table = evidence.sound(study, sigma)
        more = "" if table is None else f" ({counted(table)} of {len(table)} inputs)"
        parts.append((f"sigma {sigma:g}", _words([table], shown) + more))
    return of_study(study, parts)


def in_brief(evidence: Evidence, study: Study, shown: Sequence[Shown], sigmas: Sequence[float]) -> tuple[Parts, Parts]:
    """The same in a line: the published form, by either kind of gradient, and `sound`; arrows lead to larger sigma."""
    published = [[evidence.published(study, sigma, gradient) for gradient in GRADIENTS] for sigma in sigmas]
    return _line(study, published, shown), _line(study, [[evidence.sound(study, sigma)] for sigma in sigmas], shown)


def _line(study: Study, by_sigma: list[list[pd.DataFrame | None]], shown: Sequence[Shown]) -> Parts:
    there = [table for tables in by_sigma for table in tables if table is not None]
    if not there:
        return [(study.name, NOT_RUN)]
    words = _ARROW.join(_words(tables, shown) for tables in by_sigma)
    return [(f"{study.name} ({_counts(there)})", words.replace(" %", _PERCENT))]


def _counts(tables: Iterable[pd.DataFrame]) -> str:
    """Of how many inputs the tables are: one number, or the least and the most."""
    counts = [counted(table) for table in tables]
    return str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _words(tables: Sequence[pd.DataFrame | None], shown: Sequence[Shown]) -> str:
    return ", ".join(one.said(tables) or NOT_RUN for one in shown)


def of_study(study: Study, parts: Parts) -> Parts:
    """The same parts under the study's name."""
    return [(f"{study.name}, {label}", words) for label, words in parts]


def cell(parts: Parts) -> str:
    """Parts of a cell, one below the other; what was not run is named at the end, and is all there is if none was."""
    found = [f"{label}: {words}" for label, words in parts if words != NOT_RUN]
    missing = [label for label, words in parts if words == NOT_RUN]
    if not found:
        return NOT_RUN
    return "<br>".join([*found, *([f"{NOT_RUN}: {'; '.join(missing)}"] if missing else [])])


def unless_missing(cell: str, sentence: str) -> str:
    """The sentence, if the cell has any number to speak of."""
    return NOT_RUN.capitalize() if cell == NOT_RUN else sentence


def radius_change(ours: pd.DataFrame | None, theirs: pd.DataFrame | None) -> float | None:
    """By how many percent Cohen's average radius of the one model exceeds that of the other, over all inputs."""
    if ours is None or theirs is None:
        return None
    mine, base = (average_radius(method_view(table, "cohen")) for table in (ours, theirs))
    return 100 * (mine / base - 1) if base > 0 else None


def points_added(table: pd.DataFrame) -> tuple[float, float]:
    """Percentage points of certified accuracy that the reported radius has over Cohen's: on average, and the most.

    Both over radii up to the largest.
    """
    top = float(table["radius"].fillna(0.0).max())
    radii = np.linspace(0.0, top, 41)[1:-1].tolist() if top > 0 else [0.0]
    base = method_view(table, "cohen")
    pairs = zip(certified_accuracy(table, radii), certified_accuracy(base, radii), strict=True)
    points = [100 * (mine.accuracy - theirs.accuracy) for mine, theirs in pairs]
    return float(np.mean(points)), max(points)


def looks_of(evidence: Evidence, study: Study, gradient: GradientKind) -> tuple[float, float] | None:
    """How many looks of n draws a timed search of `single` under `paper` makes, and the seconds of one."""
    (wanted,) = (
        wish
        for wish in timing_wishes(evidence.scale, study)
        if (wish.protocol, wish.methods, wish.gradient) == ("paper", ("single",), gradient)
    )
    table = evidence.frame(wanted)
    seconds = None if table is None else mean_seconds(table)
    if table is None or seconds is None:
        return None
    looks = table.loc[worked_on(table), "draws"].mean() / wanted.draws
    return float(looks), seconds.value / float(looks)


def times_of(evidence: Evidence, study: Study, protocol: str) -> dict[str, float] | None:
    """Mean seconds of one input by column of the publication's table; None if a column is missing."""
    found = {}
    for wanted in timing_wishes(evidence.scale, study):
        if wanted.protocol == protocol:
            table = evidence.frame(wanted)
            seconds = None if table is None else mean_seconds(table)
            if seconds is None or wanted.methods is None:
                return None
            name = "Cohen" if wanted.methods == ("cohen",) else f"{wanted.methods[0]}, {wanted.gradient}"
            found[name] = seconds.value
    return found
