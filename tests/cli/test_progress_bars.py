"""Progress on a terminal: a live bar with loss, accuracy under noise and time left."""

import io
import time

import pytest
from rich.console import Console

from doublebubble.cli.progress_bars import download_progress, points_progress, training_progress
from doublebubble.training import EpochMetrics


def test_a_terminal_shows_loss_accuracy_and_time_left() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=160, highlight=False)
    with training_progress(console, epochs=3) as observer:
        observer.started(epochs_done=1, steps_per_epoch=2)
        observer.stepped(2, 0.75)
        observer.finished_epoch(EpochMetrics(2, 0.5, 0.625, 0.875, 0.001, 12.0))
        observer.stepped(3, 0.25)
    shown = screen.getvalue()
    assert "epoch 2/3: loss 0.5000, training accuracy 0.6250, noisy accuracy 0.8750, 12 s" in shown
    assert "epoch 3/3, loss 0.250, noisy accuracy 0.875" in shown
    assert "left" in shown


def test_a_long_epoch_tells_a_line_per_minute_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    plain = io.StringIO()
    with training_progress(Console(file=plain, width=160), epochs=3) as observer:
        observer.started(epochs_done=1, steps_per_epoch=5)
        for step in range(1, 6):
            now = 1000.0 + 40 * step
            observer.stepped(2, 1 / step)
        observer.finished_epoch(EpochMetrics(2, 0.5, 0.625, 0.875, 0.001, 200.0))
    assert plain.getvalue().splitlines() == [
        "going on after epoch 1/3",
        "epoch 2/3, step 2/5: loss 0.5000, 0:05:20 left",
        "epoch 2/3, step 4/5: loss 0.2500, 0:04:00 left",
        "epoch 2/3: loss 0.5000, training accuracy 0.6250, noisy accuracy 0.8750, 200 s, 0:03:20 left",
    ]


def test_a_terminal_shows_bytes() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=160, highlight=False)
    with download_progress(console) as report:
        report("file.gz", 500_000, 1_000_000)
        report("file.gz", 1_000_000, 1_000_000)
    assert "file.gz" in screen.getvalue()
    assert "1.0/1.0 MB" in screen.getvalue()


def test_points_are_a_bar_on_a_terminal_and_a_line_now_and_then_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    with points_progress(Console(file=screen, force_terminal=True, width=160), "drawing input 3") as seen:
        seen(20, 40)
    assert "drawing input 3" in screen.getvalue()
    plain = io.StringIO()
    clock = iter([100.0, 101.0, 112.0, 113.0, 140.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with points_progress(Console(file=plain, width=160), "drawing input 3") as seen:
        for done in (1, 10, 11, 40):
            seen(done, 40)
    assert plain.getvalue() == "drawing input 3: 10 of 40 points, 0:00:36 left\n"
