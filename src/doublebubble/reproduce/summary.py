"""The first table of the page on claims: what the published search reports, what of it is luck, and what holds."""

import pandas as pd

from doublebubble.report.measures import REPORTED, mean_radius
from doublebubble.reproduce.claim_cells import spaced
from doublebubble.reproduce.coin_claims import Thrown, thrown
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.method_gains import gain_words
from doublebubble.reproduce.same_inputs import compared, longest_auto
from doublebubble.reproduce.scales import Scale

_HEAD = """- **The publication claims** certificates about 5 % larger on average, by looking at further points around
  each input and keeping the best.
- **Of what it reports here, {luck}**: coins that vote with a network's own probabilities leave nothing to
  be gained, and the same search gains so much on them, on average over {throws} throws ([how they vary](#on-networks)).
- **Use instead** `sound` with methods `auto`, both the default, and draws enough for its gains to show.

Each row is of the same inputs in all its columns, the correctly predicted ones of those that were given the published
form; their number stands in brackets. Search and coins: single transitivity by approximate gradients, n = {n} in each
of up to 50 looks, alpha {alpha:g}. `sound`: the plan among all methods, by full gradients, alpha {alpha:g} at the same
n and {more:g} at larger ones. Gains are of sums of radii.

"""
_COLUMNS = [
    "gain over each protocol's own Cohen",
    "published search, no guarantee",
    "the same on coins: nothing to gain",
    "`sound`, same n",
]


def summary(evidence: Evidence) -> str:
    """The answer for a reader who has less than a minute; empty where no coins were thrown."""
    found, scale = _found(evidence), evidence.scale
    if not found:
        return ""
    more = max((form.alpha for form in scale.studies[0].sound_forms), default=scale.alpha)
    settings = {"n": scale.studies[0].n, "alpha": scale.alpha, "more": more, "throws": scale.no_gain.throws}
    return _HEAD.format(luck=_luck(found), **settings) + summary_table(evidence) + "\n"


def summary_table(evidence: Evidence) -> str:
    """Its table alone: by study and sigma what the published search reports, what it reports on coins, what holds."""
    auto = longest_auto(evidence.scale.studies[0])
    columns = [*_COLUMNS, _more(evidence.scale)]
    columns += [] if auto is None else [f"`sound`, `auto`, n = {spaced(auto.n)}"]
    head = f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"
    return head + "".join(_row(evidence, one) for one in _found(evidence))


def _found(evidence: Evidence) -> list[Thrown]:
    return [one for study in evidence.scale.studies for one in thrown(evidence, study) if one.sigma in one.study.curves]


def _luck(found: list[Thrown]) -> str:
    """Which part of the gain on networks their coins have too, at least."""
    parts = [one.coins.gain.value / (100 * one.network.gain) for one in found if one.network.gain > 0]
    whole = sum(part >= 1 for part in parts)
    if whole == len(parts):
        return "all is luck"
    return f"{min(parts):.0%} or more is luck" + (f", all of it in {whole} of {len(found)} rows" if whole else "")


def _more(scale: Scale) -> str:
    """What the column after the same draws is of."""
    draws = {voted(study, sigma).draws for study in scale.studies for sigma in study.sigmas}
    return f"`sound`, n = {', '.join(map(spaced, sorted(draws)))}"


def _row(evidence: Evidence, one: Thrown) -> str:
    study, sigma, inputs = one.study, one.sigma, len(one.coins.shares)
    same, longest = (_of(one, evidence.sound(study, sigma)), _of(one, evidence.frame(voted(study, sigma))))
    words = [f"{gain:+z.1f} %" for gain in (100 * one.network.gain, one.coins.gain.value)]
    words += [_gain(table, inputs) for table in (same, longest)]
    auto = longest_auto(study)
    if auto is not None:
        table = _of(one, evidence.sound(study, sigma, auto))
        held = None if table is None else compared(evidence, table, study, sigma, auto)
        words.append(_gain(held, inputs))
    return "| " + " | ".join([f"{study.name}, sigma {sigma:g} ({inputs})", *words]) + " |\n"


def _of(one: Thrown, table: pd.DataFrame | None) -> pd.DataFrame | None:
    """The rows of the inputs whose coins were thrown; nothing if one of them was not run."""
    if table is None:
        return None
    rows = table[table["index"].isin(list(one.coins.shares))].reset_index(drop=True)
    return rows if len(rows) == len(one.coins.shares) else None


def _gain(table: pd.DataFrame | None, inputs: int) -> str:
    """The gain over Cohen's radii beside it, and of how many inputs if fewer of them were predicted correctly here."""
    correct = None if table is None else mean_radius(table, REPORTED)
    return gain_words(table, REPORTED, table, counted=correct is not None and correct.n != inputs)
