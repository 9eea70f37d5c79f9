"""Lines with bands in panels, as PDF and PNG: how every figure looks. Knows nothing of runs.

Colours are those of Okabe and Ito and never the only difference; every line is named where it ends, and names keep
their distance.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from doublebubble.report.measures import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK = "#CC79A7", "#56B4E9", "#000000"
SOLID, DASHED, DOTTED = "solid", (0, (5, 2)), (0, (1, 1.4))
Dashes = str | tuple[float, tuple[float, ...]]
_INK = "#333333"
_PANEL = (3.1, 2.75)  # inches; names of lines and captions come on top
_NAME_HEIGHT = 0.085  # of a panel, between the names of two lines


@dataclass(frozen=True)
class Line:
    """Estimates over x, in rising order, and how they are drawn."""

    label: str
    points: dict[float, Estimate]
    colour: str
    dashes: Dashes = SOLID

    def __post_init__(self) -> None:
        assert list(self.points) == sorted(self.points)


@dataclass(frozen=True)
class Panel:
    """One pair of axes; a panel without lines, or whose lines have no points, says `empty`."""

    title: str
    lines: tuple[Line, ...]
    empty: str = "no input to show"


@dataclass(frozen=True)
class Look:
    """What the axes of all panels have in common. `names` says where a line's name goes: at its end, or beside a
    curve that falls from left to right, each name at a height of its own."""

    x: str
    y: str
    names: Literal["end", "beside"] = "end"
    log_x: bool = False
    y_range: tuple[float, float] | None = None
    markers: bool = True


def draw(panels: Sequence[Sequence[Panel]], look: Look, title: str, caption: str) -> "Figure":
    """The figure of a grid of panels, rows first, with its caption below."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows, columns = len(panels), max(len(row) for row in panels)
    width = 1.2 + columns * (_PANEL[0] + 1.1)
    text = textwrap.fill(caption, int(17.5 * width))
    height = 0.8 + rows * _PANEL[1] + 0.135 * (text.count("\n") + 1)
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False)
    x_range, y_range = _ranges([panel for row in panels for panel in row], look)
    for number, row in enumerate(panels):
        for column in range(columns):
            axes: Axes = grid[number][column]
            if column >= len(row):
                axes.set_axis_off()
                continue
            _draw_panel(axes, row[column], look, x_range, y_range)
            if column == 0:
                axes.set_ylabel(look.y)
            if number == rows - 1:
                axes.set_xlabel(look.x)
    figure.suptitle(title, fontsize=11)
    figure.supxlabel(text, fontsize=7.5, color=_INK, x=0.01, ha="left")
    return figure


def save(figure: "Figure", stem: Path) -> tuple[Path, Path]:
    """Write STEM.png and STEM.pdf; equal figures give equal files."""
    import matplotlib

    stem.parent.mkdir(parents=True, exist_ok=True)
    png, pdf = stem.with_name(stem.name + ".png"), stem.with_name(stem.name + ".pdf")
    with matplotlib.rc_context({"pdf.fonttype": 42}):
        figure.savefig(png, dpi=160, metadata={"Software": None})
        figure.savefig(pdf, metadata={"CreationDate": None})
    return png, pdf


def _ranges(panels: Sequence[Panel], look: Look) -> tuple[tuple[float, float], tuple[float, float]]:
    """What x and y all panels share, so that they can be compared."""
    points = [(x, found) for panel in panels for line in panel.lines for x, found in line.points.items()]
    xs = [x for x, _ in points] or [0.1, 1.0]
    left, right = min(xs), max(xs)
    if look.log_x:
        x_range = left / 1.3, right * 1.3
    else:
        margin = 0.04 * (right - left) if right > left else 0.1
        x_range = (left, right) if look.names == "beside" and right > left else (left - margin, right + margin)
    if look.y_range is not None:
        return x_range, look.y_range
    values = [y for _, found in points for y in (found.value, found.low, found.high) if y is not None] or [0.0]
    low, high = min(*values, 0.0), max(*values, 0.0)
    margin = 0.06 * (high - low) or 1.0
    return x_range, (low - margin, high + margin)


