"""What do runs hold? Tables and sentences for people, JSON for programs."""

import textwrap
from collections.abc import Sequence

from rich.table import Column, Table

from doublebubble.errors import InputError
from doublebubble.report.facts import facts, guarantees, mark
from doublebubble.report.radii import table_radii
from doublebubble.report.rounding import interval, length
from doublebubble.runs.sampling import sampling
from doublebubble.runs.spec import RunSpec, spec_hash
from doublebubble.runs.statistics import Comparison, Summary, compare, summarise
from doublebubble.runs.store import StoredRun
from doublebubble.runs.tables import frame
from doublebubble.terminal import Terminal
from doublebubble.types import Guarantee


def show_runs(console: Terminal, runs: list[StoredRun], asked: Sequence[float] | None = None) -> None:
    """All of them in one table and the first compared with each of the others, then what each run holds."""
    if len(runs) > 1:
        _show_all(console, [run for run in runs if run.records], table_radii(runs, asked))
        for other in runs[1:]:
            try:
                found = compare(frame(runs[0]), frame(other))
            except InputError as error:  # each run is shown all the same
                console.print(f"{other.path} against {runs[0].path}: {error}")
                continue
            marks = dict.fromkeys(words for run in (runs[0], other) if (words := mark(run)))
            console.print(
                f"{other.path} against {runs[0].path}: radius larger on {found.larger}, smaller on {found.smaller} of "
                f"{found.n} common inputs, on average {found.mean_difference:+.4f}; sign test p = {found.p_value:.3g}"
                f"{_aside(', '.join(marks))}"
            )
    for run in runs:
        _show_run(console, run, table_radii([run], asked))


def _show_all(console: Terminal, runs: list[StoredRun], radii: Sequence[float]) -> None:
    """One row per run, certified accuracy at the same radii for all."""
    headings = ("sigma", "inputs", "average\nradius", *(f"at\n{at:g}" for at in radii))
    name = Column("run", overflow="fold", min_width=5)  # all that gives way where a terminal is narrow
    table = Table(name, *(Column(heading, no_wrap=True) for heading in headings))
    for run in runs:
        sigma = f"{run.spec.sigma:g}" if isinstance(run.spec, RunSpec) else "-"
        if not _labelled(run):
            table.add_row(str(run.path), sigma, str(len(run.records)), "no labels", *("-" for _ in radii))
            continue
        summary = summarise(frame(run), radii)
        cells = (f"{point.accuracy:.1%}" for point in summary.accuracies)
        average = "\n".join([length(summary.average_radius), *textwrap.wrap(_aside(mark(run)).strip(), 12)])
        table.add_row(str(run.path), sigma, str(summary.n), average, *cells)
    console.print(table)


def _show_run(console: Terminal, run: StoredRun, radii: Sequence[float]) -> None:
    console.print(str(run.path), style="bold")
    for name, value in facts(run):
        console.print(f"  {name:<14}{value}")
    if not run.records:
        return
    words = mark(run)
    if not _labelled(run):
        mean = length(float(frame(run)["radius"].mean()))
        console.print(f"mean radius of all inputs {mean}{_aside(words)}; no labels, so no accuracy")
        for promise in guarantees(run):
            console.print(f"each radius {promise.sentence}")
        return
    summary = summarise(frame(run), radii)
    table = Table("radius", f"certified accuracy{_aside(words)}", "95 % over inputs", "inputs")
    for point in summary.accuracies:
        share, inputs = f"{point.accuracy:.1%}", f"{point.certified} of {point.n}"
        table.add_row(f"{point.radius:g}", share, interval(point), inputs)
    console.print(table)
    failed = f", {summary.failed} of them failed" if summary.failed else ""
    console.print(
        f"average certified radius {length(summary.average_radius)}{_aside(words)}; "
        f"abstained {summary.abstained} of {summary.n} ({summary.abstention_rate:.1%}){failed}"
    )
    for guarantee in summary.guarantees:
        console.print(f"each radius {Guarantee(guarantee).sentence}")


def _labelled(run: StoredRun) -> bool:
    return all(record.label is not None for record in run.records)


def _aside(words: str) -> str:
    return f" ({words})" if words else ""


def runs_json(runs: list[StoredRun], asked: Sequence[float] | None = None) -> list[dict[str, object]]:
    """What `show_runs` shows, for programs; the comparison is with the first run."""
    return [_run_json(run, runs[0] if number else None, table_radii([run], asked)) for number, run in enumerate(runs)]


def _run_json(run: StoredRun, first: StoredRun | None, radii: Sequence[float]) -> dict[str, object]:
    summary = summarise(frame(run), radii) if run.records and _labelled(run) else None
    return {
        "run": str(run.path),
        "hash": spec_hash(run.spec),
        "spec": run.spec.model_dump(mode="json"),
        "inputs": len(run.spec.index_list),
        "done": len(run.records),
        "torn": run.torn,
        "summary": None if summary is None else _summary_json(summary),
        "sampling": _sampling_json(run),
        "against_first": None if first is None else _against(first, run),
    }


def _against(first: StoredRun, run: StoredRun) -> dict[str, object]:
    try:
        return _comparison_json(compare(frame(first), frame(run)))
    except InputError as error:  # each run is shown all the same
        return {"error": str(error)}


def _summary_json(summary: Summary) -> dict[str, object]:
    return {
        "certified_accuracy": [
            {"radius": point.radius, "accuracy": point.accuracy, "low": point.low, "high": point.high}
            for point in summary.accuracies
        ],
        "average_radius": summary.average_radius,
        "abstained": summary.abstained,
        "failed": summary.failed,
        "guarantees": list(summary.guarantees),
    }


def _sampling_json(run: StoredRun) -> dict[str, object] | None:
    found = sampling(run)
    if found is None:
        return None
    stops = {stop.name.lower(): inputs for stop, inputs in found.stops.items()}
    numbers = {"draws": found.total, "mean": found.mean, "median": found.median, "most": found.most}
    return {**numbers, "inputs": found.inputs, "decided": found.decided, "stops": stops}


def _comparison_json(found: Comparison) -> dict[str, object]:
    return {
        "inputs": found.n,
        "larger": found.larger,
        "smaller": found.smaller,
        "mean_difference": found.mean_difference,
        "p_value": found.p_value,
    }
