"""The cells of the page on claims: measures of a run's table, and their words by sigma, gradient and study."""

from collections.abc import Callable, Iterable, Sequence

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
Say = Callable[[pd.DataFrame], str | None]
Parts = list[tuple[str, str]]
_ARROW = " → "


def said(measure: Measure, form: str) -> Say:
    """The measure of a table in words."""

    def words(table: pd.DataFrame) -> str | None:
        value = measure(table)
        return None if value is None else form.format(value)

    return words


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


def over(evidence: Evidence, study: Study, say: Say, sigmas: Iterable[float]) -> Parts:
    """What is said by sigma under `paper`: approximate / full gradients, and on how many inputs."""
    parts = []
    for sigma in sigmas:
        parts.append((f"sigma {sigma:g}", _pair(evidence.published, study, sigma, say)))
        if study.wide:
            parts.append((f"thrifty form, sigma {sigma:g}", _pair(evidence.thrifty, study, sigma, say)))
    return of_study(study, parts)


def _pair(
    held: Callable[[Study, float, GradientKind], pd.DataFrame | None], study: Study, sigma: float, say: Say
) -> str:
    tables = [held(study, sigma, gradient) for gradient in GRADIENTS]
    there = [table for table in tables if table is not None]
    if not there:
        return NOT_RUN
    return " / ".join(_words(table, say) for table in tables) + f" ({_counts(there)} of {len(there[0])} inputs)"


def sound_over(evidence: Evidence, study: Study, say: Say, sigmas: Iterable[float]) -> Parts:
    """What is said by sigma under `sound`, full gradients, and on how many inputs."""
    parts = []
    for sigma in sigmas:
        table = evidence.sound(study, sigma)
        more = "" if table is None else f" ({counted(table)} of {len(table)} inputs)"
        parts.append((f"sigma {sigma:g}", _words(table, say) + more))
    return of_study(study, parts)


def in_brief(evidence: Evidence, study: Study, say: Say, sigmas: Sequence[float]) -> tuple[Parts, Parts]:
    """The same in a line: the published form by both gradients, and `sound`; arrows lead from sigma to sigma."""
    ends = f"sigma {sigmas[0]:g}" + (f" to {sigmas[-1]:g}" if len(sigmas) > 1 else "")
    sides: list[list[list[pd.DataFrame | None]]] = [
        [[evidence.published(study, sigma, gradient) for sigma in sigmas] for gradient in GRADIENTS],
        [[evidence.sound(study, sigma) for sigma in sigmas]],
    ]
    return _line(f"{study.name}, {ends}", sides[0], say), _line(f"{study.name}, {ends}", sides[1], say)


def _line(label: str, rows: list[list[pd.DataFrame | None]], say: Say) -> Parts:
    there = [table for row in rows for table in row if table is not None]
    if not there:
        return [(label, NOT_RUN)]
    words = " / ".join(_ARROW.join(_words(table, say) for table in row) for row in rows)
    return [(label, f"{words} ({_counts(there)} inputs)")]


def _counts(tables: Iterable[pd.DataFrame]) -> str:
    """Of how many inputs the tables are: one number, or the least and the most."""
    counts = [counted(table) for table in tables]
    return str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _words(table: pd.DataFrame | None, say: Say) -> str:
    return NOT_RUN if table is None else say(table) or NOT_RUN


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
