"""What the axes of all panels of a figure have in common: their words, how far they go, where they are bent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from doublebubble.report.measures import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Range = tuple[float, float]
Points = Sequence[tuple[float, Estimate]]
_WIDE_LOG = 150.0  # a logarithmic axis that spans more than this has powers of ten enough
_LONG_LABELS = 1e5  # and so has one with labels as long as this
_BENT_TICKS = (0.5, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # times the bend, on either side of 0
_ROOM = 1.8  # times a value beyond the bend: how far its axis goes


@dataclass(frozen=True)
class AxesStyle:
    """What the axes of all panels have in common.

    `names` says where a line's name goes: at its end, or beside a curve that falls from left to right, each name at a
    height of its own. With `steps` a value holds at its x and to the left of it, down to the x before; otherwise points
    are joined, unless they are farther apart than `gap`. If values lie further from 0 than twice `bend`, heights beyond
    `bend` are logarithmic, so that a few large values leave room for the others.
    """

    x: str
    y: str
    names: Literal["end", "beside"] = "end"
    log_x: bool = False
    y_range: Range | None = None
    steps: bool = False
    gap: float | None = None
    bend: float | None = None


def fitted(style: AxesStyle, points: Points) -> AxesStyle:
    """The style, without its bend where no value is so large that it needs one."""
    low, high = _extremes(points)
    return style if style.bend is not None and max(-low, high) > 2 * style.bend else replace(style, bend=None)


def ranges(style: AxesStyle, points: Points) -> tuple[Range, Range]:
    """What x and y all panels share, so that they can be compared; the style is one that is fitted."""
    xs = [x for x, _ in points] or [0.1, 1.0]
    left, right = min(xs), max(xs)
    if style.log_x:
        x_range = left / 1.3, right * 1.3
    else:
        margin = 0.04 * (right - left) if right > left else 0.1
        x_range = (left, right) if style.names == "beside" and right > left else (left - margin, right + margin)
    if style.y_range is not None:
        return x_range, style.y_range
    low, high = _extremes(points)
    if style.bend is not None:
        least = style.bend / 5
        return x_range, (_ROOM * low if low < -least else -least, _ROOM * high if high > least else least)
    margin = 0.06 * (high - low) or 1.0
    return x_range, (low - margin, high + margin)


def _extremes(points: Points) -> Range:
    """The least and the largest value or bound, and 0."""
    values = [y for _, found in points for y in (found.value, found.low, found.high) if y is not None] or [0.0]
    return min(0.0, *values), max(0.0, *values)


def scale(axes: "Axes", style: AxesStyle, x_range: Range, y_range: Range) -> None:
    """Give the axes their ranges, logarithmic or bent where the style says so, with plain numbers beside them."""
    if style.log_x:
        _logarithmic(axes, x_range)
    if style.bend is not None:
        _bent(axes, style.bend)
    axes.set_xlim(*x_range)
    axes.set_ylim(*y_range)


def _logarithmic(axes: "Axes", x_range: Range) -> None:
    """A logarithmic axis whose ticks are plain numbers: powers of ten, and 2 and 5 times them where there are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    crowded = x_range[1] / x_range[0] > _WIDE_LOG or x_range[1] >= _LONG_LABELS
    parts = (1.0,) if crowded else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(subs=parts))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _bent(axes: "Axes", bend: float) -> None:
    """Heights linear up to `bend` on both sides of 0 and logarithmic beyond, with few ticks."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_yscale("symlog", linthresh=bend, linscale=2)
    above = [bend * times for times in _BENT_TICKS]
    axes.yaxis.set_major_locator(FixedLocator([*(-tick for tick in above), 0.0, *above]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
