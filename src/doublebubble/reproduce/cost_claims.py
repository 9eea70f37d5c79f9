"""The publication's claims about what its search costs, and about its first step: from committed records alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from doublebubble.report.measures import Estimate, correct_gains, mean, mean_gain
from doublebubble.reproduce.answers import Answer, Brief
from doublebubble.reproduce.claim_cells import NOT_RUN, Parts, cell, unless_missing
from doublebubble.reproduce.claim_times import Times, looks_of, ratios, times_of, usual
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.interval_cost import IntervalCost
from doublebubble.reproduce.laboratory import GRADIENTS, PUBLISHED_STEP, Wanted
from doublebubble.reproduce.scales import Study
from doublebubble.reproduce.trials import Trial, agreed, verdict
from doublebubble.types import GradientKind

_PUBLISHED_MULTIPLES = {
    "single, approximate": (8, 10),
    "double, approximate": (37, 48),
    "single, full": (24, 27),
    "double, full": (50, 66),
}
_PUBLISHED_CHEAPER = "3.3, 2.7 and 2.5"  # 2.17 / 0.66, 2.08 / 0.76, 2.87 / 1.13 seconds in its table
_PUBLISHED_LOOK = 0.12  # seconds: Cohen's on Tiny-ImageNet
_TOLERATED = 0.2  # of the gain: a smaller loss is no sensitivity
_CLAIMED_LIMITS: dict[GradientKind, float] = {"approximate": 0.01, "full": 0.1}


def cheaper(evidence: Evidence) -> Answer:
    """Approximate gradients are more than four times cheaper than full ones."""

    def by_input(t: Times) -> list[float]:
        return list(ratios(t, "single, full", "single, approximate").values())

    def words(t: Times) -> str:
        usually = usual(t, "single, full") / usual(t, "single, approximate")
        return f"full takes {usually:.2f} times as long ({min(by_input(t)):.2f} to {max(by_input(t)):.2f})"

    return _times_answer(
        evidence,
        words,
        lambda t: agreed(ratio > 4 for ratio in by_input(t)),
        f"The publication's own table of times has {_PUBLISHED_CHEAPER} times, not four. By full gradients only draws "
        "with a slope are run backwards here: on the demo's network that makes a look by them 2.5 times cheaper "
        "([reproduce.md](reproduce.md#the-thrifty-form-of-paper)). So what a search costs is mostly its number of "
        f"looks (approximate / full): {_looks(evidence)}. Medians of the inputs that were timed; in brackets the "
        "least and the most.",
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

    def by_input(t: Times, kind: GradientKind) -> dict[int, float]:
        return ratios(t, f"double, {kind}", f"single, {kind}")

    def words(t: Times) -> str:
        parts = []
        for kind in GRADIENTS:
            each = by_input(t, kind).values()
            usually = usual(t, f"double, {kind}") / usual(t, f"single, {kind}")
            parts.append(f"{usually:.1f} x {kind} ({min(each):.1f} to {max(each):.1f})")
        return ", ".join(parts)

    def judged(t: Times) -> Trial:
        approximate, full = (by_input(t, kind) for kind in GRADIENTS)
        return agreed(approximate[index] > full[index] for index in approximate)

    return _times_answer(
        evidence,
        words,
        judged,
        "The third ball is searched by autograd either way, so double should weigh more beside the quicker single: "
        f"{_quicker(evidence)} Where timed inputs differ nothing is decided.",
    )


def _quicker(evidence: Evidence) -> str:
    """By which gradients single is the quicker, study by study."""
    quick: dict[GradientKind, list[str]] = {kind: [] for kind in GRADIENTS}
    for name, times in _timed(evidence, "paper").items():
        quick[min(GRADIENTS, key=lambda kind: usual(times, f"single, {kind}"))].append(name)
    return " and ".join(f"that by {kind} gradients on {', '.join(on)}" for kind, on in quick.items() if on) + "."


def all_times(evidence: Evidence) -> Answer:
    """The table of times, as multiples of Cohen's: of another machine, so that no verdict is due."""
    published = ", ".join(f"{name} {low} to {high}" for name, (low, high) in _PUBLISHED_MULTIPLES.items())
    found = _times_answer(
        evidence,
        lambda t: ", ".join(f"{name} {usual(t, name) / usual(t, 'Cohen'):.1f}" for name in t if name != "Cohen"),
        lambda _: None,
        f"Published multiples of Cohen's time: {published}; here {evidence.scale.timing_inputs} inputs were timed on a "
        "processor (medians), and most of the cost is how many looks the published stopping rule leaves. Multiples of "
        "another machine and program neither bear these out nor refute them.",
        brief=lambda t: ", ".join(
            f"{method} " + " / ".join(f"{usual(t, f'{method}, {kind}') / usual(t, 'Cohen'):.1f}" for kind in GRADIENTS)
            for method in ("single", "double")
        ),
    )
    judged = NOT_RUN if found.paper == NOT_RUN else "not comparable: another machine"
    return replace(found, brief=replace(found.brief, as_printed=judged))


