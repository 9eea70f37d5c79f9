"""Lines with bands in panels, as PDF and PNG: how every figure looks. Knows nothing of runs.

Figures are as wide as the text of a page, so that they are printed as they are and no letter is smaller than 7 pt.
Colours are those of Okabe and Ito; lines of one panel differ in their markers or dashes as well. Every line is named
beside its panel, next to a piece of it, and names keep their distance. A caption is a file beside the figure.
"""

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from doublebubble.files import write_whole
from doublebubble.report.axes import AxesStyle, Range, fitted, ranges, scale
from doublebubble.report.few_colours import in_few_colours
from doublebubble.report.measures import Estimate
from doublebubble.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK = "#CC79A7", "#56B4E9", "#000000"
SOLID, DASHED, DOTTED = "solid", (0, (5, 2)), (0, (1, 1.4))
UNJOINED = "none"
"""Dashes of a line of which only the points are drawn, each with its own error bar."""
MOST_BANDS = 4
"""More curves with bands than this cannot be told apart in one panel."""
Dashes = str | tuple[float, tuple[float, ...]]
_INK = "#333333"
_WIDTH, _ROW = 5.5, 1.85  # inches: of the figure, and of a row of panels with its title
_MOST_ROWS = 4  # of panels on a page, with room for a caption
_SMALL, _LARGE = 7.0, 9.5  # points
_LINE, _SLACK = 0.16, 4  # of a title on several lines: inches of each further one, characters that one may be longer
_NAME_HEIGHT = 0.087  # of a panel, between the names of two lines
_SHORT = 12  # characters: if no name is longer, two panels stand side by side
_MARKS = 3  # markers on a curve of steps


@dataclass(frozen=True)
class DrawnLine:
    """Estimates over x, in rising order, and how they are drawn."""

    label: str
    points: dict[float, Estimate]
    colour: str
    dashes: Dashes = SOLID
    marker: str = ""

    def __post_init__(self) -> None:
        assert list(self.points) == sorted(self.points)


@dataclass(frozen=True)
class Panel:
    """One pair of axes; a panel without lines, or whose lines have no points, says `empty`."""

    title: str
    lines: tuple[DrawnLine, ...]
    empty: str = "no input to show"

    def __post_init__(self) -> None:
        banded = [line.label for line in self.lines if any(point.low is not None for point in line.points.values())]
        assert len(banded) <= MOST_BANDS, f"{self.title}: {len(banded)} curves with bands"


def draw(
    panels: Sequence[Sequence[Panel]], style: AxesStyle, title: str, among: Sequence[Sequence[Panel]] = ()
) -> "Figure":
    """The figure of rows of panels.

    Rows are broken after two panels, or after each one if names of lines are long. All panels have the same axes, also
    with those `among` which these are a part.
    """
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}):  # a dollar in somebody's name is a dollar
        return _drawn(panels, style, title, among or panels)


