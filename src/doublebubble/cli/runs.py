"""`doublebubble runs`, `export`, `import` and `merge`: what can be done with runs without a model."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from doublebubble.cli.model_options import RADII_HELP
from doublebubble.errors import SettingError
from doublebubble.printable import printable
from doublebubble.terminal import Terminal


def runs(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    radii: Annotated[str | None, typer.Option(metavar="R,R,...", help=RADII_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one object per run.")] = False,
) -> None:
    """Show what runs hold: settings, progress, certified accuracy, average radius; several are compared first.

    Works while a run is being written. Misclassified, abstained and failed inputs always count.

    Example: [bold]doublebubble runs run[/bold]
    """
    from doublebubble.cli.run_summaries import runs_json, show_runs
    from doublebubble.report.radii import parse_radii
    from doublebubble.runs.store import read_run

    asked = parse_radii(radii)
    found = [read_run(path) for path in paths]
    if as_json:
        typer.echo(json.dumps(runs_json(found, asked)))
    else:
        show_runs(Terminal(), found, asked)


def export(
    path: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    kind: Annotated[
        str | None,
        typer.Option("--format", help="tsv (the field's columns), csv, parquet or jsonl (default: as FILE ends)."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="File to write (default: standard output).")] = None,
) -> None:
    """Write a run's records for other tools; radii are rounded down, never up.

    Example: [bold]doublebubble export run --out run.tsv[/bold]
    """
    from doublebubble.report.facts import guarantees
    from doublebubble.runs.store import read_run
    from doublebubble.runs.tables import EXPORT_FORMATS, export_file, export_text

    if kind is None:
        kind = out.suffix.removeprefix(".").lower() if out is not None and out.suffix else "tsv"
    chosen = next((known for known in EXPORT_FORMATS if known == kind), None)
    if chosen is None:
        raise SettingError(f"format: expected one of {', '.join(EXPORT_FORMATS)}, got {kind!r}")
    run = read_run(path)
    if out is not None:
        export_file(run, chosen, out)
    elif chosen == "parquet":
        raise SettingError("out: parquet is no text, expected a file to write it to")
    else:
        text = export_text(run, chosen)
        typer.echo(printable(text, "\n\t") if sys.stdout.isatty() else text, nl=False)
    for guarantee in guarantees(run):
        if guarantee.mark:
            typer.echo(f"{guarantee.mark}: each radius {guarantee.sentence}", err=True)


def import_(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="FILE.tsv: idx, label, predict, radius, time; FILE.csv: from export."),
    ],
    out: Annotated[Path, typer.Option(metavar="RUN", help="Folder of the run to make.")],
) -> None:
    """Make a run of another tool's results, or of an exported CSV, so that they can be shown and compared.

    Whether a prediction is correct is computed from its label, not taken from the file. What stands
    behind the radii is not known here and recorded as unstated.

    Example: [bold]doublebubble import theirs.tsv --out theirs[/bold]
    """
    from doublebubble.runs.importing import import_file

    count = import_file(source, out)
    Terminal().print(f"{out}: {count} inputs imported")


def merge(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs that differ in their inputs only.")],
    out: Annotated[Path, typer.Option(metavar="RUN", help="Folder of the run to make.")],
) -> None:
    """Put the shards of one run together; everything but the inputs must agree.

    Example: [bold]doublebubble merge shard-0 shard-1 --out whole[/bold]
    """
    from doublebubble.runs.merging import merge_runs

    merged = merge_runs(paths, out)
    total = len(merged.spec.index_list)
    missing = f", {len(merged.missing)} still to be done" if merged.missing else ""
    Terminal().print(f"{out}: {len(merged.records)} of {total} inputs{missing}")
