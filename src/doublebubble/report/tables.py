"""Tables as Markdown and as LaTeX, from the same rows. Text from outside is escaped in both."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

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
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~$&])")


@dataclass(frozen=True)
class Table:
    """Cells as text, every row as long as `columns`; `caption` says what stands behind the numbers."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

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
    """The table as a LaTeX float with the rules of booktabs."""
    body = [r" & ".join(_tex(cell) for cell in row) + r" \\" for row in table.rows]
    lines = [
        r"\begin{table}",
        rf"  \caption{{{_tex(table.caption)}}}",
        r"  \centering",
        rf"  \begin{{tabular}}{{{'l' * len(table.columns)}}}",
        r"    \toprule",
        "    " + r" & ".join(_tex(cell) for cell in table.columns) + r" \\",
        r"    \midrule",
        *("    " + line for line in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def save_table(table: Table, stem: Path) -> tuple[Path, Path]:
    """Write STEM.md and STEM.tex."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    plain, tex = stem.with_name(stem.name + ".md"), stem.with_name(stem.name + ".tex")
    plain.write_text(markdown(table))
    tex.write_text(latex(table))
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
    return Table(caption, ("panel", "line", *(f"{x} {value:g}" for value in shown)), rows)


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
