"""Markdown and LaTeX say the same, and text from outside stays text in both."""

import re
from pathlib import Path

import pytest

from doublebubble.report.figure import BLUE, DrawnLine, Panel
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
    cell = (
        r"a|b\_c\%\$\#\{d\}"
        + r"\textasciitilde{}\textasciicircum{}\textless{}e\textgreater{}\&\textbackslash{}`{*}{[}f] line"
    )
    assert rf"    x & {cell} \\" in tex
    assert r"\begin{tabular}{ll}" in tex


def test_both_files_hold_every_cell(tmp_path: Path) -> None:
    table = Table("c", ("p", "q"), (("1", "2"), ("3", "4")))
    plain, tex = save_table(table, tmp_path / "sub" / "v1.0")
    assert (plain.name, tex.name) == ("v1.0.md", "v1.0.tex")
    assert [line.strip("| ").split(" | ") for line in plain.read_text().splitlines()[2:4]] == [["1", "2"], ["3", "4"]]
    assert "1 & 2 \\\\\n    3 & 4 \\\\\n    \\bottomrule" in tex.read_text()


def readable(tex: str) -> list[list[str]]:
    """The cells of every row of LaTeX, rules and commands around tables left out."""
    rows = re.findall(r"^    (?!\\)(.*?) \\\\\*?$", tex, flags=re.M)
    return [[cell.strip() for cell in row.split(" & ")] for row in rows]


@pytest.mark.parametrize("count", [3, 40, 41, 144])
def test_a_table_longer_than_a_page_runs_over_pages(count: int) -> None:
    rows = tuple(("p" if k < 20 else "q", f"name {k}", str(k)) for k in range(count))
    for grouped in (False, True):
        tex = latex(Table("caption", ("protocol", "line", "number"), rows, grouped))
        printed = count + (tex.count(r"\multicolumn") if grouped else 0)
        long = printed > 40
        assert tex.startswith(f"% needs the packages booktabs{', longtable' if long else ''}\n")
        assert tex.count(r"\begin{longtable}") == tex.count(r"\endhead") == int(long)
        assert tex.count(r"\begin{table}") == tex.count(r"\begin{tabular}") == int(not long)
        assert tex.count(r"\caption{caption}") == 1
        cells = [row[-2:] for row in readable(tex) if row[-1].isdigit()]
        assert cells == [[f"name {k}", str(k)] for k in range(count)]


def test_rows_of_a_group_stay_with_its_heading() -> None:
    rows = tuple((f"group {k // 32}, not guaranteed", str(k)) for k in range(64))
    lines = latex(Table("caption", ("panel", "number"), rows, grouped=True)).splitlines()
    begin = next(k for k, line in enumerate(lines) if "multicolumn" in line)
    heading = ""
    for line in lines[begin:-2]:
        if "multicolumn" in line:
            heading = line
        else:
            assert f"group {int(line.split()[0]) // 32}, not guaranteed" in heading
        if line.endswith(r"\\"):  # a page may end here, so that the next line must be a heading
            heading = ""
    assert sum("multicolumn" in line for line in lines) == 6


def test_a_wide_table_has_its_bands_below_its_numbers_and_comes_in_parts() -> None:
    numbers = tuple(f"{k}.00 % (-{k}.25 to +{k}.75)" for k in range(10))
    columns = ("panel", "line", *(f"sigma {k}" for k in range(10)))
    rows = tuple(("sound", f"a line with a name {k}", *numbers) for k in range(2))
    tex = latex(Table("caption", columns, rows, grouped=True))
    assert tex.count(r"\begin{table}") == 2
    assert tex.count(r"\multicolumn{6}{l}{\textit{sound}}") == 2
    for part, text in enumerate(tex.split(r"\end{table}")[:2]):
        assert f"Part {part + 1} of 2." in text
        head, *body = readable(text)
        chosen = range(5 * part, 5 * part + 5)
        assert head == ["line", *(f"sigma {k}" for k in chosen)]
        values, bands = body[0::2], body[1::2]
        assert values == [[f"a line with a name {n}", *(rf"{k}.00 \%" for k in chosen)] for n in range(2)]
        assert bands == [["", *(rf"\scriptsize (-{k}.25 to +{k}.75)" for k in chosen)]] * 2
    narrow = latex(Table("caption", columns[:3], tuple(row[:3] for row in rows), grouped=True))
    assert r"0.00 \% (-0.25 to +0.75) \\" in narrow


def test_a_row_for_each_line_and_a_column_for_each_x_with_points() -> None:
    lines = (
        DrawnLine("a", {0.0: Estimate(0.5, 0.25, 0.75, 8), 1.0: Estimate(0.25, None, None, 2)}, BLUE),
        DrawnLine("b", {1.0: Estimate(0.0, 0.0, 0.4, 8)}, BLUE),
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
