"""Progress for people: a live bar on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from doublebubble.training import EpochMetrics, Observer

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_STEPS = 60.0


def epoch_line(metrics: EpochMetrics, epochs: int) -> str:
    """One epoch in words."""
    trained = "" if metrics.train_accuracy is None else f", training accuracy {metrics.train_accuracy:.4f}"
    held = "" if metrics.noisy_accuracy is None else f", noisy accuracy {metrics.noisy_accuracy:.4f}"
    return f"epoch {metrics.epoch}/{epochs}: loss {metrics.loss:.4f}{trained}{held}, {metrics.seconds:.0f} s"


class _PlainLines:
    """A line per epoch, and one per minute within an epoch that takes longer."""

    def __init__(self, console: Console, epochs: int) -> None:
        self._console, self._epochs = console, epochs
        self._steps, self._done, self._done_before = 0, 0, 0
        self._began = self._last = 0.0

    def started(self, epochs_done: int, steps_per_epoch: int) -> None:
        self._steps, self._done = steps_per_epoch, epochs_done * steps_per_epoch
        self._done_before, self._began = self._done, time.monotonic()
        self._last = self._began
        if epochs_done:
            self._console.print(f"going on after epoch {epochs_done}/{self._epochs}")

    def stepped(self, epoch: int, loss: float) -> None:
        self._done += 1
        step = self._done - (epoch - 1) * self._steps
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_STEPS and step < self._steps:
            self._line(f"epoch {epoch}/{self._epochs}, step {step}/{self._steps}: loss {loss:.4f}")

    def finished_epoch(self, metrics: EpochMetrics) -> None:
        self._done = metrics.epoch * self._steps
        self._line(epoch_line(metrics, self._epochs))

    def _line(self, words: str) -> None:
        self._last = time.monotonic()
        pace = (self._last - self._began) / (self._done - self._done_before)
        left = timedelta(seconds=round(pace * (self._epochs * self._steps - self._done)))
        self._console.print(f"{words}, {left} left")


class _LiveBar:
    def __init__(self, progress: Progress, epochs: int) -> None:
        self._progress, self._epochs, self._held = progress, epochs, ""
        self._task = progress.add_task("training", total=None)

    def started(self, epochs_done: int, steps_per_epoch: int) -> None:
        done = epochs_done * steps_per_epoch
        self._progress.update(self._task, total=self._epochs * steps_per_epoch, completed=done)

    def stepped(self, epoch: int, loss: float) -> None:
        description = f"epoch {epoch}/{self._epochs}, loss {loss:.3f}{self._held}"
        self._progress.update(self._task, advance=1, description=description)

    def finished_epoch(self, metrics: EpochMetrics) -> None:
        self._held = "" if metrics.noisy_accuracy is None else f", noisy accuracy {metrics.noisy_accuracy:.3f}"
        self._progress.console.print(epoch_line(metrics, self._epochs))


@contextmanager
def training_progress(console: Console, epochs: int) -> Iterator[Observer]:
    """An observer that shows a training run on the console."""
    if not console.is_terminal:
        yield _PlainLines(console, epochs)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        yield _LiveBar(progress, epochs)


@contextmanager
def download_progress(console: Console) -> Iterator[Callable[[str, int, int | None], None]]:
    """A report of bytes: a bar per file, or, elsewhere than on a terminal, a line as each file begins and ends."""
    if not console.is_terminal:
        yield _plain_download(console)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        tasks: dict[str, TaskID] = {}

        def report(name: str, have: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=total)
            progress.update(tasks[name], completed=have)

        yield report


def _plain_download(console: Console) -> Callable[[str, int, int | None], None]:
    begun: set[str] = set()

    def report(name: str, have: int, total: int | None) -> None:
        if name not in begun:
            begun.add(name)
            console.print(f"{name}: {'unknown size' if total is None else f'{total / 1e6:.1f} MB'}")
        if have == total:
            console.print(f"{name}: done")

    return report


@contextmanager
def points_progress(console: Console, what: str, unit: str = "points") -> Iterator[Callable[[int, int], None]]:
    """A report of points, or other units, done out of all.

    A bar with the time left, or a plain line every few seconds elsewhere.
    """
    if not console.is_terminal:
        yield _plain_points(console, what, unit)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left"))
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _plain_points(console: Console, what: str, unit: str) -> Callable[[int, int], None]:
    began = last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES and done < total:
            last = now
            left = timedelta(seconds=round((now - began) / done * (total - done)))
            console.print(f"{what}: {done} of {total} {unit}, {left} left")

    return report
