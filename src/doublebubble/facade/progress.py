"""How far is a certification? A live bar on a terminal and in a notebook, plain lines elsewhere."""

import importlib.util
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from doublebubble.report.facts import guarantee_of
from doublebubble.report.rounding import length
from doublebubble.runs.record import Record

_SECONDS_BETWEEN_LINES = 10.0
_FIRST_BURST = 1.0  # seconds from the first record of a group to its last, at most

Watcher = Callable[[Record], None]


class _Standing:
    """Counts what the progress display tells: records, correct ones, the sum of their radii, and how fast they come.

    Records come in bursts, a group at a time, so the rate is that since the start and not that of the last moments.
    While the first burst lasts there is none: its first record took the time of the whole group.
    """

    def __init__(self, earlier: list[Record], total: int) -> None:
        self.total, self.done, self.certified, self.failed, self._sum = total, 0, 0, 0, 0.0
        self._mark = ""
        self._first = math.inf
        for record in earlier:
            self.add(record)
        self._before, self.began = self.done, time.monotonic()
        self._first = math.inf

    def add(self, record: Record) -> None:
        self._first = min(self._first, time.monotonic())
        self.done += 1
        self.failed += record.status == "failed"
        self._mark = self._mark if record.status == "failed" else guarantee_of(record).mark
        if record.correct:
            self.certified += 1
            self._sum += record.radius

    def pace(self) -> str:
        now = time.monotonic()
        if self.done < self.total and now - self._first < _FIRST_BURST:
            return ""
        rate = (self.done - self._before) / max(1e-9, now - self.began)
        left = timedelta(seconds=round((self.total - self.done) / rate))
        return f"{f'{rate:.1f}/s' if rate >= 1 else f'{60 * rate:.1f}/min'}, {left} left, "

    def text(self) -> str:
        accuracy = self.certified / self.done if self.done else 0.0
        failed = f", {self.failed} failed" if self.failed else ""
        average = self._sum / max(1, self.done)
        beside = f" ({self._mark})" if self._mark else ""
        return f"certified accuracy {accuracy:.1%}, average radius {length(average)}{beside}{failed}"


@contextmanager
def certifying_progress(console: Console, earlier: list[Record], total: int, quiet: bool) -> Iterator[Watcher]:
    """A watcher that shows a live bar on a terminal, a line now and then elsewhere, or nothing."""
    standing = _Standing(earlier, total)
    if quiet:
        yield standing.add
    elif console.is_terminal or _in_notebook(console):
        with _bar(console) as progress:
            task = progress.add_task(
                "certifying", total=total, completed=standing.done, pace="", standing=standing.text()
            )

            def watch(record: Record) -> None:
                standing.add(record)
                progress.update(task, completed=standing.done, pace=standing.pace(), standing=standing.text())

            yield watch
    else:
        yield _Lines(console, standing).watch


def _in_notebook(console: Console) -> bool:
    """Whether a notebook can show a live bar; without ipywidgets it gets plain lines."""
    return console.is_jupyter and importlib.util.find_spec("ipywidgets") is not None


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[pace]}"),
        TextColumn("{task.fields[standing]}"),
        console=console,
    )


class _Lines:
    """A plain line at the first record, at the last, and every few seconds between."""

    def __init__(self, console: Console, standing: _Standing) -> None:
        self._console, self._standing, self._last = console, standing, standing.began - _SECONDS_BETWEEN_LINES

    def watch(self, record: Record) -> None:
        standing = self._standing
        standing.add(record)
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_LINES and standing.done < standing.total:
            return
        self._last = now
        self._console.print(f"{standing.done}/{standing.total} inputs, {standing.pace()}{standing.text()}")
