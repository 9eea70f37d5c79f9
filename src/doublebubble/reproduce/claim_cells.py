"""The cells of the page on claims: measures of a run's table, and their words by sigma, gradient and study."""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from doublebubble.report.measures import (
    REPORTED,
    gain_in_sum,
    improvements,
    mean_radius,
    mean_seconds,
    method_view,
    winners,
)
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import GRADIENTS
from doublebubble.reproduce.scales import Study
from doublebubble.reproduce.timing import timing_wishes
from doublebubble.runs.statistics import certified_accuracy
from doublebubble.types import GradientKind

NOT_RUN = "not run"
PAPER_METHODS = ("cohen", "single", "boundary", "double")
Measure = Callable[[pd.DataFrame], float | None]
Parts = list[tuple[str, str]]


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
    """The part of correctly predicted inputs on which a method of the publication is largest."""
    found = winners(table, PAPER_METHODS)
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


def by_sigma(
    evidence: Evidence,
    study: Study,
    measure: Measure,
    sigmas: Iterable[float],
    gradient: GradientKind,
) -> list[float] | None:
    """The measure at every sigma under `paper`; None if any is missing."""
    found = [None if (t := evidence.published(study, sigma, gradient)) is None else measure(t) for sigma in sigmas]
    kept = [value for value in found if value is not None]
    return kept if len(kept) == len(found) else None


def over(
    evidence: Evidence,
    study: Study,
    measure: Measure,
    form: str,
    sigmas: Iterable[float],
) -> Parts:
    """The measure by sigma under `paper`: approximate / full gradients, and on how many inputs."""
    parts = []
    for sigma in sigmas:
        parts.append((f"sigma {sigma:g}", _pair(evidence.published, study, sigma, measure, form)))
        if study.wide:
            parts.append((f"thrifty form, sigma {sigma:g}", _pair(evidence.thrifty, study, sigma, measure, form)))
    return parts


def _pair(
    held: Callable[[Study, float, GradientKind], pd.DataFrame | None],
    study: Study,
    sigma: float,
    measure: Measure,
    form: str,
) -> str:
    tables = [held(study, sigma, gradient) for gradient in GRADIENTS]
    there = [table for table in tables if table is not None]
    if not there:
        return NOT_RUN
    counts = " / ".join(dict.fromkeys(str(counted(table)) for table in there))
    return " / ".join(_words(table, measure, form) for table in tables) + f" ({counts} of {len(there[0])} inputs)"


def sound_over(
    evidence: Evidence,
    study: Study,
    measure: Measure,
    form: str,
    sigmas: Iterable[float],
) -> Parts:
    """The measure by sigma under `sound`, full gradients, and on how many inputs."""
    parts = []
    for sigma in sigmas:
        table = evidence.sound(study, sigma)
        more = "" if table is None else f" ({counted(table)} of {len(table)} inputs)"
        parts.append((f"sigma {sigma:g}", _words(table, measure, form) + more))
    return parts


def _words(table: pd.DataFrame | None, measure: Measure, form: str) -> str:
    value = None if table is None else measure(table)
    return NOT_RUN if value is None else form.format(value)


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


def trend(what: str, values: list[float]) -> str:
    """Whether the values grow at every step, in words."""
    steps = np.diff(values)
    if len(values) > 1 and (steps > 0).all():
        return f"{what} grows at every step."
    return f"{what} does not grow at every step ({', '.join(f'{value:.3g}' for value in values)})."


def macer_change(macer: pd.DataFrame | None, base: pd.DataFrame | None) -> float | None:
    """By how many percent Cohen's mean radius of the one model exceeds that of the other."""
    if macer is None or base is None:
        return None
    ours, theirs = mean_radius(macer, "cohen"), mean_radius(base, "cohen")
    if ours is None or theirs is None or theirs.value == 0:
        return None
    return 100 * (ours.value / theirs.value - 1)


def macer_words(gaussian: pd.DataFrame | None, macer: pd.DataFrame | None, long: pd.DataFrame | None) -> str:
    """MACER's mean radius of Cohen over Gaussian's at equal epochs and equal time; points that the search adds."""
    if macer is None:
        return NOT_RUN
    parts = []
    for name, base in (("equal epochs", gaussian), ("equal time", long)):
        change = macer_change(macer, base)
        found = NOT_RUN if change is None else f"Cohen's mean radius {change:+.1f} %"
        parts.append(f"against Gaussian of {name}: {found}")
    return "; ".join([*parts, f"the search adds {100 * points_added(macer):.1f} points"])


def points_added(table: pd.DataFrame) -> float:
    """The certified proportion by the reported radius less that by Cohen's, averaged over radii up to the largest."""
    top = float(table["radius"].fillna(0.0).max())
    radii = np.linspace(0.0, top, 41)[1:-1].tolist() if top > 0 else [0.0]
    base = method_view(table, "cohen")
    pairs = zip(certified_accuracy(table, radii), certified_accuracy(base, radii), strict=True)
    return float(np.mean([mine.accuracy - theirs.accuracy for mine, theirs in pairs]))


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
