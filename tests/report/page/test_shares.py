"""The histogram of p_A: every input with votes stands in exactly one bar, and the words say the same numbers."""

import re
from pathlib import Path

import numpy as np

from doublebubble.report.page.shares import BINS, shares, shares_figure
from doublebubble.runs.record import Record
from tests.report.page.samples import stored
from tests.runs.samples import certificate


def record(index: int, votes: dict[int, int], prediction: int = 1) -> Record:
    return Record.of(certificate(index, prediction=prediction)).model_copy(update={"counts": {"input": votes}})


def test_each_input_stands_in_its_bar() -> None:
    records = [record(0, {1: 100}), record(1, {1: 95, 0: 5}), record(2, {1: 949, 0: 51}), record(3, {0: 40, 1: 39})]
    records += [record(4, {2: 45, 1: 30, 0: 25}, prediction=2), record(5, {1: 1, 0: 1}), Record.failed(6, 1, "broken")]
    found = shares(records)
    assert [(place, count) for place, count in enumerate(found.right) if count] == [(10, 2), (18, 1), (19, 2)]
    assert [(place, count) for place, count in enumerate(found.other) if count] == [(9, 1)]
    assert found.n == 6
    text = shares_figure(records)
    assert "over 6 inputs: at least 95 % on 2, less than half on 1." in text


def test_the_bars_are_those_of_numpy(tmp_path: Path) -> None:
    records = stored(tmp_path / "run").records
    known = [max(one.counts["input"].values()) / sum(one.counts["input"].values()) for one in records if one.counts]
    found = shares(records)
    counted, _ = np.histogram(known, bins=np.arange(BINS + 1) / BINS)
    assert (np.array(found.right) + np.array(found.other)).tolist() == counted.tolist()
    heights = [float(height) for height in re.findall(r'<rect[^>]* height="([0-9.]+)"', shares_figure(records))]
    assert round(sum(heights) / 64 * counted.max(), 2) == len(known)


def test_a_run_without_votes_has_no_histogram() -> None:
    assert shares_figure([Record.failed(0, 1, "broken")]) == ""