def first_steps(evidence: Evidence) -> Answer:
    """Approximate is sensitive to first steps above 0.01, full only above 0.1."""
    cells, kept, borne_out = Parts(), Parts(), dict[str, list[Trial]]()
    for study in map(evidence.scale.study, evidence.scale.stepped):
        for gradient in GRADIENTS:
            tables = {step: _stepped(evidence, study, gradient, step) for step in evidence.scale.steps}
            gains = {step: None if table is None else mean_gain(table, "single") for step, table in tables.items()}
            words = [f"{s:g}: {NOT_RUN if gain is None else format(gain.value, '+.4f')}" for s, gain in gains.items()]
            there = any(gain is not None for gain in gains.values())
            cells.append((f"{study.name}, {gradient}", ", ".join(words) if there else NOT_RUN))
            losses = [one for step, table in tables.items() if (one := _loss(step, table, tables)) is not None]
            if len(losses) == len(tables):
                borne_out[f"{study.name}, {gradient}"] = [sensitive_above(losses, _CLAIMED_LIMITS[gradient])]
                kept.append((f"{study.name}, {gradient}", _left(losses)))
    found = cell(cells)
    return Answer(
        found,
        "has no such step",
        unless_missing(
            found,
            "Mean gain of single transitivity over Cohen in L2, by first step, at sigma "
            f"{evidence.scale.step_sigma:g}. Sensitive means: less than at the published step, {PUBLISHED_STEP:g}, on "
            "the same inputs, by more than chance (Student's 95 % band, for each step by itself); not sensitive: a "
            f"loss of {_TOLERATED:.0%} of the gain is outside that band.",
        ),
        Brief(verdict(borne_out), cell(kept), "has no such step"),
    )


@dataclass(frozen=True)
class Loss:
    """What a first step gains on average more than the published one, which gains `base` on the same inputs.

    `differing` are the inputs on which the two differ at all.
    """

    step: float
    more: Estimate
    base: float
    differing: int = 0

    @property
    def kept(self) -> float:
        """The part of the published step's gain that is left."""
        return 1 + self.more.value / self.base

    @property
    def sensitive(self) -> Trial:
        """Whether it gains less by more than chance; no: not much less, by more than chance."""
        if self.more.high is not None and self.more.high < 0:
            return True
        return False if self.more.low is not None and self.more.low > -_TOLERATED * self.base else None


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
    apart = [a - b for a, b in zip(gains, least, strict=True)]
    return Loss(step, mean(apart), sum(least) / len(least), sum(one != 0 for one in apart))


def _left(losses: list[Loss]) -> str:
    """What is left of the gain where less is, by more than chance."""
    words = [f"{one.kept:.0%} left at {one.step:g}" for one in losses if one.sensitive]
    differ = max(one.differing for one in losses)
    return f"{', '.join(words) or 'no loss seen'} ({losses[0].more.n} inputs, {differ} at most differ)"


def sensitive_above(losses: Sequence[Loss], limit: float) -> Trial:
    """Whether no step up to the limit is sensitive, and some step above it is."""
    below, above = ({one.sensitive for one in losses if (one.step <= limit) is side} for side in (True, False))
    if True in below or above <= {False}:
        return False
    return True if below <= {False} and True in above else None


def intervals(evidence: Evidence) -> Answer:
    """Goodman and Sison-Glaz take 95 % of the time without merging."""
    kept = evidence.interval_cost()
    if kept is None:
        return Answer(NOT_RUN, "uses neither", NOT_RUN.capitalize(), Brief(NOT_RUN, NOT_RUN, "uses neither"))
    timed = _timed(evidence, "paper")
    name, times = list(timed.items())[-1] if timed else ("", None)
    parts, shares = list[tuple[str, str]](), list[str]()
    for one in kept.times:
        if not one.merged:
            words = f"{one.milliseconds:.{0 if one.milliseconds >= 10 else 2}f} ms"
            if times is not None:
                part = one.milliseconds / 1000 / (one.milliseconds / 1000 + usual(times, "Cohen"))
                shares.append(f"{one.interval} {part:.0%} ({one.classes} classes)")
                words += f", {part:.0%} of a look"
            parts.append((f"{one.interval}, {one.classes} classes", words))
    return Answer(
        cell(parts),
        "uses neither",
        f"Times of one interval without merging on {kept.draws} votes, class k with probability proportional to k^-3"
        + (f", beside a look of as many draws of {name}" if name else "")
        + ". The claim is of some inputs of Tiny-ImageNet on a GPU, which were not run. Beside a look as quick as the "
        f"publication's, {_PUBLISHED_LOOK:g} s, these would take {_beside_published(kept)}.",
        Brief(
            NOT_RUN,
            f"{', '.join(shares)} of a look of {name}" if shares else NOT_RUN,
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
    judged: Callable[[Times], Trial],
    sentence: str,
    brief: Callable[[Times], str] | None = None,
) -> Answer:
    """What the table of times says under each protocol, study by study; in brief in other words if there are any."""
    cells, short, found = dict[str, str](), dict[str, str](), dict[str, list[Trial]]()
    for protocol in ("paper", "sound"):
        timed = _timed(evidence, protocol)
        names = evidence.scale.timed or evidence.scale.names
        for kept, say in ((cells, words), (short, brief or words)):
            kept[protocol] = cell([(name, say(timed[name]) if name in timed else NOT_RUN) for name in names])
        if protocol == "paper":
            found = {name: [judged(times)] for name, times in timed.items()}
    word = verdict(found) + (f" ({evidence.scale.timing_inputs} inputs timed)" if found else "")
    return Answer(
        cells["paper"],
        cells["sound"],
        unless_missing(cells["paper"], sentence),
        Brief(word, short["paper"], short["sound"]),
    )
