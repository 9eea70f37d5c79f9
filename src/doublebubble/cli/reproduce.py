"""`doublebubble reproduce`."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doublebubble.cli.model_options import DEVICE_HELP, chosen_device
from doublebubble.errors import DataError, DoubleBubbleWarning, SettingError
from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from doublebubble.reproduce import Laboratory
    from doublebubble.runs.record import Record
    from doublebubble.training import Observer, TrainSettings

_EXAMPLE = """Run the publication's experiments: train, certify under both protocols, draw figures and tables.

EXPERIMENT is certified-accuracy, improvement-by-radius, winners, improvement-by-sigma, timing,
macer, step-size, interval-cost, no-gain, coin-votes, gain-by-draws, or all. Scale paper is the publication's
configuration, cpu fits two cores in hours, smoke needs no data and a minute or two. What is on disk is reused, so the
same command again resumes. Numbers under protocol paper are as published and not guaranteed;
every figure and table says so.

Example: [bold]doublebubble reproduce interval-cost --scale smoke --out reproduced[/bold]
"""


def reproduce(
    experiment: Annotated[str, typer.Argument(help="Name of an experiment, or all.")],
    out: Annotated[Path, typer.Option(help="Folder for models, runs, figures and tables.")],
    scale: Annotated[str, typer.Option(help="smoke, cpu or paper.")] = "smoke",
    inputs: Annotated[
        int | None, typer.Option(help="Certify so many inputs of each data set instead; 1 to try out.", min=1)
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Train for so many epochs instead.", min=1)] = None,
    models: Annotated[
        Path | None, typer.Option(help="Folder of trained models, DATA-METHOD-SIGMA each (default: OUT/models).")
    ] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where data sets lie (default: DOUBLEBUBBLE_DATA).")] = None,
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Reproduce; the text shown to users is above."""
    from doublebubble.reproduce import EXPERIMENTS, Laboratory, chosen_scale

    if experiment != "all" and experiment not in EXPERIMENTS:
        raise SettingError(f"experiment: expected one of {', '.join(EXPERIMENTS)} or all, got {experiment!r}")
    console = Terminal()
    lab = Laboratory(
        chosen_scale(scale, inputs, epochs),
        out,
        models or out / "models",
        _Shown(console),
        chosen_device(device),
        data_dir,
    )
    try:
        if experiment == "all":
            _all_runs(lab, console)
        not_run = [
            name for name in (EXPERIMENTS if experiment == "all" else [experiment]) if not _one(name, lab, console)
        ]
    except KeyboardInterrupt:
        _stderr().print(f"interrupted: {out} keeps what is done; the same command resumes it")
        raise typer.Exit(1) from None
    if not_run or lab.left_out:
        _stderr().print(_lacking(not_run, list(lab.left_out)))
        raise typer.Exit(1)


reproduce.__doc__ = _EXAMPLE


def _all_runs(lab: "Laboratory", console: Terminal) -> None:
    """Print the plan with its times, then make all runs in its order; experiments find them on disk."""
    from doublebubble.reproduce.order import planned, speed_of, training_draws, trainings

    console.print(f"plan of scale {lab.scale.name}, in the order of value; stop at any time, the same command resumes")
    steps = planned(lab.scale)
    speed = {study.name: speed_of(study) for study in lab.scale.studies}
    rate = {step.wanted.study.name: speed.get(step.wanted.study.name, speed[lab.scale.macer]) for step in steps}
    total = 0.0
    for name, (study, settings, images) in trainings(steps, lab.scale).items():
        hours = training_draws(settings, images) * rate[study.name] / 3600
        console.print(f"  {hours:6.2f} h  train {name}, {settings.epochs} epochs")
        total += hours
    for step in steps:
        hours = step.draws * rate[step.wanted.study.name] / 3600
        console.print(f"  {hours:6.2f} h  {step.purpose}: {step.wanted}, {step.wanted.inputs} inputs")
        total += hours
    console.print(f"  {total:6.2f} h  in all, estimated from the speed of each network on this machine now")
    for step in steps:
        with contextlib.suppress(DataError), warnings.catch_warnings():  # the experiments say which data are missing
            warnings.simplefilter("ignore", DoubleBubbleWarning)
            lab.run(step.wanted)


def _one(name: str, lab: "Laboratory", console: Terminal) -> bool:
    """Run an experiment and say what it wrote; False if none of its data are there."""
    from doublebubble.reproduce import EXPERIMENTS, write

    console.print(f"{name}, scale {lab.scale.name}", style="bold")
    try:
        with warnings.catch_warnings():
            # Few draws at large sigma are what the publication used; its ceiling is no news here.
            warnings.simplefilter("ignore", DoubleBubbleWarning)
            results = lab.perform(EXPERIMENTS[name])
    except DataError:
        return False
    for path in write(results, lab.out / name, name, lab.scale.name):
        console.print(f"  wrote {path}")
    console.print("  numbers under protocol paper are as published and not guaranteed")
    return True


def _lacking(not_run: list[str], data: list[str]) -> str:
    without = f"not complete, for want of data: {', '.join(data)}"
    return f"{without}; not run at all: {', '.join(not_run)}" if not_run else without


def _stderr() -> Terminal:
    return Terminal(stderr=True)


class _Shown:
    """Shows on the console what goes on."""

    def __init__(self, console: Terminal) -> None:
        self._console = console

    @contextmanager
    def training(self, name: str, settings: "TrainSettings") -> "Iterator[Observer]":
        from doublebubble.cli.progress_bars import training_progress

        self._console.print(f"  model {name}: {settings.arch}, {settings.epochs} epochs")
        with training_progress(self._console, settings.epochs) as observer:
            yield observer

    @contextmanager
    def certifying(self, name: str, earlier: "list[Record]", total: int) -> "Iterator[Callable[[Record], None]]":
        from doublebubble.facade.progress import certifying_progress

        resumed = f", {len(earlier)} are done" if earlier else ""
        self._console.print(f"  certifying {name}: {total} inputs{resumed}")
        with certifying_progress(self._console, earlier, total, quiet=False) as watcher:
            yield watcher

    def missing(self, sentence: str) -> None:
        _stderr().print(f"missing: {sentence}")
