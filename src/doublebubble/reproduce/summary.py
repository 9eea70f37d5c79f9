"""The first table of the page on claims: what the published search reports, what of it is luck, and what holds."""

from doublebubble import registry
from doublebubble.report.measures import REPORTED
from doublebubble.reproduce.coin_claims import Thrown, thrown
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.method_gains import gain_words, spaced, with_cohen
from doublebubble.reproduce.scales import Scale, SoundForm, Study

_HEAD = """- **The publication claims** certificates about 5 % larger on average, by looking at further points around
  each input and keeping the best.
- **Of what it reports here, {luck} is luck**: coins that vote with a network's own probabilities leave nothing to be
  gained, and the same search gains so much on them, on average over {throws} throws ([how they vary](#on-networks)).
- **Use instead** `sound` with methods `auto`, both the default, and draws enough for its gains to show.

In brackets the inputs that are predicted correctly; the published form was given fewer inputs.

"""
_COLUMNS = [
    "gain over each protocol's own Cohen",
    "published search, no guarantee",
    "the same on coins: nothing to gain",
    "`sound`, same draws",
]


def summary(evidence: Evidence) -> str:
    """The answer for a reader who has less than a minute; empty where no coins were thrown."""
    found = _found(evidence)
    throws = evidence.scale.no_gain.throws
    return _HEAD.format(luck=_luck(found), throws=throws) + summary_table(evidence) + "\n" if found else ""


def summary_table(evidence: Evidence) -> str:
    """Its table alone: by study and sigma what the published search reports, what it reports on coins, what holds."""
    auto = _auto(evidence.scale.studies[0])
    columns = [*_COLUMNS, _more(evidence.scale)]
    columns += [] if auto is None else [f"`sound`, `auto`, n = {spaced(auto.n)}"]
    head = f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"
    return head + "".join(_row(evidence, one) for one in _found(evidence))


def _found(evidence: Evidence) -> list[Thrown]:
    return [one for study in evidence.scale.studies for one in thrown(evidence, study) if one.sigma in one.study.curves]


def _luck(found: list[Thrown]) -> str:
    """Which part of the gain on networks their coins have too, from the least to the most."""
    parts = [one.coins.gain.value / (100 * one.network.gain) for one in found if one.network.gain > 0]
    if not parts:
        return "all"
    return " to ".join(dict.fromkeys(f"{min(1.0, part):.0%}" for part in (min(parts), max(parts))))


def _more(scale: Scale) -> str:
    """What the column after the same draws is of."""
    draws = {voted(study, sigma).draws for study in scale.studies for sigma in study.sigmas}
    return f"`sound`, n = {', '.join(map(spaced, sorted(draws)))}"


def _auto(study: Study) -> SoundForm | None:
    """The form of a study with most draws that leaves the method to `auto`."""
    forms = [form for form in study.sound_forms if form.methods == (registry.AUTO,)]
    return max(forms, key=lambda form: form.n, default=None)


def _row(evidence: Evidence, one: Thrown) -> str:
    study, sigma, inputs = one.study, one.sigma, len(one.coins.shares)
    same, longest = evidence.sound(study, sigma), evidence.frame(voted(study, sigma))
    words = [f"{gain:+.1f} % ({inputs})" for gain in (100 * one.network.gain, one.coins.gain.value)]
    words += [gain_words(table, REPORTED, table) for table in (same, longest)]
    auto = _auto(study)
    if auto is not None:
        table = evidence.sound(study, sigma, auto)
        beside = (evidence.sound(study, sigma, form) for form in study.sound_forms if form.n == auto.n)
        base = next((found for found in (with_cohen(table, other) for other in beside) if found is not None), None)
        words.append(gain_words(table, REPORTED, base))
    return "| " + " | ".join([f"{study.name}, sigma {sigma:g}", *words]) + " |\n"
