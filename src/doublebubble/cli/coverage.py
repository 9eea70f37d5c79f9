"""`doublebubble audit --coverage`: how often certificates of classifiers with a known truth claim too much."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from doublebubble.errors import SettingError
from doublebubble.files import write_whole
from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from doublebubble.audit.validity import Coverage, Watcher

DRAWS = 300
REPETITIONS = 100


def audit_coverage(
    methods: str, alphas: str, repetitions: int, draws: int, tight: bool, paper: bool, out: Path | None, as_json: bool
) -> None:
    """Ask, tell how far it is, show the table, write what was found; exit 1 if a method is not valid."""
    from doublebubble import registry
    from doublebubble.audit.validity import answers, every_question, invalid, tight_questions

    levels = _levels(alphas)
    known = registry.names("sound")
    asked = known if methods == "all" else tuple(methods.split(","))
    for method in asked:
        registry.card(method)  # an unknown name is an error that lists the known ones
    questions = tight_questions(asked, levels, repetitions, draws)
    if not tight:
        questions += every_question(asked, levels, repetitions, draws)
        questions += every_question(asked, levels, repetitions, draws, "paper") if paper else []
    console = Terminal()
    with _progress(Terminal(stderr=True), sum(question.times for question in questions)) as watch:
        found = answers(questions, os.cpu_count() or 1, watch)
    wrong = invalid(found)
    if as_json:
        typer.echo(json.dumps({"valid": not wrong, "coverage": [asdict(one) for one in found]}))
    else:
        _show(console, found)
        for one in wrong:
            console.print(f"{one.method} at {one.case}, alpha {one.alpha:g}: {one.misses} misses in {one.times}")
        console.print("more misses than alpha allows" if wrong else "every method of protocol sound is valid")
    if out is not None:
        _write(out, found)
        console.print(f"figure and numbers are in {out}")
    if wrong:
        raise typer.Exit(1)


def _levels(text: str) -> tuple[float, ...]:
    try:
        levels = tuple(float(part) for part in text.split(","))
    except ValueError:
        levels = ()
    if not levels or not all(0 < level < 1 for level in levels):
        raise SettingError(f"alphas: expected numbers between 0 and 1 with commas, got {text!r}")
    return tuple(sorted(set(levels), reverse=True))


@contextmanager
def _progress(console: Terminal, total: int) -> "Iterator[Watcher]":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("repetitions"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.advance(task, done)


def _show(console: Terminal, found: "Sequence[Coverage]") -> None:
    """The worst point of each method at each level, and how often its plan was its own there."""
    from rich.table import Table

    from doublebubble.report.coverage_figure import PROTOCOLS, worst

    table = Table("protocol", "method", "alpha", "misses", "of", "share / alpha", "own plans", "worst point")
    for protocol in PROTOCOLS:
        for method in dict.fromkeys(one.method for one in found if one.protocol == protocol):
            for alpha, one in worst(found, protocol, method).items():
                ratio, own = f"{one.share / alpha:.2f}", f"{one.own / one.times:.0%}"
                cells = (f"{alpha:g}", str(one.misses), str(one.times), ratio, own)
                table.add_row(protocol, method, *cells, one.case)
    console.print(table)


def _write(out: Path, found: "Sequence[Coverage]") -> None:
    from doublebubble.report.coverage_figure import coverage_figure
    from doublebubble.report.figure import save

    save(coverage_figure(found), out / "coverage")
    rows = [{**asdict(one), "share": one.share, "p_value": one.p_value} for one in found]
    write_whole(out / "coverage.json", (json.dumps(rows, indent=1) + "\n").encode())
