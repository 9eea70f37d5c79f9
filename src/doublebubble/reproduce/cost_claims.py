"""The publication's claims about what its search costs, and about its first step: from committed records alone."""

from collections.abc import Callable

from doublebubble.report.measures import mean_gain
from doublebubble.reproduce.answers import Answer, Brief, verdict
from doublebubble.reproduce.claim_cells import NOT_RUN, cell, times_of, unless_missing
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import GRADIENTS, Wanted
from doublebubble.reproduce.scales import Study
from doublebubble.types import GradientKind

Times = dict[str, float]
_PUBLISHED_MULTIPLES = {
    "single, approximate": (8, 10),
    "double, approximate": (37, 48),
    "single, full": (24, 27),
    "double, full": (50, 66),
}
_BEARABLE = 0.9  # of the gain at the published step: below that a step has lost something
_CLAIMED_LIMITS: dict[GradientKind, float] = {"approximate": 0.01, "full": 0.1}


def cheaper(evidence: Evidence) -> Answer:
    """Approximate gradients are more than four times cheaper than full ones."""

    def ratio(t: Times) -> float:
        return t["single, full"] / t["single, approximate"]

    return _times_answer(
        evidence,
        lambda t: f"{ratio(t):.1f} times",
        lambda t: [ratio(t) > 4],
        "Here a look costs about the same by either, since only draws with a slope are run backwards, so the ratio is "
        "mostly that of looks taken; few inputs were timed.",
    )


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
            f"{method} {_range([t[f'{method}, {kind}'] / t['Cohen'] for kind in GRADIENTS])}"
            for method in ("single", "double")
        ),
    )


def _range(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def first_steps(evidence: Evidence) -> Answer:
    """Approximate is sensitive to first steps above 0.01, full only above 0.1."""
    cells, kept, borne_out = [], list[str](), []
    for study in map(evidence.scale.study, evidence.scale.stepped):
        for gradient in GRADIENTS:
            gains = {step: _gain_of_step(evidence, study, gradient, step) for step in evidence.scale.steps}
            words = [f"{step:g}: {NOT_RUN if gain is None else format(gain, '+.4f')}" for step, gain in gains.items()]
            measured = {step: gain for step, gain in gains.items() if gain is not None}
            cells.append((f"{study.name}, {gradient}", ", ".join(words) if measured else NOT_RUN))
            if len(measured) == len(gains):
                borne_out.append(sensitive_above(measured, _CLAIMED_LIMITS[gradient]))
                kept.append(f"{study.name}, {gradient}: {_kept(measured, _CLAIMED_LIMITS[gradient])}")
    found = cell(cells)
    return Answer(
        found,
        "has no such step",
        unless_missing(
            found,
            "Mean gain of single transitivity over Cohen in L2, by first step, at sigma 0.5; sensitive means that less "
            f"than {_BEARABLE:.0%} is left of the best gain up to the claimed limit.",
        ),
        Brief(verdict(borne_out), "<br>".join(kept) or NOT_RUN, "has no such step"),
    )


def _kept(gains: dict[float, float], limit: float) -> str:
    """Of the best gain up to the limit, what is left at least up to it, and at each step above it."""
    below = [gain for step, gain in gains.items() if step <= limit]
    parts = [f"{min(below) / max(below):.0%} left or more up to {limit:g}"]
    parts += [f"{gain / max(below):.0%} at {step:g}" for step, gain in gains.items() if step > limit]
    return ", ".join(parts)


def _gain_of_step(evidence: Evidence, study: Study, gradient: GradientKind, step: float) -> float | None:
    table = evidence.frame(Wanted(study, evidence.scale.step_sigma, "paper", gradient, first_step=step))
    gain = None if table is None else mean_gain(table, "single")
    return None if gain is None else gain.value


def sensitive_above(gains: dict[float, float], limit: float) -> bool:
    """Whether all steps up to the limit gain about as much as the best of them, and some step above it does not."""
    best = max(gain for step, gain in gains.items() if step <= limit)
    bearable = {step: gain >= _BEARABLE * best for step, gain in gains.items()}
    below, above = ([ok for step, ok in bearable.items() if (step <= limit) is side] for side in (True, False))
    return all(below) and not all(above)


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
        + (f", beside the {kept.draws} draws of {name} on this processor" if name else "")
        + "; the claim is of some Tiny-ImageNet inputs on a GPU, which were not run.",
        Brief(
            verdict([share >= 0.95 for share in shares]),
            f"{min(shares):.0%} to {max(shares):.0%}" if shares else NOT_RUN,
            "uses neither",
        ),
    )


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
        Brief(verdict(found), short["paper"], short["sound"]),
    )
