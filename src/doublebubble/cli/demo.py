"""`doublebubble demo`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

    from doublebubble.data import Dataset
    from doublebubble.facade.job import Job
    from doublebubble.runs.record import Record
    from doublebubble.runs.store import StoredRun

_EXAMPLE = """Train a small digit classifier under noise, certify 50 digits it has not seen, and write a page of it.

Needs no data and no network. The second time it finds the model and the certificates made before.

Example: [bold]doublebubble demo --out demo-out[/bold]
"""

_RESOLUTION, _DRAWS = 33, 256  # of the pictures


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model, the run and the page.")] = Path("demo-out"),
    sigma: Annotated[float, typer.Option(help="Noise scale, in units of [0, 1] pixels.")] = 0.5,
    inputs: Annotated[int, typer.Option(help="How many test digits to certify.", min=1, max=359)] = 50,
) -> None:
    """Run the demo; the text shown to users is above."""
    from doublebubble.config import CertifyConfig
    from doublebubble.data import load_dataset
    from doublebubble.facade.job import make_job

    console = Terminal()
    folder = out / f"sigma-{sigma:g}"
    console.print(f"1. training a small network on scikit-learn's digits under noise of sigma {sigma:g}")
    model = _trained(console, sigma, folder / "model")
    config = CertifyConfig(n=10_000, n0=500, methods=("all",))
    data = load_dataset("digits", "test")
    job = make_job(model, data, sigma, config, indices=f"0:{inputs}")
    console.print(
        f"2. certifying {inputs} test digits: {config.n:,} draws for each method, alpha {config.alpha:g}, "
        f"methods {' '.join(config.methods)}"
    )
    run = _certified(console, job, folder / f"run-{inputs}")
    _explain(console, run, job)
    chosen = telling(run.records)
    console.print(f"3. drawing {len(chosen)} of them: the classes around a digit, and its certified circle")
    _draw_pictures(console, run, job, data, chosen)
    _show_results(console, run, folder)


demo.__doc__ = _EXAMPLE


def _trained(console: Terminal, sigma: float, folder: Path) -> "nn.Module":
    from doublebubble.cli.progress_bars import training_progress
    from doublebubble.data import load_dataset
    from doublebubble.models import load_model
    from doublebubble.training import preset, train

    settings = preset("digits", "gaussian", sigma)
    with training_progress(console, settings.epochs) as observer:
        train(settings, load_dataset("digits", "train"), folder, observer)
    return load_model(folder)[0]


def _certified(console: Terminal, job: "Job", path: Path) -> "StoredRun":
    import functools

    from doublebubble.facade.loop import perform
    from doublebubble.facade.progress import certifying_progress
    from doublebubble.runs.store import RunStore

    store = RunStore(path, job.spec)
    perform(job, store, functools.partial(certifying_progress, console, quiet=False))
    return store.run()


def _explain(console: Terminal, run: "StoredRun", job: "Job") -> None:
    """The run as a table, and the certificate of its first input as a sentence: alpha is for an input chosen before."""
    from doublebubble.cli.run_summaries import show_runs

    show_runs(console, [run])
    first = min(run.records, key=lambda record: record.index)
    if first.radius > 0:
        console.print(
            f"for example: input {first.index}, a handwritten {first.label}, is classified as {first.prediction}, and "
            f"no change within [0, 1] of L2 size below {first.radius:.6f} makes the smoothed classifier say anything "
            f"else, with probability at least {1 - job.spec.config.alpha:.1%} over its draws"
        )


def telling(records: "Sequence[Record]") -> "list[Record]":
    """At most three inputs to draw: the largest radius, the largest of a plan with further balls, the least certain.

    The last is the first that is wrong or abstained, else the one with the smallest radius.
    """
    sound = [record for record in records if record.status != "failed"]
    by_radius = sorted(sound, key=lambda record: -record.radius)
    several = [record for record in by_radius if any(ball.centre is not None for ball in record.balls)]
    doubtful = [record for record in sound if not record.correct] or by_radius[-1:]
    chosen = [*by_radius[:1], *several[:1], *doubtful[:1]]
    return list({record.index: record for record in chosen}.values())


def _draw_pictures(
    console: Terminal, run: "StoredRun", job: "Job", data: "Dataset", chosen: "Sequence[Record]"
) -> None:
    """Pictures of these inputs, stored in the run; those that it holds already are left."""
    from doublebubble.cli.picture import draw_record
    from doublebubble.runs.picture_files import stored_pictures

    smoothed = job.recipe.smoothed()
    there = stored_pictures(run.path)
    for record in chosen:
        if record.index not in there:
            draw_record(console, run, record, data, smoothed, _RESOLUTION, _DRAWS)


def _show_results(console: Terminal, run: "StoredRun", folder: Path) -> None:
    """Write what people look at, and say where it is."""
    from doublebubble.cli.report import write_report
    from doublebubble.report.figure import save
    from doublebubble.report.plots import run_caption, run_figure
    from doublebubble.runs.picture_files import stored_pictures

    page = folder / "report.html"
    drawn = run_figure(run, "Certified accuracy on scikit-learn's digits")
    figure, *_ = save(drawn, folder / "certified-accuracy", run_caption(run))
    console.print("4. figures")
    for path in (figure, *stored_pictures(run.path).values()):
        console.print(f"   {path}")
    write_report(console, [run], page, data_dir=None)
    console.print(f"5. all of it as a page, open it in a browser: {page}")
