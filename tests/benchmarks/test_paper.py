"""The table of protocol `paper`: whose time is divided by whose, and which rows must be met."""

import time
from dataclasses import replace

import pytest
import torch

from benchmarks.paper import CASES, Case, Timed, measure, rows_of
from doublebubble.smoothing import Input
from tests.engines.centroids import make
from tests.runs.samples import certificate


def timed(seconds: list[float], cohen: list[float], radius: float) -> Timed:
    return Timed(seconds, cohen, [replace(certificate(), radius=radius)])


def test_ratios_are_medians_of_rounds_and_radii_are_divided_by_the_published_form() -> None:
    published, thrifty = Case("single", "full", False, 18), Case("single", "full", True, 14)
    slow = timed([20.0, 90.0, 38.0], [1.0, 3.0, 2.0], 0.5)  # 20, 30, 19
    quick = timed([6.0, 8.0], [1.0, 1.0], 0.4)
    times = rows_of({published: slow, thrifty: quick})
    assert [(row.value, row.met) for row in times] == [(20.0, False), (7.0, True), (0.8, False)]
    assert all("no guarantee" in row.what for row in times)
    assert rows_of({Case("double", "approximate", True, None): quick})[0].met is None


def test_the_targets_are_those_that_were_set() -> None:
    targets = {(case.method, case.gradient, case.thrifty): case.most for case in CASES}
    assert targets["single", "approximate", False] == 10
    assert targets["double", "approximate", False] == 40
    assert targets["single", "full", False] == 18
    assert targets["double", "full", False] == 45
    assert [targets[key] for key in sorted(targets) if key[2]] == [None, 20, 6, 14]
    assert all(case.config().thrifty is case.thrifty for case in CASES)


def test_every_case_is_timed_beside_cohen_on_every_input(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    inputs = [Input(index, torch.rand((1, 8, 8), generator=torch.Generator().manual_seed(index))) for index in (3, 4)]
    found = measure(make(), inputs, 2, [Case("single", "approximate", True, 6)])
    (one,) = found.values()
    assert (one.seconds, one.cohen) == ([2.0, 2.0], [2.0, 2.0])
    assert [made.index for made in one.certificates] == [3, 4]