def pages(panels: Sequence[Sequence[Panel]]) -> list[list[Sequence[Panel]]]:
    """The rows of panels in as many parts as they need, so that none is higher than a page.

    A row is broken only if it fills more than a page by itself.
    """
    columns = _columns(panels)
    most = _MOST_ROWS * columns
    short = [row[k : k + most] for row in panels for k in range(0, max(1, len(row)), most)]
    found: list[list[Sequence[Panel]]] = [[]]
    for row in short:
        if found[-1] and sum(-(-len(one) // columns) for one in (*found[-1], row)) > _MOST_ROWS:
            found.append([])
        found[-1].append(row)
    return found


def _drawn(
    panels: Sequence[Sequence[Panel]], style: AxesStyle, title: str, among: Sequence[Sequence[Panel]]
) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = _columns(among)
    rows = [row[k : k + columns] for row in panels for k in range(0, len(row), columns)]
    figure = Figure(figsize=(_WIDTH, 0.5 + len(rows) * _ROW), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(rows), columns, squeeze=False)
    lines = [line for row in among for panel in row for line in panel.lines]
    points = [(x, found) for line in lines for x, found in line.points.items()]
    style = fitted(style, points)
    x_range, y_range = ranges(style, points)
    for number, row in enumerate(rows):
        for column in range(columns):
            axes: Axes = grid[number][column]
            if column >= len(row):
                axes.set_axis_off()
                continue
            _draw_panel(axes, row[column], style, x_range, y_range)
            if column == 0:
                axes.set_ylabel(style.y, fontsize=_SMALL + 0.5)
            if number == len(rows) - 1 or column >= len(rows[number + 1]):
                axes.set_xlabel(style.x, fontsize=_SMALL + 0.5)
    _set_title(figure, title)
    return figure


def _set_title(figure: "Figure", title: str) -> None:
    """The title, on as many lines of about the same length as it needs to be read whole."""
    text = figure.suptitle(title, fontsize=_LARGE)
    for lines in range(2, 1 + len(title.split())):
        if text.get_window_extent().width <= figure.bbox.width:
            break
        text.set_text(textwrap.fill(title, -(-len(title) // lines) + _SLACK))
    figure.set_figheight(figure.get_figheight() + _LINE * text.get_text().count("\n"))


def _columns(panels: Sequence[Sequence[Panel]]) -> int:
    """How many panels stand side by side."""
    longest = max((len(line.label) for row in panels for panel in row for line in panel.lines), default=0)
    return min(2 if longest <= _SHORT else 1, max(len(row) for row in panels))


def save(figure: "Figure", stem: Path, caption: str | None = None) -> tuple[Path, ...]:
    """Write STEM.png, STEM.pdf and, if there is a caption, STEM.md with it; equal figures give equal files."""
    import matplotlib

    stem.parent.mkdir(parents=True, exist_ok=True)
    png, pdf = stem.with_name(stem.name + ".png"), stem.with_name(stem.name + ".pdf")
    with matplotlib.rc_context({"pdf.fonttype": 42}):
        for path, unwanted in ((png, "Software"), (pdf, "CreationDate")):
            content = io.BytesIO()
            figure.savefig(content, format=path.suffix[1:], dpi=200, metadata={unwanted: None})
            write_whole(path, in_few_colours(content.getvalue()) if path == png else content.getvalue())
    if caption is None:
        return png, pdf
    words = stem.with_name(stem.name + ".md")
    write_whole(words, f"{caption}\n".encode())
    return png, pdf, words


def _draw_panel(axes: "Axes", panel: Panel, style: AxesStyle, x_range: Range, y_range: Range) -> None:
    axes.set_title(panel.title, fontsize=_SMALL, loc="left")
    axes.tick_params(labelsize=_SMALL)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    scale(axes, style, x_range, y_range)
    drawn = [line for line in panel.lines if line.points]
    if not drawn:
        axes.text(
            0.5, 0.5, panel.empty, transform=axes.transAxes, ha="center", va="center", fontsize=_SMALL, color=_INK
        )
        return
    shade = min(0.15, 0.35 / len(drawn))
    for number, line in enumerate(drawn):
        more = 0.25 * (len(drawn) - 1 - number)  # lines that coincide show as stripes, and their markers as rings
        _draw_band(axes, line, style, shade)
        _draw_line(axes, line, style, 1.2 + more, 3 + more)
        if style.steps and line.marker:
            _draw_marks(axes, line, x_range, number / len(drawn))
    heights = _beside(drawn) if style.names == "beside" else _ends(axes, drawn)
    for line, height in zip(drawn, heights, strict=True):
        _name(axes, line, height)


def _rows(line: DrawnLine, style: AxesStyle) -> Floats:
    """x, value, low and high of each point; no numbers where there is no band, nor in a row where the line breaks."""
    found, last = list[list[float]](), next(iter(line.points))
    for x, point in line.points.items():
        if style.gap is not None and x - last > style.gap:
            found.append([np.nan] * 4)
        found.append([x, point.value, *(np.nan if end is None else end for end in (point.low, point.high))])
        last = x
    return np.array(found, np.float64)


def _draw_band(axes: "Axes", line: DrawnLine, style: AxesStyle, shade: float) -> None:
    """The band, and an error bar at a point whose neighbours have none, since a band is as wide as it is shared.

    Points that are not joined have error bars alone.
    """
    xs, _, low, high = _rows(line, style).T
    known = np.concatenate([[False], np.isfinite(low) & np.isfinite(high), [False]])
    alone = known[1:-1]
    if line.dashes != UNJOINED:
        step: Literal["pre"] | None = "pre" if style.steps else None
        axes.fill_between(xs, low, high, color=line.colour, alpha=shade, linewidth=0, step=step)
        alone = alone & ~known[:-2] & ~known[2:]
    axes.vlines(xs[alone], low[alone], high[alone], color=line.colour, linewidth=0.9, label="_bar")


def _draw_line(axes: "Axes", line: DrawnLine, style: AxesStyle, width: float, size: float) -> None:
    xs, values, _, _ = _rows(line, style).T
    axes.plot(
        xs,
        values,
        color=line.colour,
        linestyle=line.dashes,
        linewidth=width,
        drawstyle="steps-pre" if style.steps else "default",
        marker="" if style.steps else line.marker,
        markersize=size,
        label=line.label,
    )


def _draw_marks(axes: "Axes", line: DrawnLine, x_range: Range, shift: float) -> None:
    """Markers on a curve of steps as far as it is above 0, shifted so that those of curves that coincide alternate."""
    wanted = np.linspace(*x_range, _MARKS, endpoint=False) + (shift + 0.1) * (x_range[1] - x_range[0]) / _MARKS
    marks = [float(x) for x in wanted if x <= _last_above(line)] or [x_range[0]]
    heights = [_step(line, x) for x in marks]
    axes.plot(marks, heights, color=line.colour, ls="", marker=line.marker, ms=3.5, label="_marks", clip_on=False)


def _last_above(line: DrawnLine) -> float:
    """The last x at which the line is above 0."""
    return max((x for x, found in line.points.items() if found.value > 0), default=0.0)


def _step(line: DrawnLine, x: float) -> float:
    """The height at x of a line of steps."""
    return next(found.value for right, found in line.points.items() if right >= x)


def _ends(axes: "Axes", lines: Sequence[DrawnLine]) -> list[float]:
    """Heights of the names: those of the lines' last points, pushed apart where they would meet."""
    last = np.array([line.points[max(line.points)].value for line in lines])
    bottom, top, *ends = axes.yaxis.get_transform().transform(np.array([*axes.get_ylim(), *last]))
    wanted = (np.array(ends) - bottom) / (top - bottom)
    order = np.argsort(-wanted, kind="stable")
    heights = spread(wanted[order], _NAME_HEIGHT)
    placed = {int(k): float(height) for k, height in zip(order, heights, strict=True)}
    return [placed[k] for k in range(len(lines))]


def _beside(lines: Sequence[DrawnLine]) -> list[float]:
    """Heights of the names: one below the other, those of curves that end last on top."""
    order = np.argsort([-_last_above(line) for line in lines], kind="stable")
    top = 0.92 if len(lines) > 1 else 0.5
    rank = {int(k): number for number, k in enumerate(order)}
    return [top - 1.4 * _NAME_HEIGHT * rank[k] for k in range(len(lines))]


def spread(wanted: Floats, gap: float) -> list[float]:
    """Heights near the wanted ones, which must fall, no two nearer than `gap`, inside [0, 1] as far as there is room.

    The least squares fit under that rule: heights shifted by their rank must fall, which pooling violators gives.
    """
    shifted = wanted + gap * np.arange(len(wanted))
    blocks: list[tuple[float, int]] = []
    for value in shifted:
        blocks.append((float(value), 1))
        while len(blocks) > 1 and blocks[-2][0] < blocks[-1][0]:
            (a, m), (b, n) = blocks[-2:]
            blocks[-2:] = [((a * m + b * n) / (m + n), m + n)]
    flat = [value for value, count in blocks for _ in range(count)]
    # Shifted by rank, the bounds 0 and 1 are the same for all, and clipping a bounded fit is the fit within bounds.
    least = gap * (len(wanted) - 1)
    return [min(max(value, least), max(1.0, least)) - gap * k for k, value in enumerate(flat)]


def _name(axes: "Axes", line: DrawnLine, height: float) -> None:
    """The line's name right of the panel beside a piece of the line. No leader: it would cross other curves."""
    grid = axes.get_gridspec()
    long = 0.1 * (grid.ncols if grid is not None else 1)
    left, middle, right = 1.02, 1.02 + long / 2, 1.02 + long
    beyond = axes.transAxes
    for xs, dashes, marker in (([left, right], line.dashes, ""), ([middle], "", line.marker)):
        axes.plot(
            xs,
            [height] * len(xs),
            color=line.colour,
            linestyle=dashes,
            marker=marker,
            linewidth=1.4,
            markersize=3.5,
            transform=beyond,
            clip_on=False,
            label="_piece",
        )
    axes.text(right + 0.02, height, line.label, fontsize=_SMALL, color=_INK, va="center", transform=beyond)
