"""The first table of the page on claims: what the published search reports, what of it is luck, and what holds."""

import pandas as pd

from doublebubble.config import PaperSearch
from doublebubble.report.measures import REPORTED, mean_radius
from doublebubble.reproduce.claim_cells import spaced
from doublebubble.reproduce.claim_measures import percent_in_sum
from doublebubble.reproduce.coin_claims import Thrown, thrown
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.method_gains import gain_words
from doublebubble.reproduce.same_inputs import compared, longest_auto, on_inputs
from doublebubble.reproduce.scales import Scale

_HEAD = """- **The publication says**: look at further points around each input, keep the largest radius that one
  of them gives, and certificates grow by about 5 %.
- **{luck}**. Coins stand in for each network:
  they vote with the probabilities that it has at the input, wherever the input is moved, so that no point is better
  than another and nothing can be gained. The same search reports gains all the same:
  {part}on average over {throws} throws ([how they vary](#on-networks)).
  Luck explains a network's gain if more than one throw in 20 gains as much.
- **Use instead** `doublebubble certify` as it comes, with protocol `sound` and methods `auto`. Its radii are
  guaranteed{gains}.

{table}
Each row is of the same inputs in all its columns, the correctly predicted ones of those that were given the published
form; their number stands in brackets. Search and coins: single transitivity by approximate gradients, n = {n} in each
of up to {looks} looks, alpha {alpha:g}. `sound`: the plan among all methods, by full gradients, alpha {alpha:g}
at the same n and {more:g} at larger ones. Gains are of sums of radii.

"""
_COLUMNS = [
    "gain over each protocol's own Cohen",
    "published search, no guarantee",
    "the same on coins: nothing to gain",
    "`sound`, same n",
]


def summary(evidence: Evidence) -> str:
    """The answer for a reader who has less than a minute; empty where no coins were thrown."""
    scale = evidence.scale
    every = [one for study in scale.studies for one in thrown(evidence, study)]
    if not every:
        return ""
    return _HEAD.format(
        luck=_luck(every),
        part=_part(every),
        gains=_gains(evidence),
        table=summary_table(evidence),
        n=scale.studies[0].n,
        alpha=scale.alpha,
        more=max((form.alpha for form in scale.studies[0].sound_forms), default=scale.alpha),
        looks=PaperSearch().iterations,
        throws=scale.no_gain.throws,
    )


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
    """On how many networks, one for each sigma, it gains no more than luck alone explains."""
    count = sum(one.luck for one in found)
    if count == 0:
        return "What it reports here is more than luck explains"
    return "Luck explains what it reports here" + (
        f" on {count} of {len(found)} networks" if count < len(found) else ""
    )


def _part(found: list[Thrown]) -> str:
    """The coins' gains as parts of the network's."""
    parts = [one.coins.gain.value / (100 * one.network.gain) for one in found if one.network.gain > 0]
    return f"{min(parts):.0%} to {max(parts):.0%} of what it reports on the network, " if parts else ""


def _gains(evidence: Evidence) -> str:
    """What `sound` gains with most draws and with those of the publication, over all rows."""
    held, said = [_held(evidence, one) for one in _found(evidence)], list[str]()
    for column in (-1, 0):
        tables = [(n, table) for n, table in (row[column] for row in held) if table is not None]
        gains = [gain.value for _, table in tables if (gain := percent_in_sum(table)) is not None]
        if gains:
            every = _on_all(evidence) if column == -1 else ""
            said.append(f"{min(gains):+z.1f} to {max(gains):+z.1f} % with n = {spaced(tables[0][0])}{every}")
    return f", and gain over Cohen's here {', '.join(said)}" if said else ""


def _on_all(evidence: Evidence) -> str:
    """What `auto` gains with most draws on more inputs than those of the published form, where all were run."""
    if not any(one.study.has_more for one in _found(evidence)):
        return ""
    gains, inputs = list[float](), set[int]()
    for one in _found(evidence):
        auto = longest_auto(one.study)
        table = None if auto is None or not one.study.wide else evidence.sound_on_all(one.study, one.sigma, auto)
        more = None if table is None else compared(evidence, table, one.study, one.sigma, auto)
        gain = None if more is None else percent_in_sum(more)
        if more is None or gain is None:
            return ""
        gains.append(gain.value)
        inputs.add(len(more))
    return f" ({min(gains):+z.1f} to {max(gains):+z.1f} % on all {' or '.join(map(str, sorted(inputs)))} inputs)"


def _more(scale: Scale) -> str:
    """What the column after the same draws is of."""
    draws = {voted(study, sigma).draws for study in scale.studies for sigma in study.sigmas}
    return f"`sound`, n = {', '.join(map(spaced, sorted(draws)))}"


def _row(evidence: Evidence, one: Thrown) -> str:
    inputs = len(one.coins.shares)
    words = [f"{gain:+z.1f} %" for gain in (100 * one.network.gain, one.coins.gain.value)]
    words += [_gain(table, inputs) for _, table in _held(evidence, one)]
    return "| " + " | ".join([f"{one.study.name}, sigma {one.sigma:g} ({inputs})", *words]) + " |\n"


def _held(evidence: Evidence, one: Thrown) -> list[tuple[int, pd.DataFrame | None]]:
    """`sound` on the same inputs: with the draws of the publication, with more, and by `auto` with most if asked."""
    study, sigma, auto = one.study, one.sigma, longest_auto(one.study)
    more = voted(study, sigma)
    found = [(study.n, _of(one, evidence.sound(study, sigma))), (more.draws, _of(one, evidence.frame(more)))]
    if auto is not None:
        table = _of(one, evidence.sound(study, sigma, auto))
        found.append((auto.n, None if table is None else compared(evidence, table, study, sigma, auto)))
    return found


def _of(one: Thrown, table: pd.DataFrame | None) -> pd.DataFrame | None:
    """The rows of the inputs whose coins were thrown; nothing if one of them was not run."""
    if table is None:
        return None
    rows = on_inputs(table, one.coins.shares)
    return rows if len(rows) == len(one.coins.shares) else None


def _gain(table: pd.DataFrame | None, inputs: int) -> str:
    """The gain over Cohen's radii beside it, and of how many inputs if fewer of them were predicted correctly here."""
    correct = None if table is None else mean_radius(table, REPORTED)
    return gain_words(table, REPORTED, table, counted=correct is not None and correct.n != inputs)
