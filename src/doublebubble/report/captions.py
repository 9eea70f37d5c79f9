"""The words under figures and tables: which runs the numbers come from, and what stands behind them."""

from collections.abc import Sequence

from doublebubble.errors import InputError
from doublebubble.report.facts import draws_asked, level
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun
from doublebubble.types import Guarantee

BANDS = "Bands: 95 % over the choice of inputs, at each point by itself."


def provenance(runs: Sequence[StoredRun]) -> str:
    """Data, inputs, noise, and for each protocol its level, its draws and its guarantee in words.

    Runs that differ in a setting have all its values named; imported runs are named as such.
    """
    if not runs or not all(run.records for run in runs):
        raise InputError("figure: expected runs that each hold at least one record")
    sentences = [_data(runs)]
    known = [run for run in runs if isinstance(run.spec, RunSpec)]
    for protocol, thrifty in sorted({_form(run.spec) for run in known if isinstance(run.spec, RunSpec)}):
        specs = [run.spec for run in known if isinstance(run.spec, RunSpec) and _form(run.spec) == (protocol, thrifty)]
        words = [
            f"alpha {', '.join(dict.fromkeys(level(spec) for spec in specs))}",
            *_draws(specs),
        ]
        held = _guarantees([run for run in known if run.spec in specs])
        form = "thrifty form, " if thrifty else ""
        mark = f" ({form}{Guarantee.NONE.mark})" if protocol == "paper" else ""
        sentences.append(f"Protocol {protocol}{mark}: {', '.join(words)}; {held}.")
    imported = [run for run in runs if not isinstance(run.spec, RunSpec)]
    if imported:
        sentences.append(f"Imported: {_guarantees(imported)}.")
    return " ".join(sentences)


def _form(spec: RunSpec) -> tuple[str, bool]:
    """What may not be mixed: the protocol, and whether it is the thrifty form."""
    return spec.config.protocol, spec.config.thrifty


def _draws(specs: Sequence[RunSpec]) -> list[str]:
    fixed = [spec.config.n for spec in specs if not spec.config.sequential]
    asked = [f"draws {draws_asked(spec.config)}" for spec in specs if spec.config.sequential]
    return [*([f"n {_values(fixed)} draws"] if fixed else []), *dict.fromkeys(asked)]


def _data(runs: Sequence[StoredRun]) -> str:
    specs = [run.spec for run in runs if isinstance(run.spec, RunSpec)]
    words = []
    if specs:
        words.append(", ".join(dict.fromkeys(f"{spec.dataset} ({spec.split} split)" for spec in specs)))
    sizes = _values([len(run.records) for run in runs])
    words.append(f"{sizes} {'input' if sizes == '1' else 'inputs'}{' in each run' if len(runs) > 1 else ''}")
    if specs:
        words.append(f"sigma {_values([spec.sigma for spec in specs])}")
    return "; ".join(words) + "."


def _guarantees(runs: Sequence[StoredRun]) -> str:
    held = {record.guarantee for run in runs for record in run.records if record.status != "failed"}
    sentences = [f"each radius {guarantee.sentence}" for guarantee in Guarantee if guarantee in held]
    return "; ".join(sentences) or "every input failed"


def _values(found: Sequence[float]) -> str:
    """The different values in rising order."""
    return ", ".join(f"{value:g}" for value in sorted(set(found)))
