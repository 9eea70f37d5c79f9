"""Tables as Markdown and as LaTeX, from the same rows. Text from outside is escaped in both."""

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from pathlib import Path

import numpy as np

from doublebubble.files import write_whole
from doublebubble.report.figure import Panel
from doublebubble.report.measures import Estimate

EMPTY = "-"
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "[": "{[}",  # after the end of a row these two would be part of the command
    "*": "{*}",
}
_PAGE_LINES, _PAGE_WIDTH = 40, 105  # a page of text, the latter in characters of footnotes
_TOGETHER, _NUMBERS = 15, 5  # rows below one heading, columns of numbers in a part of a table
_BAND = re.compile(r"(.*\S) (\(.+ to .+\))")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~$&])")


@dataclass(frozen=True)
class Table:
    """Cells as text, every row as long as `columns`; `caption` says what stands behind the numbers.

    If `grouped`, rows with the same first cell belong together: in LaTeX that cell is the heading above them.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    grouped: bool = False

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows)


def markdown(table: Table) -> str:
    """The table as Markdown, its caption below."""
    lines = [
        _row([_plain(cell) for cell in table.columns]),
        _row(["---"] * len(table.columns)),
        *(_row([_plain(cell) for cell in row]) for row in table.rows),
    ]
    return "\n".join(lines) + f"\n\n{_plain(table.caption)}\n"


def latex(table: Table) -> str:
    """The table in LaTeX with the rules of booktabs, no wider and no longer than a page holds.

    Long tables run over pages (longtable). In wide ones each band stands below its number, and what is still too wide
    is set in parts. The first line names the packages that are needed.
    """
    parts = [_tabular(part) for part in _parts(table)]
    packages = "booktabs, longtable" if any("longtable" in part for part in parts) else "booktabs"
    return "\n".join([f"% needs the packages {packages}", *parts])


def _tabular(table: Table) -> str:
    """One float, or one longtable if there are more lines than a page holds."""
    shown = table.columns[1:] if table.grouped else table.columns
    head = [*_head(table, shown), r"\midrule"]
    body = list(_body(table, len(shown)))
    form, caption = "{" + "l" * len(shown) + "}", rf"\caption{{{_tex(table.caption)}}}"
    if len(body) <= _PAGE_LINES:
        inside = [caption, r"\centering\footnotesize", r"\begin{tabular}" + form]
        rows = [r"\toprule", *head, *body, r"\bottomrule"]
        lines = [*("  " + line for line in inside), *("    " + line for line in rows), r"  \end{tabular}"]
        return "\n".join([r"\begin{table}", *lines, r"\end{table}"]) + "\n"
    first = [caption + r" \\", r"\toprule", *head, r"\endfirsthead"]
    later = [r"\toprule", *head, r"\endhead", r"\bottomrule", r"\endfoot"]
    lines = ["    " + line for line in (*first, *later, *body)]
    opening = [r"\begingroup\footnotesize", r"\begin{longtable}" + form]
    return "\n".join([*opening, *lines, r"\end{longtable}", r"\endgroup"]) + "\n"


def _head(table: Table, shown: Sequence[str]) -> Iterator[str]:
    """The names of the columns, broken into lines that are not much wider than the cells below."""
    first = len(table.columns) - len(shown)
    widths = [max(10, *(len(cell) for cell in _cells(table, first + k))) for k in range(len(shown))]
    broken = [textwrap.wrap(name, width) for name, width in zip(shown, widths, strict=True)]
    for words in zip_longest(*broken, fillvalue=""):
        yield " & ".join(_tex(word) for word in words) + r" \\"


def _body(table: Table, columns: int) -> Iterator[str]:
    """The rows; those of a group below its heading, which is repeated, and from which no page break parts them."""
    stacked = _width(table, stacked=False) > _PAGE_WIDTH
    for heading, group in groupby(table.rows, key=lambda row: row[0] if table.grouped else None):
        rows = list(group)
        for start in range(0, len(rows), _TOGETHER):
            if heading is not None:
                yield rf"\multicolumn{{{columns}}}{{l}}{{\textit{{{_tex(heading)}}}}} \\*"
            together = rows[start : start + _TOGETHER]
            for number, row in enumerate(together, start=1):
                cells = [_stack(cell) if stacked else (cell, "") for cell in row[-columns:]]
                stay = "*" if heading is not None and number < len(together) else ""
                below = any(band for _, band in cells)
                yield " & ".join(_tex(value) for value, _ in cells) + r" \\" + ("*" if below else stay)
                if below:
                    yield " & ".join(rf"\scriptsize {_tex(band)}" if band else "" for _, band in cells) + r" \\" + stay


def _parts(table: Table) -> list[Table]:
    """The table, or if it is grouped and too wide its columns of numbers in even parts, headings and names in each."""
    if not table.grouped or _width(table, stacked=True) <= _PAGE_WIDTH:
        return [table]
    numbers = range(2, len(table.columns))
    count = -(-len(numbers) // _NUMBERS)
    parts = []
    for part, chosen in enumerate(np.array_split(numbers, count), start=1):
        kept = [0, 1, *chosen.tolist()]
        rows = tuple(tuple(row[k] for k in kept) for row in table.rows)
        caption = f"{table.caption} Part {part} of {count}."
        parts.append(Table(caption, tuple(table.columns[k] for k in kept), rows, grouped=True))
    return parts


def _width(table: Table, stacked: bool) -> int:
    """About how many characters wide the table is."""
    columns = range(1 if table.grouped else 0, len(table.columns))
    cells = [_cells(table, k) if stacked else [row[k] for row in table.rows] for k in columns]
    return sum(2 + max([10, *(len(cell) for cell in column)]) for column in cells)


def _cells(table: Table, column: int) -> list[str]:
    """The cells of a column, values and bands apart, and an empty one."""
    return ["", *(part for row in table.rows for part in _stack(row[column]))]


def _stack(cell: str) -> tuple[str, str]:
    """The value of a cell and its band."""
    found = _BAND.fullmatch(cell)
    return (found[1], found[2]) if found else (cell, "")


def save_table(table: Table, stem: Path) -> tuple[Path, Path]:
    """Write STEM.md and STEM.tex."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    plain, tex = stem.with_name(stem.name + ".md"), stem.with_name(stem.name + ".tex")
    write_whole(plain, markdown(table).encode())
    write_whole(tex, latex(table).encode())
    return plain, tex


