"""Rows of the table: numbers with units, targets, and JSON in which numbers are numbers."""

import json
from collections.abc import Callable

import pytest

from benchmarks.rows import Row, best_seconds, number


def test_a_row_says_what_was_measured_and_whether_that_is_enough() -> None:
    row = Row("votes", 0.934, at_least=0.9, parts={"votes per second": 1234.4, "rows": 64}, note="folded")
    assert (row.measured, row.target, row.met) == (
        "0.934 (1,234 votes per second, 64 rows, folded)",
        "at least 0.9",
        True,
    )
    assert Row("votes", 0.85, at_least=0.9).met is False
    assert Row("memory", 1.03, at_most=1.02).met is False
    assert Row("memory", 1.02, at_most=1.02).met is True
    assert (Row("time", 3.0, "s").met, Row("time", 3.0, "s").measured, Row("time", 3.0).target) == (None, "3 s", "")


def test_json_holds_numbers() -> None:
    row = Row("votes", 0.934, at_least=0.9, parts={"rows": 64})
    assert json.loads(json.dumps(row.content())) == {
        "what": "votes",
        "value": 0.934,
        "unit": "",
        "at_least": 0.9,
        "at_most": None,
        "parts": {"rows": 64},
        "note": "",
        "met": True,
    }


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (1.0, "1"), (0.98765, "0.988"), (15.34, "15.3"), (12345.6, "12,346"), (2e-5, "2.00e-05")],
)
def test_numbers_are_short(value: float, shown: str) -> None:
    assert number(value) == shown


def test_rivals_take_turns_and_the_best_round_of_each_counts() -> None:
    now, calls = [0.0], list[str]()
    takes = {"slow": iter([9.0, 5.0, 4.0, 6.0]), "quick": iter([9.0, 2.0, 3.0, 1.0])}

    def rival(name: str) -> Callable[[], None]:
        def run() -> None:
            calls.append(name)
            now[0] += next(takes[name])

        return run

    rivals = {name: rival(name) for name in takes}
    assert best_seconds(rivals, 3, clock=lambda: now[0]) == {"slow": 4.0, "quick": 1.0}
    assert calls == ["slow", "quick"] * 4, "the first round warms up"
