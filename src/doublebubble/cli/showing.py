"""Runs for people and for programs: the progress of a certification, and what a run holds, as tables or as JSON."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from doublebubble.report.facts import facts, guarantee_of, mark
from doublebubble.runs.record import Record
from doublebubble.runs.spec import spec_hash
from doublebubble.runs.statistics import Comparison, Summary, compare, summarise
from doublebubble.runs.store import Run
from doublebubble.runs.tables import frame
from doublebubble.types import Guarantee

_SECONDS_BETWEEN_LINES = 10.0


Watcher = Callable[[Record], None]


class _Tally:
    """Counts what the progress display tells: records, correct ones, the sum of their radii, and how fast they come.

    Records come in bursts, a group at a time, so the rate is that since the start and not that of the last moments.
    """

    def __init__(self, earlier: list[Record], total: int) -> None:
        self.total, self.done, self.certified, self.failed, self._sum = total, 0, 0, 0, 0.0
        self._mark = ""
        for record in earlier:
            self.add(record)
        self._before, self.began = self.done, time.monotonic()

    def add(self, record: Record) -> None:
        self.done += 1
        self.failed += record.status == "failed"
        self._mark = self._mark if record.status == "failed" else guarantee_of(record).mark
        if record.correct:
            self.certified += 1
            self._sum += record.radius

    def pace(self) -> str:
        if self.done == self._before:
            return ""
        rate = (self.done - self._before) / max(1e-9, time.monotonic() - self.began)
        left = timedelta(seconds=round((self.total - self.done) / rate))
        return f"{f'{rate:.1f}/s' if rate >= 1 else f'{60 * rate:.1f}/min'}, {left} left"

    def text(self) -> str:
        accuracy = self.certified / self.done if self.done else 0.0
        failed = f", {self.failed} failed" if self.failed else ""
        average = self._sum / max(1, self.done)
        return f"certified accuracy {accuracy:.1%}, average radius {average:.3f}{_aside(self._mark)}{failed}"


@contextmanager
def certifying_progress(console: Console, earlier: list[Record], total: int, quiet: bool) -> Iterator[Watcher]:
    """A watcher that shows a live bar on a terminal, a line now and then elsewhere, or nothing."""
    tally = _Tally(earlier, total)
    if quiet:
        yield tally.add
    elif console.is_terminal:
        with _bar(console) as progress:
            task = progress.add_task("certifying", total=total, completed=tally.done, pace="", tally=tally.text())

            def watch(record: Record) -> None:
                tally.add(record)
                progress.update(task, completed=tally.done, pace=tally.pace(), tally=tally.text())

            yield watch
    else:
        yield _Lines(console, tally).watch


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[pace]}"),
        TextColumn("{task.fields[tally]}"),
        console=console,
    )


class _Lines:
    """A plain line at the first record, at the last, and every few seconds between."""

    def __init__(self, console: Console, tally: _Tally) -> None:
        self._console, self._tally, self._last = console, tally, tally.began - _SECONDS_BETWEEN_LINES

    def watch(self, record: Record) -> None:
        tally = self._tally
        tally.add(record)
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_LINES and tally.done < tally.total:
            return
        self._last = now
        self._console.print(f"{tally.done}/{tally.total} inputs, {tally.pace()}, {tally.text()}")


def show_runs(console: Console, runs: list[Run]) -> None:
    """What each run holds, then the first compared with each of the others."""
    for run in runs:
        _show_run(console, run)
    for other in runs[1:]:
        found = compare(frame(runs[0]), frame(other))
        marks = dict.fromkeys(words for run in (runs[0], other) if (words := mark(run)))
        console.print(
            f"{other.path} against {runs[0].path}: radius larger on {found.larger}, smaller on {found.smaller} of "
            f"{found.n} common inputs, on average {found.mean_difference:+.4f}; sign test p = {found.p_value:.3g}"
            f"{_aside(', '.join(marks))}",
            markup=False,
        )


def _show_run(console: Console, run: Run) -> None:
    console.print(str(run.path), style="bold", markup=False)
    for name, value in facts(run):
        console.print(f"  {name:<14}{value}", markup=False)
    if not run.records:
        return
    summary = summarise(frame(run))
    words = mark(run)
    table = Table("radius", f"certified accuracy{_aside(words)}", "95 % over inputs", "inputs")
    for point in summary.accuracies:
        band = f"{point.low:.1%} to {point.high:.1%}"
        table.add_row(f"{point.radius:.2f}", f"{point.accuracy:.1%}", band, f"{point.certified} of {point.n}")
    console.print(table)
    failed = f", {summary.failed} of them failed" if summary.failed else ""
    console.print(
        f"average certified radius {summary.average_radius:.4f}{_aside(words)}; "
        f"abstained {summary.abstained} of {summary.n} ({summary.abstention_rate:.1%}){failed}"
    )
    for guarantee in summary.guarantees:
        console.print(f"each radius {Guarantee(guarantee).sentence}")


def _aside(words: str) -> str:
    return f" ({words})" if words else ""


def runs_json(runs: list[Run]) -> list[dict[str, object]]:
    """What `show_runs` shows, for programs; the comparison is with the first run."""
    return [_run_json(run, runs[0] if number else None) for number, run in enumerate(runs)]


def _run_json(run: Run, first: Run | None) -> dict[str, object]:
    summary = summarise(frame(run)) if run.records else None
    return {
        "run": str(run.path),
        "hash": spec_hash(run.spec),
        "spec": run.spec.model_dump(mode="json"),
        "inputs": len(run.spec.index_list),
        "done": len(run.records),
        "torn": run.torn,
        "summary": None if summary is None else _summary_json(summary),
        "against_first": None if first is None else _comparison_json(compare(frame(first), frame(run))),
    }


def _summary_json(summary: Summary) -> dict[str, object]:
    return {
        "certified_accuracy": [
            {"radius": point.radius, "accuracy": point.accuracy, "low": point.low, "high": point.high}
            for point in summary.accuracies
        ],
        "average_radius": summary.average_radius,
        "abstained": summary.abstained,
        "failed": summary.failed,
        "guarantees": list(summary.guarantees),
    }


def _comparison_json(found: Comparison) -> dict[str, object]:
    return {
        "inputs": found.n,
        "larger": found.larger,
        "smaller": found.smaller,
        "mean_difference": found.mean_difference,
        "p_value": found.p_value,
    }
