"""The publication's claims about what its search costs, and about its first step: from committed records alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from doublebubble.report.measures import Estimate, correct_gains, mean, mean_gain
from doublebubble.reproduce.answers import Answer, Brief, verdict
from doublebubble.reproduce.claim_cells import NOT_RUN, Parts, cell, looks_of, times_of, unless_missing
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.interval_cost import IntervalCost
from doublebubble.reproduce.laboratory import GRADIENTS, PUBLISHED_STEP, Wanted
from doublebubble.reproduce.scales import Study
from doublebubble.types import GradientKind

Times = dict[str, float]
_PUBLISHED_MULTIPLES = {
    "single, approximate": (8, 10),
    "double, approximate": (37, 48),
    "single, full": (24, 27),
    "double, full": (50, 66),
}
_PUBLISHED_LOOK = 0.12  # seconds: Cohen's on Tiny-ImageNet
_CLAIMED_LIMITS: dict[GradientKind, float] = {"approximate": 0.01, "full": 0.1}


def cheaper(evidence: Evidence) -> Answer:
    """Approximate gradients are more than four times cheaper than full ones."""

    def ratio(t: Times) -> float:
        return t["single, full"] / t["single, approximate"]

    return _times_answer(
        evidence,
        lambda t: f"{ratio(t):.1f} times cheaper" if ratio(t) >= 1 else f"{1 / ratio(t):.1f} times dearer",
        lambda t: [ratio(t) > 4],
        "By full gradients only draws with a slope are run backwards here, so that what a search costs is mostly its "
        f"number of looks (approximate / full): {_looks(evidence)}.",
    )


def _looks(evidence: Evidence) -> str:
    """How many looks a search of `single` takes, and how long one is, by both gradients."""
    parts = []
    for study in map(evidence.scale.study, evidence.scale.timed or evidence.scale.names):
        found = [one for gradient in GRADIENTS if (one := looks_of(evidence, study, gradient)) is not None]
        if len(found) == len(GRADIENTS):
            looks, seconds = (
                " / ".join(words) for words in zip(*((f"{n:.1f}", f"{s:.2f}") for n, s in found), strict=True)
            )
            parts.append(f"{looks} looks of {seconds} s on {study.name}")
    return ", ".join(parts) or NOT_RUN


def double_costs(evidence: Evidence) -> Answer:
    """Double costs relatively more for approximate gradients."""

    def ratios(t: Times) -> list[float]:
        return [t[f"double, {kind}"] / t[f"single, {kind}"] for kind in GRADIENTS]

    return _times_answer(
        evidence,
        lambda t: f"{ratios(t)[0]:.1f} x approximate, {ratios(t)[1]:.1f} x full",
        lambda t: [ratios(t)[0] > ratios(t)[1]],
        "The third ball is searched by autograd either way, so double weighs more beside the quicker single, which is "
        + _quicker(evidence),
    )


def _quicker(evidence: Evidence) -> str:
    """By which gradients single is the quicker, study by study."""
    quick: dict[GradientKind, list[str]] = {kind: [] for kind in GRADIENTS}
    for name, times in _timed(evidence, "paper").items():
        quick[min(GRADIENTS, key=lambda kind: times[f"single, {kind}"])].append(name)
    return " and ".join(f"that by {kind} gradients on {', '.join(on)}" for kind, on in quick.items() if on) + "."


def all_times(evidence: Evidence) -> Answer:
    """The table of times, as multiples of Cohen's."""

    def within(t: Times) -> list[bool]:
        return [low <= t[name] / t["Cohen"] <= high for name, (low, high) in _PUBLISHED_MULTIPLES.items()]

    published = ", ".join(f"{name} {low} to {high}" for name, (low, high) in _PUBLISHED_MULTIPLES.items())
    return _times_answer(
        evidence,
        lambda t: ", ".join(f"{name} {value / t['Cohen']:.1f}" for name, value in t.items() if name != "Cohen"),
        within,
        f"Published multiples of Cohen's time: {published}; here {evidence.scale.timing_inputs} inputs were timed on a "
        "processor, and most of the cost is how many looks the published stopping rule leaves.",
        lambda t: ", ".join(
            f"{method} {' / '.join(format(t[f'{method}, {kind}'] / t['Cohen'], '.1f') for kind in GRADIENTS)}"
            for method in ("single", "double")
        ),
    )


def first_steps(evidence: Evidence) -> Answer:
    """Approximate is sensitive to first steps above 0.01, full only above 0.1."""
    cells, kept, borne_out = Parts(), Parts(), list[bool]()
    for study in map(evidence.scale.study, evidence.scale.stepped):
        for gradient in GRADIENTS:
            tables = {step: _stepped(evidence, study, gradient, step) for step in evidence.scale.steps}
            gains = {step: None if table is None else mean_gain(table, "single") for step, table in tables.items()}
            words = [f"{s:g}: {NOT_RUN if gain is None else format(gain.value, '+.4f')}" for s, gain in gains.items()]
            there = any(gain is not None for gain in gains.values())
            cells.append((f"{study.name}, {gradient}", ", ".join(words) if there else NOT_RUN))
            losses = [one for step, table in tables.items() if (one := _loss(step, table, tables)) is not None]
            if len(losses) == len(tables):
                borne_out.append(sensitive_above(losses, _CLAIMED_LIMITS[gradient]))
                kept.append((f"{study.name}, {gradient}", _left(losses)))
    found = cell(cells)
    return Answer(
        found,
        "has no such step",
        unless_missing(
            found,
            "Mean gain of single transitivity over Cohen in L2, by first step, at sigma "
            f"{evidence.scale.step_sigma:g}. Sensitive means: less than at the published step, {PUBLISHED_STEP:g}, on "
            "the same inputs, by more than chance (Student's 95 % band).",
        ),
        Brief(verdict(borne_out, f"on {', '.join(evidence.scale.stepped)}"), cell(kept), "has no such step"),
    )


