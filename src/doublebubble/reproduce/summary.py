"""The first table of the page on claims: what the published search reports, what of it is luck, and what holds."""

import pandas as pd

from doublebubble.report.measures import REPORTED, mean_radius
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.coin_claims import Thrown, thrown
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.scales import Scale

_HEAD = """- **The publication claims** certificates about 5 % larger on average, by looking at further points around
  each input and keeping the best.
- **Of what it reports here, {luck} is luck**: coins that vote with a network's own probabilities leave nothing to be
  gained, and the same search gains so much on them, on average over {throws} throws ([how they vary](#on-networks)).
- **Use instead** `sound` with methods `auto`, both the default, and draws enough for its gains to show.

In brackets the inputs that are predicted correctly; the published form was given fewer inputs.

| mean radius over Cohen's | published search, no guarantee | the same on coins: nothing to gain | \
`sound`, same draws | {more} |
|---|---|---|---|---|
"""


def summary(evidence: Evidence) -> str:
    """The answer for a reader who has less than a minute; empty where no coins were thrown."""
    found = [
        one for study in evidence.scale.studies for one in thrown(evidence, study) if one.sigma in one.study.curves
    ]
    if not found:
        return ""
    throws = evidence.scale.no_gain.throws
    head = _HEAD.format(luck=_luck(found), throws=throws, more=_more(evidence.scale))
    return head + "".join(_row(evidence, one) for one in found) + "\n"


def _luck(found: list[Thrown]) -> str:
    """Which part of the gain on networks their coins have too, from the least to the most."""
    parts = [one.coins.gain.value / (100 * one.network.gain) for one in found if one.network.gain > 0]
    if not parts:
        return "all"
    return " to ".join(dict.fromkeys(f"{min(1.0, part):.0%}" for part in (min(parts), max(parts))))


def _more(scale: Scale) -> str:
    """What the last column is of."""
    draws = {voted(study, sigma).draws for study in scale.studies for sigma in study.sigmas}
    return f"`sound`, n = {', '.join(f'{n:,}'.replace(',', ' ') for n in sorted(draws))}"


def _row(evidence: Evidence, one: Thrown) -> str:
    same, longest = evidence.sound(one.study, one.sigma), evidence.frame(voted(one.study, one.sigma))
    inputs = len(one.coins.shares)
    words = [f"{gain:+.1f} % ({inputs})" for gain in (100 * one.network.gain, one.coins.gain.value)]
    words += [_held(table) for table in (same, longest)]
    return "| " + " | ".join([f"{one.study.name}, sigma {one.sigma:g}", *words]) + " |\n"


def _held(table: pd.DataFrame | None) -> str:
    gain, plan = plan_gain(table, table), None if table is None else mean_radius(table, REPORTED)
    return NOT_RUN if gain is None or plan is None else f"{gain:+.1f} % ({plan.n})"


def plan_gain(table: pd.DataFrame | None, base: pd.DataFrame | None) -> float | None:
    """By how many percent the plan's mean radius in one table exceeds Cohen's in the other."""
    plan = None if table is None else mean_radius(table, REPORTED)
    cohen = None if base is None else mean_radius(base, "cohen")
    if plan is None or cohen is None or cohen.value == 0:
        return None
    return 100 * (plan.value / cohen.value - 1)
