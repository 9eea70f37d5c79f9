"""`doublebubble audit`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from doublebubble.audit.reverify import Confirmation


def audit(
    path: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where data sets lie, for the inputs (default: DOUBLEBUBBLE_DATA).")
    ] = None,
) -> None:
    """Compute every radius of a run again from what its records store, and name those that do not follow.

    In fifty digits, by code that shares nothing with the code that made them. Exits 1 if any record is not confirmed.
    What is taken on trust: that the votes were cast as they are stored.

    Example: [bold]doublebubble audit run[/bold]
    """
    from doublebubble.audit.reverify import reverify_run
    from doublebubble.facade.auditing import inputs_of
    from doublebubble.runs.store import read_run

    console = Terminal()
    run = read_run(path)
    inputs, trouble = inputs_of(run.spec, data_dir=data_dir)
    verdicts = reverify_run(run, inputs)
    methods = {record.index: record.method or "none" for record in run.records}
    failing = [verdict for verdict in verdicts if not verdict.confirmed]
    if as_json:
        listed = [
            {"index": v.index, "method": methods[v.index], "outcome": v.outcome.value, "sentence": v.sentence}
            for v in verdicts
        ]
        typer.echo(json.dumps({"confirmed": not failing, "trouble": trouble, "records": listed}))
    else:
        _show(console, [(methods[v.index], v.outcome) for v in verdicts])
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