@dataclass(frozen=True)
class Loss:
    """What a first step gains on average more than the published one on the same inputs, and the part it keeps."""

    step: float
    more: Estimate
    kept: float

    @property
    def sure(self) -> bool:
        """Whether it gains less by more than chance."""
        return self.more.high is not None and self.more.high < 0


def _stepped(evidence: Evidence, study: Study, gradient: GradientKind, step: float) -> pd.DataFrame | None:
    return evidence.frame(Wanted(study, evidence.scale.step_sigma, "paper", gradient, first_step=step))


def _loss(step: float, table: pd.DataFrame | None, tables: Mapping[float, pd.DataFrame | None]) -> Loss | None:
    published = tables.get(PUBLISHED_STEP)
    if table is None or published is None:
        return None
    mine, base = (correct_gains(one, "single") for one in (table, published))
    both = sorted(mine.keys() & base.keys())
    if not both or not sum(base[index] for index in both) > 0:
        return None
    gains, least = ([one[index] for index in both] for one in (mine, base))
    return Loss(step, mean([a - b for a, b in zip(gains, least, strict=True)]), sum(gains) / sum(least))


def _left(losses: list[Loss]) -> str:
    """What is left of the gain where less is, by more than chance."""
    words = [f"{one.kept:.0%} left at {one.step:g}" for one in losses if one.sure]
    return f"{', '.join(words) or 'no loss seen'} ({losses[0].more.n} inputs)"


def sensitive_above(losses: Sequence[Loss], limit: float) -> bool:
    """Whether no step up to the limit surely gains less than the published one, and some step above it does."""
    below, above = ([one.sure for one in losses if (one.step <= limit) is side] for side in (True, False))
    return not any(below) and any(above)


def intervals(evidence: Evidence) -> Answer:
    """Goodman and Sison-Glaz take 95 % of the time without merging."""
    kept = evidence.interval_cost()
    if kept is None:
        return Answer(NOT_RUN, "uses neither", NOT_RUN.capitalize(), Brief(NOT_RUN, NOT_RUN, "uses neither"))
    timed = _timed(evidence, "paper")
    name, times = list(timed.items())[-1] if timed else ("", None)
    parts, shares = [], []
    for one in kept.times:
        if not one.merged:
            words = f"{one.milliseconds:.{0 if one.milliseconds >= 10 else 2}f} ms"
            if times is not None:
                shares.append(one.milliseconds / 1000 / (one.milliseconds / 1000 + times["Cohen"]))
                words += f", {shares[-1]:.0%} of a look"
            parts.append((f"{one.interval}, {one.classes} classes", words))
    return Answer(
        cell(parts),
        "uses neither",
        f"Times of one interval without merging on {kept.draws} votes"
        + (f", beside the {kept.draws} draws of {name} on the same kind of processor" if name else "")
        + ". The claim is of some inputs of Tiny-ImageNet on a GPU, which were not run. Beside a look as quick as the "
        f"publication's, {_PUBLISHED_LOOK:g} s, these would take {_beside_published(kept)}.",
        Brief(
            NOT_RUN,
            f"{min(shares):.0%} to {max(shares):.0%} of a look of {name}" if shares else NOT_RUN,
            "uses neither",
        ),
    )


def _beside_published(kept: IntervalCost) -> str:
    """Each interval's share of the time, if it were computed here and the draws made there."""
    seconds = {
        f"{one.interval}'s on {one.classes} classes": one.milliseconds / 1000 for one in kept.times if not one.merged
    }
    return ", ".join(f"{name} {took / (took + _PUBLISHED_LOOK):.0%}" for name, took in seconds.items())


def _timed(evidence: Evidence, protocol: str) -> dict[str, Times]:
    """The times of every study that was timed."""
    names = evidence.scale.timed or evidence.scale.names
    found = {name: times_of(evidence, evidence.scale.study(name), protocol) for name in names}
    return {name: times for name, times in found.items() if times is not None}


def _times_answer(
    evidence: Evidence,
    words: Callable[[Times], str],
    borne_out: Callable[[Times], list[bool]],
    sentence: str,
    brief: Callable[[Times], str] | None = None,
) -> Answer:
    """What the table of times says under each protocol, study by study; in brief in other words if there are any."""
    cells, short, found = dict[str, str](), dict[str, str](), list[bool]()
    for protocol in ("paper", "sound"):
        timed = _timed(evidence, protocol)
        names = evidence.scale.timed or evidence.scale.names
        for kept, say in ((cells, words), (short, brief or words)):
            kept[protocol] = cell([(name, say(timed[name]) if name in timed else NOT_RUN) for name in names])
        found += [ok for times in timed.values() for ok in borne_out(times)] if protocol == "paper" else []
    return Answer(
        cells["paper"],
        cells["sound"],
        unless_missing(cells["paper"], sentence),
        Brief(
            verdict(found, f"of {evidence.scale.timing_inputs} inputs"),
            short["paper"],
            short["sound"],
        ),
    )
