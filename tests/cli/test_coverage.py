"""`audit --coverage`: a table, a figure, numbers, and an exit code that says whether every method is valid."""

import json
from pathlib import Path
from unittest import mock

import pytest

from doublebubble.audit import validity
from doublebubble.audit.validity import Coverage
from tests.cli.calling import call

COMMAND = ("audit", "--coverage", "--methods", "cohen,dipole", "--alphas", "0.5,0.2", "--draws", "40")
FOUND = [
    Coverage("half-space", "sound", "cohen", 0.2, 100, 100, 15),
    Coverage("half-space", "sound", "cohen", 0.2, 100, 100, 90),
    Coverage("half-space", "paper", "cohen", 0.2, 100, 100, 99),
]


def test_a_table_a_figure_and_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with mock.patch("os.cpu_count", return_value=1):
        code, out, _ = call(capsys, *COMMAND, "--tight", "--repetitions", "30", "--out", str(tmp_path / "c"))
    assert code == 0, out
    assert "every method of protocol sound is valid" in out
    rows = json.loads((tmp_path / "c" / "coverage.json").read_text())
    assert {(row["method"], row["alpha"]) for row in rows} == {(m, a) for m in ("cohen", "dipole") for a in (0.5, 0.2)}
    assert all(row["times"] == 30 and row["share"] == row["misses"] / 30 for row in rows)
    assert (tmp_path / "c" / "coverage.png").exists()


def test_too_many_misses_are_named_and_end_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    with mock.patch.object(validity, "answers", return_value=FOUND):
        code, out, _ = call(capsys, *COMMAND)
        assert code == 1
        assert "cohen at half-space, alpha 0.2: 90 misses in 100" in out
        assert "99 misses" not in out, "nothing is promised under paper"
        code, out, _ = call(capsys, *COMMAND, "--json")
    assert code == 1
    assert json.loads(out)["valid"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("audit",), "either the folder of a run or --coverage"),
        (("audit", "somewhere", "--coverage"), "either the folder of a run or --coverage"),
        (("audit", "--coverage", "--alphas", "0.5,2"), "alphas: expected"),
        (("audit", "--coverage", "--alphas", "few"), "alphas: expected"),
        (("audit", "--coverage", "--methods", "nonsense"), "nonsense"),
    ],
)
def test_wrong_use_is_said(arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = call(capsys, *arguments)
    assert code == 2
    assert words in " ".join(error.split())
