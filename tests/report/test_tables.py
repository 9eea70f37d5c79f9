"""Markdown and LaTeX say the same, and text from outside stays text in both."""

import re
from pathlib import Path

import pytest

from doublebubble.report.figure import BLUE, Line, Panel
from doublebubble.report.measures import Estimate
from doublebubble.report.tables import Table, latex, length, markdown, panel_table, percent, save_table, seconds, share

NASTY = "a|b_c%$#{d}~^<e>&\\`*[f]\nline"


def test_escaping() -> None:
    table = Table("caption 5 % & more", ("one", NASTY), (("x", NASTY),))
    plain = markdown(table)
    header, rule, row, _, caption = plain.splitlines()
    assert row == r"| x | a\|b\_c%\$\#\{d\}\~^\<e\>\&\\\`\*\[f\] line |"
    for line in (header, rule, row):
        assert len(re.findall(r"(?<!\\)\|", line)) == 3
    assert caption == r"caption 5 % \& more"
    tex = latex(table)
    assert r"\caption{caption 5 \% \& more}" in tex
    cell = r"a|b\_c\%\$\#\{d\}\textasciitilde{}\textasciicircum{}\textless{}e\textgreater{}\&\textbackslash{}`*[f] line"
    assert rf"    x & {cell} \\" in tex
    assert r"\begin{tabular}{ll}" in tex


def test_both_files_hold_every_cell(tmp_path: Path) -> None:
    table = Table("c", ("p", "q"), (("1", "2"), ("3", "4")))
    plain, tex = save_table(table, tmp_path / "sub" / "v1.0")
    assert (plain.name, tex.name) == ("v1.0.md", "v1.0.tex")
    assert [line.strip("| ").split(" | ") for line in plain.read_text().splitlines()[2:4]] == [["1", "2"], ["3", "4"]]
    assert "1 & 2 \\\\\n    3 & 4 \\\\\n    \\bottomrule" in tex.read_text()


def test_a_row_for_each_line_and_a_column_for_each_x_with_points() -> None:
    lines = (
        Line("a", {0.0: Estimate(0.5, 0.25, 0.75, 8), 1.0: Estimate(0.25, None, None, 2)}, BLUE),
        Line("b", {1.0: Estimate(0.0, 0.0, 0.4, 8)}, BLUE),
    )
    table = panel_table([[Panel("left", lines)], [Panel("right", lines[:1])]], (0.0, 0.5, 1.0), "r", share, "c")
    assert table.columns == ("panel", "line", "r 0", "r 1")
    assert table.rows == (
        ("left", "a", "50.0 % (25.0 to 75.0)", "25.0 %"),
        ("left", "b", "-", "0.0 % (0.0 to 40.0)"),
        ("right", "a", "50.0 % (25.0 to 75.0)", "25.0 %"),
    )


@pytest.mark.parametrize(
    ("cell", "text"),
    [(percent, "+1.50 % (-2.00 to +3.00)"), (length, "+1.5000 (-2.0000 to +3.0000)"), (seconds, "1.5 s (-2 to 3)")],
)
def test_cells(cell: object, text: str) -> None:
    assert callable(cell)
    assert cell(Estimate(1.5, -2.0, 3.0, 9)) == text
