"""`doublebubble picture`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doublebubble.cli.model_options import ARCH_HELP, DEVICE_HELP, MODEL_HELP, WEIGHTS_HELP, chosen_device, load_for
from doublebubble.errors import RunError, SettingError
from doublebubble.files import write_whole
from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from doublebubble.data import Dataset
    from doublebubble.runs.record import Record
    from doublebubble.runs.store import StoredRun
    from doublebubble.smoothing import SmoothedClassifier

_EXAMPLE = """Draw an input's certificate: the plane through it and its balls, and the classes around.

The picture is stored in the run, where the report finds it. Classes are sampled on a grid and an
estimate; the certified radius and its guarantee are those of the run.

Example: [bold]doublebubble picture run 3 --model digits-0.5 --out three.png[/bold]
"""


def picture(
    path: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    index: Annotated[int, typer.Argument(metavar="INDEX", help="Which of its inputs.")],
    model: Annotated[str, typer.Option(help=MODEL_HELP)],
    weights: Annotated[Path | None, typer.Option(help=WEIGHTS_HELP)] = None,
    arch: Annotated[str | None, typer.Option(help=ARCH_HELP)] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where data sets lie (default: DOUBLEBUBBLE_DATA).")] = None,
    resolution: Annotated[int, typer.Option(help="Points along each side of the grid.")] = 41,
    draws: Annotated[int, typer.Option(help="Noisy copies at each point.")] = 256,
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
    out: Annotated[Path | None, typer.Option(metavar="PNG", help="Write the picture here too.")] = None,
) -> None:
    """Draw; the text shown to users is above."""
    from doublebubble.data import Split, load_dataset
    from doublebubble.facade.job import check_origin
    from doublebubble.runs.spec import RunSpec
    from doublebubble.runs.store import read_run
    from doublebubble.smoothing import SmoothedClassifier

    run = read_run(path)
    if not isinstance(run.spec, RunSpec):
        raise RunError(f"{path}: was imported, so there is neither a model nor data to draw it from")
    record = _record(run, index)
    split: Split = "train" if run.spec.split == "train" else "test"
    data = load_dataset(run.spec.dataset, split, data_dir, classes=run.spec.classes)
    classifier = load_for(model, weights, data, arch)
    check_origin(run.spec, classifier, data)
    smoothed = SmoothedClassifier(
        classifier.to(chosen_device(device)),
        run.spec.sigma,
        run.spec.num_classes,
        run.spec.domain,
        run.spec.batch_size,
        run.spec.shape,
    )
    console = Terminal()
    stored = draw_record(console, run, record, data, smoothed, resolution, draws)
    console.print(f"picture: {stored}")
    if out is not None:
        _copy(stored, out)
        console.print(f"picture: {out}")


picture.__doc__ = _EXAMPLE


def draw_record(
    console: Terminal,
    run: "StoredRun",
    record: "Record",
    data: "Dataset",
    smoothed: "SmoothedClassifier",
    resolution: int,
    draws: int,
) -> Path:
    """Draw one input of a run into the run, with progress; the model and the data must be the run's own."""
    from doublebubble.cli.progress_bars import points_progress
    from doublebubble.report.slice_figure import draw_slice
    from doublebubble.runs.picture_files import store_picture
    from doublebubble.runs.spec import RunSpec
    from doublebubble.sampled_slice import sample_slice

    assert isinstance(run.spec, RunSpec)
    x, classes = data.inputs(slice(record.index, record.index + 1))[0], data.info.classes
    with points_progress(console, f"drawing input {record.index}") as seen:
        found = sample_slice(
            smoothed,
            x,
            record,
            run.centres(record),
            classes,
            seed=run.spec.config.seed,
            resolution=resolution,
            draws=draws,
            seen=seen,
        )
    return store_picture(run.path, record.index, draw_slice(found, record, classes))


def _record(run: "StoredRun", index: int) -> "Record":
    if index not in run.spec.index_list:
        raise SettingError(f"index: expected one of the run's inputs ({run.spec.indices}), got {index}")
    for record in run.records:
        if record.index == index:
            return record
    raise RunError(f"{run.path}: input {index} is not certified yet; resume the run first")


def _copy(stored: Path, out: Path) -> None:
    try:
        write_whole(out, stored.read_bytes())
    except OSError as error:
        raise SettingError(f"out: {out} cannot be written ({error.strerror}); the picture is at {stored}") from error
