"""`doublebubble report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Console

from doublebubble.errors import DataError, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doublebubble.data import Dataset, Split
    from doublebubble.report.page import Look
    from doublebubble.runs.spec import RunSpec
    from doublebubble.runs.store import Run

_EXAMPLE = """Write a page to look at: certified accuracy with its guarantee, curves, a table of all inputs.

One file that opens in any browser and asks the network for nothing. Several runs are compared, and
runs over several sigma show which sigma is best at which radius. A file that is there is replaced.

Example: [bold]doublebubble report run --out report.html[/bold]
"""


def report(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
    data_dir: Annotated[
        Path | None, typer.Option(help="Where data sets lie, for thumbnails (default: DOUBLEBUBBLE_DATA).")
    ] = None,
) -> None:
    """Write the page; the text shown to users is above."""
    from doublebubble.runs.store import read_run

    console = Console(soft_wrap=True, highlight=False)
    write_report(console, [read_run(path) for path in paths], out, data_dir)
    console.print(f"{out}: {out.stat().st_size / 1e6:.1f} MB, open it in a browser", markup=False)


report.__doc__ = _EXAMPLE


def write_report(console: Console, runs: "Sequence[Run]", out: Path, data_dir: Path | None) -> None:
    """The page of these runs, with thumbnails where their data are at hand; a sentence where they are not."""
    from doublebubble.report.page import write_page
    from doublebubble.runs.spec import RunSpec

    specs = {run.spec.data_digest: run.spec for run in runs if isinstance(run.spec, RunSpec)}
    looks = {}
    for digest, spec in specs.items():
        same = [run for run in runs if isinstance(run.spec, RunSpec) and run.spec.data_digest == digest]
        looks[digest], trouble = look_at(spec, {r.index for run in same for r in run.records}, data_dir)
        if trouble:
            console.print(trouble, markup=False)
    write_page(runs, out, looks)


def look_at(spec: "RunSpec", indices: set[int], data_dir: Path | None) -> "tuple[Look, str]":
    """What the inputs of a run look like, and a sentence if that cannot be shown: other data are never shown as its."""
    from doublebubble.data import DATASETS, load_dataset
    from doublebubble.report.page import Look
    from doublebubble.runs.digests import data_digest

    known = DATASETS[spec.dataset].classes if spec.dataset in DATASETS else ()
    bare = Look(known if len(known) == spec.num_classes else ())
    try:
        data = load_dataset(spec.dataset, cast("Split", spec.split), data_dir)
    except (DataError, SettingError) as error:
        return bare, f"no thumbnails: {error}"
    if data_digest(data.pixels, data.labels) != spec.data_digest:
        return bare, f"no thumbnails: the files of {spec.dataset} are not those that the run was made with"
    return _look(data, sorted(indices)), ""


def _look(data: "Dataset", indices: "Sequence[int]") -> "Look":
    import torch

    from doublebubble.report.page import Look

    images = (data.inputs(torch.tensor(indices)) * 255).round().to(torch.uint8)
    return Look(data.info.classes, tuple(indices), images.numpy())
