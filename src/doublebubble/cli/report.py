"""`doublebubble report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doublebubble.cli.model_options import RADII_HELP
from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doublebubble.runs.store import StoredRun

_EXAMPLE = """Write a page to look at: certified accuracy with its guarantee, curves, a table of all inputs.

One file that opens in any browser and asks the network for nothing. Several runs are compared, and
runs over several sigma show which sigma is best at which radius. A file that is there is replaced.

Example: [bold]doublebubble report run --out report.html[/bold]
"""


def report(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
    radii: Annotated[str | None, typer.Option(metavar="R,R,...", help=RADII_HELP)] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where data sets lie, for thumbnails (default: DOUBLEBUBBLE_DATA).")
    ] = None,
) -> None:
    """Write the page; the text shown to users is above."""
    from doublebubble.report.radii import parse_radii
    from doublebubble.runs.store import read_run

    console = Terminal()
    write_report(console, [read_run(path) for path in paths], out, data_dir, parse_radii(radii))
    console.print(f"{out}: {out.stat().st_size / 1e6:.1f} MB, open it in a browser")


report.__doc__ = _EXAMPLE


def write_report(
    console: Terminal,
    runs: "Sequence[StoredRun]",
    out: Path,
    data_dir: Path | None,
    radii: "Sequence[float] | None" = None,
) -> None:
    """The page of these runs, with thumbnails where their data are at hand; a sentence where they are not."""
    from doublebubble.facade.galleries import galleries_of
    from doublebubble.report.page import write_page

    galleries, troubles = galleries_of(runs, data_dir)
    for sentence in troubles:
        console.print(sentence)
    write_page(runs, out, galleries, radii)
