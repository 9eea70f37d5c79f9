"""Metrics: one line for each epoch, and what a crash left of epochs to be run again is dropped."""

from pathlib import Path

from doublebubble.training import EpochMetrics
from doublebubble.training.metrics import METRICS, append_metrics, keep_metrics, read_metrics


def epoch(number: int) -> EpochMetrics:
    return EpochMetrics(number, 1.5 / number, 0.5, None if number == 2 else 0.75, 1e-3, 12.5)


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    assert read_metrics(tmp_path) == []
    for number in (1, 2, 3):
        append_metrics(tmp_path, epoch(number))
    assert read_metrics(tmp_path) == [epoch(1), epoch(2), epoch(3)]


def test_later_and_torn_lines_are_dropped(tmp_path: Path) -> None:
    keep_metrics(tmp_path, 1)
    assert not (tmp_path / METRICS).exists()
    for number in (1, 2, 3):
        append_metrics(tmp_path, epoch(number))
    with (tmp_path / METRICS).open("a") as file:
        file.write('{"epoch": 2, "lo')
    keep_metrics(tmp_path, 2)
    assert read_metrics(tmp_path) == [epoch(1), epoch(2)]
