"""`doublebubble audit`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doublebubble.cli.coverage import DRAWS, REPETITIONS, audit_coverage
from doublebubble.errors import SettingError
from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from doublebubble.audit.reverify import Confirmation


def audit(
    path: Annotated[Path | None, typer.Argument(metavar="RUN", help="Folder of a run.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where data sets lie, for the inputs (default: DOUBLEBUBBLE_DATA).")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Instead of a run, audit the methods on classifiers with a known truth.")
    ] = False,
    methods: Annotated[str, typer.Option(help="For --coverage: a list with commas.")] = "all",
    alphas: Annotated[str, typer.Option(help="For --coverage: levels with commas.")] = "0.5,0.2,0.1,0.05,0.01",
    repetitions: Annotated[
        int, typer.Option(min=1, help="For --coverage: certificates for each point and level.")
    ] = REPETITIONS,
    draws: Annotated[int, typer.Option(min=10, help="For --coverage: certify draws of each.")] = DRAWS,
    tight: Annotated[
        bool, typer.Option("--tight", help="For --coverage: only points where the method's bound is nearly tight.")
    ] = False,
    paper: Annotated[bool, typer.Option(help="For --coverage: protocol paper beside it.")] = True,
    out: Annotated[
        Path | None, typer.Option(help="For --coverage: folder for the figure and the numbers.", show_default=False)
    ] = None,
) -> None:
    """Compute every radius of a run again from what its records store, and name those that do not follow.

    In fifty digits, by code that shares nothing with the code that made them. Exits 1 if any record is not confirmed.
    What is taken on trust: that the votes were cast as they are stored.

    With --coverage: how often certificates of classifiers whose truth is known claim too much, against alpha, judged
    by an exact binomial test. Exits 1 if a method of protocol sound misses more often than it may.

    Examples: [bold]doublebubble audit run[/bold], [bold]doublebubble audit --coverage --out coverage[/bold]
    """
    if coverage == (path is not None):
        raise SettingError("audit: expected either the folder of a run or --coverage")
    if path is None:
        audit_coverage(methods, alphas, repetitions, draws, tight, paper, out, as_json)
        return
    from doublebubble.audit.reverify import reverify_run
    from doublebubble.facade.auditing import inputs_of
    from doublebubble.runs.store import read_run

    console = Terminal()
    run = read_run(path)
    inputs, trouble = inputs_of(run.spec, data_dir=data_dir)
    verdicts = reverify_run(run, inputs)
    used = {record.index: record.method or "none" for record in run.records}
    failing = [verdict for verdict in verdicts if not verdict.confirmed]
    if as_json:
        listed = [
            {"index": v.index, "method": used[v.index], "outcome": v.outcome.value, "sentence": v.sentence}
            for v in verdicts
        ]
        typer.echo(json.dumps({"confirmed": not failing, "trouble": trouble, "records": listed}))
    else:
        _show(console, [(used[v.index], v.outcome) for v in verdicts])
        if trouble:
            console.print(trouble)
        for verdict in failing:
            console.print(f"input {verdict.index}: {verdict.outcome.value}: {verdict.sentence}")
        console.print(f"{len(verdicts) - len(failing)} of {len(verdicts)} records confirmed")
    if failing:
        raise typer.Exit(1)


def _show(console: Terminal, found: "Sequence[tuple[str, Confirmation]]") -> None:
    """How many records of each method ended how."""
    from rich.table import Table

    from doublebubble.audit.reverify import Confirmation

    seen = [outcome for outcome in Confirmation if any(ended is outcome for _, ended in found)]
    table = Table("method", *(outcome.value for outcome in seen))
    for method in sorted({method for method, _ in found}):
        table.add_row(method, *(str(found.count((method, outcome))) for outcome in seen))
    console.print(table)
