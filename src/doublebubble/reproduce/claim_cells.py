"""The cells of the page on claims: measures in words, by sigma, gradient and study."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from doublebubble.report.measures import Estimate
from doublebubble.reproduce.claim_measures import counted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import GRADIENTS
from doublebubble.reproduce.same_inputs import beside_published, compared, longest_auto
from doublebubble.reproduce.scales import Study
from doublebubble.types import GradientKind

NOT_RUN = "not run"
Measure = Callable[[pd.DataFrame], Estimate | None]
Parts = list[tuple[str, str]]
_SPACE = "\u00a0"
_ARROW = f"{_SPACE}→ "  # lines of a narrow cell break after an arrow, and nowhere within a number


@dataclass(frozen=True)
class Shown:
    """A measure, and how it is written: its number so many times, a unit, and a word before it if there is one."""

    measure: Measure
    number: str
    unit: str
    word: str = ""
    times: int = 1

    def said(self, tables: Iterable[pd.DataFrame | None]) -> str | None:
        """The measure of a table, or the least and the most of several; nothing if none has it."""
        found = [one.value for table in tables if table is not None and (one := self.measure(table)) is not None]
        if not found:
            return None
        words = dict.fromkeys(self.number.format(self.times * value) for value in (min(found), max(found)))
        return f"{self.word}{' to '.join(words)}{self.unit}"


def share(measure: Measure, after: str = "") -> tuple[Shown, ...]:
    """A share, in percent."""
    return (Shown(measure, "{:.0f}", f"%{after}", times=100),)


def percents(**measures: Measure) -> tuple[Shown, ...]:
    """Gains in percent, each under its name; the first needs none."""
    words = ["", *(f"{name.replace('_', ' ')} " for name in list(measures)[1:])]
    return tuple(Shown(measure, "{:+z.1f}", " %", word) for word, measure in zip(words, measures.values(), strict=True))


def hardest(evidence: Evidence) -> Study:
    """CIFAR-10 if the scale has it."""
    return next((s for s in evidence.scale.studies if s.dataset == "cifar10"), evidence.scale.studies[0])


def easiest(evidence: Evidence) -> Study:
    """The first study, which has the most sigmas."""
    return evidence.scale.studies[0]


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


def sound_over(
    evidence: Evidence, study: Study, shown: Sequence[Shown], sigmas: Iterable[float], longest: bool
) -> Parts:
    """What is shown by sigma under `sound`: on the same inputs and on all, and, if asked, with most draws."""
    parts = []
    auto = longest_auto(study) if longest else None
    for sigma in sigmas:
        parts.append((f"sigma {sigma:g}", _single(beside_published(evidence, study, sigma), shown)))
        if study.has_more:
            parts.append((f"more inputs, sigma {sigma:g}", _single(evidence.sound(study, sigma), shown)))
        if auto is not None:
            table = beside_published(evidence, study, sigma, auto)
            parts.append((f"n = {spaced(auto.n)}, sigma {sigma:g}", _single(table, shown)))
            every = evidence.sound_on_all(study, sigma, auto) if study.has_more else None
            if every is not None:
                more = compared(evidence, every, study, sigma, auto)
                parts.append((f"n = {spaced(auto.n)}, more inputs, sigma {sigma:g}", _single(more, shown)))
    return of_study(study, parts)


def _single(table: pd.DataFrame | None, shown: Sequence[Shown]) -> str:
    return NOT_RUN if table is None else f"{_words([table], shown)} ({counted(table)} of {len(table)} inputs)"


def in_brief(
    evidence: Evidence, study: Study, shown: Sequence[Shown], sigmas: Sequence[float], longest: bool
) -> tuple[Parts, Parts]:
    """The same in a line: the published form, by either kind of gradient, and `sound`; arrows lead to larger sigma."""
    published = [[evidence.published(study, sigma, gradient) for gradient in GRADIENTS] for sigma in sigmas]
    there = [table for tables in published for table in tables if table is not None]
    name = f"{study.name} ({_counts(there)})" if there else study.name
    sound = _arrows([[beside_published(evidence, study, sigma)] for sigma in sigmas], shown)
    auto = longest_auto(study) if longest else None
    if auto is not None:
        more = _arrows([[beside_published(evidence, study, sigma, auto)] for sigma in sigmas], shown)
        if (sound, more) != (NOT_RUN, NOT_RUN):
            sound += f"; n = {spaced(auto.n).replace(' ', _SPACE)}: {more}"
    return [(name, _arrows(published, shown))], [(study.name, sound)]


def _arrows(by_sigma: Sequence[Sequence[pd.DataFrame | None]], shown: Sequence[Shown]) -> str:
    if all(table is None for tables in by_sigma for table in tables):
        return NOT_RUN
    return _ARROW.join(_words(tables, shown) for tables in by_sigma).replace(" %", f"{_SPACE}%")


def _counts(tables: Iterable[pd.DataFrame]) -> str:
    """Of how many inputs the tables are: one number, or the least and the most."""
    counts = [counted(table) for table in tables]
    return str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _words(tables: Sequence[pd.DataFrame | None], shown: Sequence[Shown]) -> str:
    return ", ".join(one.said(tables) or NOT_RUN for one in shown)


def spaced(n: int) -> str:
    """A number of draws as the pages write it: from five digits on in groups of three."""
    return str(n) if n < 10_000 else f"{n:,}".replace(",", " ")


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
