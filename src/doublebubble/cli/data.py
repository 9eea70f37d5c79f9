"""`doublebubble data list | download NAME | verify NAME`."""

from pathlib import Path
from typing import Annotated

import typer

from doublebubble.terminal import Terminal

app = typer.Typer(help="The data sets known by name: what there is, where it lies, and whether it is right.")

Name = Annotated[str, typer.Argument(help="A name from `doublebubble data list`.")]
DataDir = Annotated[Path | None, typer.Option(help="Where data sets lie (default: DOUBLEBUBBLE_DATA).")]


@app.command("list")
def list_(data_dir: DataDir = None) -> None:
    """List the data sets, and which are there.

    Example: [bold]doublebubble data list --data-dir data[/bold]
    """
    from rich.table import Table

    from doublebubble.data import DATASETS, data_root

    root = data_root(data_dir)
    table = Table("name", "shape", "classes", "images", "there", title=f"Data sets under {root}")
    for info in DATASETS.values():
        there = not info.folders or any((root / folder).is_dir() for folder in info.folders)
        shape = "x".join(map(str, info.shape))
        images = " + ".join(f"{size:,}" for size in info.sizes)
        table.add_row(info.name, shape, str(info.num_classes), images, "yes" if there else "no")
    Terminal().print(table)
    Terminal().print("folder:PATH reads your own images, one folder per class.")


@app.command()
def download(name: Name, data_dir: DataDir = None) -> None:
    """Download a data set from where it is published; a broken download goes on where it stopped.

    Example: [bold]doublebubble data download mnist --data-dir data[/bold]
    """
    from doublebubble.cli.progress_bars import download_progress
    from doublebubble.data import data_root
    from doublebubble.data.download import download as fetch

    console = Terminal()
    root = data_root(data_dir)
    with download_progress(console) as report:
        places = fetch(name, root, report)
    if not places:
        console.print(f"{name}: nothing to download, scikit-learn brings it along")
    for place in places:
        console.print(f"{place}: there")


@app.command()
def verify(name: Name, data_dir: DataDir = None) -> None:
    """Read a data set whole and check it: hashes where they are known, sizes, labels.

    Example: [bold]doublebubble data verify cifar10 --data-dir data[/bold]
    """
    from doublebubble.data import check_complete, data_root, dataset_info, load_dataset
    from doublebubble.data.download import wrong_files
    from doublebubble.errors import DataError

    info, root = dataset_info(name), data_root(data_dir)
    if wrong := wrong_files(name, root):
        raise DataError("; ".join(wrong))
    console = Terminal()
    for split in ("train", "test"):
        data = load_dataset(info.name, split, data_dir)
        check_complete(data)
        console.print(f"{name}, {split}: {len(data)} images, {data.info.num_classes} classes, right")
