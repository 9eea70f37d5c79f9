"""`doublebubble demo`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

_EXAMPLE = """Train a small digit classifier under noise, certify 50 digits it has not seen, and draw the curve.

Needs no data and no network. The second time it finds the model and the certificates made before.

Example: [bold]doublebubble demo --out demo-out[/bold]
"""


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model, the run and the figure.")] = Path("demo-out"),
    sigma: Annotated[float, typer.Option(help="Noise scale, in units of [0, 1] pixels.")] = 0.5,
    inputs: Annotated[int, typer.Option(help="How many test digits to certify.", min=1, max=359)] = 50,
) -> None:
    """Run the demo; the text shown to users is above."""
    from doublebubble.cli.progress import training_progress
    from doublebubble.cli.showing import certifying_progress, show_runs
    from doublebubble.config import CertifyConfig
    from doublebubble.data import load_dataset
    from doublebubble.engines.base import execute
    from doublebubble.engines.job import make_job
    from doublebubble.engines.local import LocalEngine
    from doublebubble.models import load_model
    from doublebubble.report.figure import save
    from doublebubble.report.plots import run_figure
    from doublebubble.runs.store import RunStore, read_run
    from doublebubble.training import preset, train

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"1. training a small network on scikit-learn's digits under noise of sigma {sigma:g}")
    folder = out / f"sigma-{sigma:g}"
    settings = preset("digits", "gaussian", sigma)
    with training_progress(console, settings.epochs) as observer:
        train(settings, load_dataset("digits", "train"), folder / "model", observer)
    model, _ = load_model(folder / "model")

    config = CertifyConfig(n=10_000, n0=500)
    console.print(f"2. certifying {inputs} test digits: {config.n:,} draws each, alpha {config.alpha:g}")
    job = make_job(model, load_dataset("digits", "test"), sigma, config, indices=f"0:{inputs}")
    path = folder / f"run-{inputs}"
    with (
        RunStore(path, job.spec) as store,
        certifying_progress(console, store.records, inputs, quiet=False) as watcher,
    ):
        execute(LocalEngine(job.recipe.build()), job.groups(store), store, watcher)
    run = read_run(path)
    show_runs(console, [run])
    best = max(run.records, key=lambda record: record.radius)
    console.print(
        f"for example: digit {best.index} is a {best.prediction}, and no change of L2 size below {best.radius:.3f} "
        f"makes the smoothed classifier say anything else, with confidence {1 - config.alpha:.1%}"
    )
    drawn = run_figure(run, "Certified accuracy on scikit-learn's digits")
    figure, _ = save(drawn, folder / "certified-accuracy")
    console.print(f"3. figure: {figure}", markup=False)


demo.__doc__ = _EXAMPLE
