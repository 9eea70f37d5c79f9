"""Progress of a certification: the numbers of the records so far, live on a terminal, plain lines elsewhere."""

import importlib.util
import io
import time

import pytest
from rich.console import Console

from doublebubble.facade import progress
from doublebubble.facade.progress import certifying_progress
from doublebubble.runs.record import Record
from doublebubble.types import ABSTAIN
from tests.report.page.samples import published
from tests.runs.samples import certificate


def record(index: int, radius: float = 0.4, prediction: int = 1) -> Record:
    return Record.of(certificate(index, radius, prediction))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the time is, in its last element."""
    times = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: times[-1])
    return times


def test_plain_lines_come_now_and_then_with_the_numbers_so_far(clock: list[float]) -> None:
    plain = io.StringIO()
    earlier = [record(0), record(1, 0.0, ABSTAIN)]
    with certifying_progress(Console(file=plain, width=200), earlier, 6, quiet=False) as watch:
        for index, made in enumerate([record(2, 0.8), record(3, prediction=2), Record.failed(4, 1, "no"), record(5)]):
            clock.append(1002.0 + 4 * index)  # 2, 6, 10 and 14 seconds after the start
            watch(made)
    assert plain.getvalue().splitlines() == [
        "3/6 inputs, certified accuracy 66.7%, average radius 0.4000",
        "6/6 inputs, 17.1/min, 0:00:00 left, certified accuracy 50.0%, average radius 0.2666, 1 failed",
    ]


def test_no_time_is_told_before_the_first_group_is_complete(clock: list[float]) -> None:
    """The first record of a group of four comes after the time of all four: it would tell four times the time."""
    plain = io.StringIO()
    with certifying_progress(Console(file=plain, width=200), [], 12, quiet=False) as watch:
        for group in range(3):
            for index in range(4):
                clock.append(1000.0 + 20 * (group + 1) + 0.01 * index)
                watch(record(4 * group + index))
    told = [line.split(", certified")[0] for line in plain.getvalue().splitlines()]
    assert told == [
        "1/12 inputs",
        "5/12 inputs, 7.5/min, 0:00:56 left",
        "9/12 inputs, 9.0/min, 0:00:20 left",
        "12/12 inputs, 12.0/min, 0:00:00 left",
    ]


def test_a_terminal_shows_a_bar_with_the_same(clock: list[float]) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=160, highlight=False)
    with certifying_progress(console, [record(0)], 2, quiet=False) as watch:
        clock.append(1000.25)
        watch(record(1, 0.2))
    assert "certifying" in screen.getvalue()
    assert "4.0/s, 0:00:00 left" in screen.getvalue()
    assert "certified accuracy 100.0%, average radius 0.300" in screen.getvalue()


def test_numbers_without_a_guarantee_are_marked(clock: list[float]) -> None:
    plain = io.StringIO()
    with certifying_progress(Console(file=plain, width=200), [], 1, quiet=False) as watch:
        clock.append(1001.0)
        watch(Record.of(published(0, 0.5)))
    assert "(not guaranteed)" in plain.getvalue()


def test_quiet_says_nothing() -> None:
    plain = io.StringIO()
    with certifying_progress(Console(file=plain, force_terminal=True), [], 1, quiet=True) as watch:
        watch(record(0))
    assert plain.getvalue() == ""


def test_a_notebook_without_widgets_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), force_jupyter=True)
    for there in (True, False):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, there=there: there or None)
        assert progress._in_notebook(console) is there
    assert not progress._in_notebook(Console(file=io.StringIO()))