def _draw_panel(
    axes: "Axes", panel: Panel, look: Look, x_range: tuple[float, float], y_range: tuple[float, float]
) -> None:
    axes.set_title(panel.title, fontsize=8.5)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if look.log_x:
        axes.set_xscale("log")
    axes.set_xlim(*x_range)
    axes.set_ylim(*y_range)
    drawn = [line for line in panel.lines if line.points]
    if not drawn:
        axes.text(0.5, 0.5, panel.empty, transform=axes.transAxes, ha="center", va="center", fontsize=8, color=_INK)
        return
    widths = np.linspace(1.2 + 0.25 * (len(drawn) - 1), 1.2, len(drawn))  # lines that coincide show as stripes
    for line, width in zip(drawn, widths, strict=True):
        _draw_line(axes, line, look.markers, float(width), shade=min(0.15, 0.35 / len(drawn)))
    place = _beside if look.names == "beside" else _ends
    for line, (x, y), height in place(drawn, y_range):
        _name(axes, line, x, y, height)


def _draw_line(axes: "Axes", line: Line, markers: bool, width: float, shade: float) -> None:
    xs, found = list(line.points), list(line.points.values())
    low = np.array([np.nan if point.low is None else point.low for point in found])
    high = np.array([np.nan if point.high is None else point.high for point in found])
    axes.fill_between(xs, low, high, color=line.colour, alpha=shade, linewidth=0)
    axes.plot(
        xs,
        [point.value for point in found],
        color=line.colour,
        linestyle=line.dashes,
        linewidth=width,
        marker="o" if markers else None,
        markersize=3,
        label=line.label,
    )


Placed = list[tuple[Line, tuple[float, float], float]]
"""Lines, the point that each name leads to, and the height of the name as a part of the panel's."""


def _ends(lines: Sequence[Line], y_range: tuple[float, float]) -> Placed:
    """Names as high as the lines' last points, pushed apart where they would meet."""
    ends = [(x := max(line.points), line.points[x].value) for line in lines]
    wanted = np.array([(y - y_range[0]) / (y_range[1] - y_range[0]) for _, y in ends])
    order = np.argsort(-wanted, kind="stable")
    heights = spread(wanted[order], _NAME_HEIGHT)
    placed = {int(k): float(height) for k, height in zip(order, heights, strict=True)}
    return [(line, ends[k], placed[k]) for k, line in enumerate(lines)]


def _beside(lines: Sequence[Line], y_range: tuple[float, float]) -> Placed:
    """Names one below the other, those of curves that end first on top, where no longer curve is in the way."""
    reach = [max((x for x, found in line.points.items() if found.value > 0), default=0.0) for line in lines]
    order = np.argsort(reach, kind="stable")
    top = max(found.value for line in lines for found in line.points.values())
    ceiling = (top - y_range[0]) / (y_range[1] - y_range[0])
    least = 0.12 + _NAME_HEIGHT * (len(lines) - 1)
    heights = np.linspace(max(0.92 * ceiling, least), 0.12, len(lines)) if len(lines) > 1 else np.array([0.6 * ceiling])
    placed: Placed = []
    for k, height in zip(order, heights, strict=True):
        level = y_range[0] + float(height) * (y_range[1] - y_range[0])
        placed.append((lines[k], _crossing(lines[k], level), float(height)))
    return placed


def _crossing(line: Line, level: float) -> tuple[float, float]:
    """The last point of the line that is at least as high as the level; its first point if there is none."""
    above = [x for x, found in line.points.items() if found.value >= level]
    x = above[-1] if above else next(iter(line.points))
    return (x, min(level, line.points[x].value))


def spread(wanted: np.ndarray[tuple[int, ...], np.dtype[np.float64]], gap: float) -> list[float]:
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


def _name(axes: "Axes", line: Line, x: float, y: float, height: float) -> None:
    """The line's name right of the panel beside a piece of the line, and a thin grey leader from the point to it."""
    start = axes.transLimits.transform(axes.transScale.transform((x, y)))
    leader, piece = ([start[0], 1.02], [start[1], height]), ([1.02, 1.10], [height, height])
    beyond = axes.transAxes
    axes.plot(*leader, color="#999999", lw=0.5, transform=beyond, clip_on=False, label="_leader")
    axes.plot(*piece, color=line.colour, ls=line.dashes, lw=1.6, transform=beyond, clip_on=False, label="_piece")
    axes.text(1.115, height, line.label, fontsize=7.5, color=_INK, va="center", transform=beyond, clip_on=False)