def panel_table(
    panels: Sequence[Sequence[Panel]], xs: Sequence[float], x: str, cell: Callable[[Estimate], str], caption: str
) -> Table:
    """The numbers of a figure: a row for each line, a column for each x at which any line has a point."""
    lines = [(panel.title, line) for row in panels for panel in row for line in panel.lines]
    shown = [value for value in xs if any(value in line.points for _, line in lines)]
    rows = tuple(
        (title, line.label, *(cell(line.points[value]) if value in line.points else EMPTY for value in shown))
        for title, line in lines
    )
    return Table(caption, ("panel", "line", *(f"{x} {value:g}" for value in shown)), rows, grouped=True)


def share(found: Estimate) -> str:
    """A proportion in percent with its band."""
    return _with_band(found, lambda value: f"{100 * value:.1f}", " %")


def percent(found: Estimate) -> str:
    """A gain that is in percent already, with its band."""
    return _with_band(found, lambda value: f"{value:+.2f}", " %")


def length(found: Estimate) -> str:
    """A difference of radii with its band."""
    return _with_band(found, lambda value: f"{value:+.4f}", "")


def seconds(found: Estimate) -> str:
    """A time with its band."""
    return _with_band(found, lambda value: f"{value:.3g}", " s")


def _with_band(found: Estimate, text: Callable[[float], str], unit: str) -> str:
    if found.low is None or found.high is None:
        return f"{text(found.value)}{unit}"
    return f"{text(found.value)}{unit} ({text(found.low)} to {text(found.high)})"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _plain(text: str) -> str:
    return " ".join(_MARKDOWN.sub(r"\\\1", text).split())


def _tex(text: str) -> str:
    return " ".join("".join(_LATEX.get(character, character) for character in text).split())
