"""The publication's figures, as panels of lines, from frames of runs. Draws nothing that a record does not hold.

`paper` radii are drawn in panels whose titles say that they are not guaranteed. Under `sound` the line `reported` is
the radius of the plan that was fixed before the certify draws; the largest radius of several methods is never drawn.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from doublebubble import registry
from doublebubble.errors import InputError
from doublebubble.report.axes import AxesStyle
from doublebubble.report.captions import BANDS, provenance
from doublebubble.report.facts import draws_asked, level, protocol_of
from doublebubble.report.figure import (
    BLACK,
    BLUE,
    DASHED,
    DOTTED,
    MOST_BANDS,
    SOLID,
    Dashes,
    DrawnLine,
    Panel,
    draw,
)
from doublebubble.report.measures import (
    HALF_WINDOW,
    REPORTED,
    Estimate,
    improvement_by_radius,
    mean_gain,
    median_improvement,
    method_view,
    radii_of,
    winners,
)
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.statistics import RADII, certified_accuracy
from doublebubble.runs.store import StoredRun
from doublebubble.runs.tables import frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REPORTED_STYLE = ("reported", BLACK, "X", SOLID)
_DASHES: dict[str, Dashes] = {"solid": SOLID, "dashed": DASHED, "dotted": DOTTED}
BY_GRADIENT: dict[str, Dashes] = {"approximate": DASHED, "full": SOLID}
ACCURACY = AxesStyle(
    "radius (L2, in units of the input)", "certified accuracy", names="beside", y_range=(0.0, 1.02), steps=True
)
_MEDIAN_GAIN, _BEND = "median gain over Cohen (%)", 10.0  # a radius of next to nothing can grow by hundreds of percent
BY_RADIUS = AxesStyle("Cohen's radius r (L2, in units of the input)", _MEDIAN_GAIN, gap=1.5 * HALF_WINDOW, bend=_BEND)
WINNERS = AxesStyle("noise sigma (in units of the input)", "proportion of inputs", y_range=(0.0, 1.02))
BY_SIGMA = AxesStyle("noise sigma (in units of the input)", _MEDIAN_GAIN, bend=_BEND)
BY_STEP = AxesStyle("first step gamma (L2, in units of the input)", "mean gain over Cohen (L2)", log_x=True)


def run_caption(run: StoredRun) -> str:
    """What stands below the figure of a run: where its numbers come from and what stands behind them."""
    return f"{provenance([run])} {BANDS}"


def run_figure(run: StoredRun, title: str) -> "Figure":
    """The certified accuracy of one run, and of each method where several were asked for, without bands for those.

    The panel says under which protocol, from how many draws, at which alpha.
    """
    if not run.records:
        raise InputError("figure: expected a run with at least one record, got none")
    table = frame(run)
    known = run.spec if isinstance(run.spec, RunSpec) else None
    label = f"sigma {known.sigma:g}" if known else "imported"
    asked = known.config.methods if known else ()
    methods = [name for name in asked if name in registry.names()] if len(asked) > 1 else []
    to = reach([table], (REPORTED, *methods))
    series = Series("reported", BLACK) if methods else Series(label, BLUE)
    lines = [_without_bands(line) for line in method_lines(table, methods, to)]
    name = "imported"
    if known:
        name = f"protocol {protocol_of(known.config)}\n{draws_asked(known.config)}, alpha {level(known)}"
    return draw([[Panel(name, (*lines, accuracy_line(table, series, to)))]], ACCURACY, title)


def _without_bands(line: DrawnLine) -> DrawnLine:
    points = {x: replace(point, low=None, high=None) for x, point in line.points.items()}
    return replace(line, points=points)


@dataclass(frozen=True)
class Series:
    """The name of a curve of certified accuracy, its looks, and whose radii it shows."""

    label: str
    colour: str
    dashes: Dashes = SOLID
    marker: str = ""
    method: str = REPORTED


def reach(tables: Iterable[pd.DataFrame], methods: Sequence[str] = (REPORTED,)) -> float:
    """How far the axis of radii of a figure must go to show these methods of these runs down to 0."""
    return max(0.1, *(1.03 * float(radii_of(table, method).max()) for table in tables for method in methods))


def accuracy_line(table: pd.DataFrame, series: Series, to: float) -> DrawnLine:
    """Certified accuracy over radius with Clopper-Pearson bands, of the radii reported or of one method's.

    A point at every radius of a record: the proportion changes right of these radii and nowhere else, so that drawn as
    steps the curve is certified accuracy at every radius.
    """
    shown = table if series.method == REPORTED else method_view(table, series.method)
    held = {radius for radius in shown["radius"].tolist() if radius < to}
    points = certified_accuracy(shown, sorted({0.0, to, *held, *(radius for radius in RADII if radius < to)}))
    found = {point.radius: Estimate(point.accuracy, point.low, point.high, point.n) for point in points}
    return DrawnLine(series.label, found, series.colour, series.dashes, series.marker)


def method_lines(table: pd.DataFrame, methods: Sequence[str], to: float) -> tuple[DrawnLine, ...]:
    """Certified accuracy of each method by itself."""
    lines = []
    for method in methods:
        label, colour, marker, dashes = _looks(method)
        lines.append(accuracy_line(table, Series(label, colour, dashes, marker, method), to))
    return tuple(lines)


def radius_lines(
    table: pd.DataFrame, methods: Sequence[str], gradient: str, centres: Sequence[float]
) -> list[DrawnLine]:
    """The median gain over Cohen against Cohen's radius, over r +- 0.075, with bands between order statistics."""
    return [_method_line(m, gradient, improvement_by_radius(table, m, centres)) for m in methods]


def window_centres(tables: Sequence[pd.DataFrame]) -> list[float]:
    """Where windows are centred: at every 0.075 up to the largest Cohen radius, so that neighbours overlap by half."""
    largest = max(float(radii_of(table, "cohen").max()) for table in tables)
    return [round(HALF_WINDOW * k, 3) for k in range(1, max(2, int(largest / HALF_WINDOW) + 2))]


def winner_lines(by_sigma: Mapping[float, pd.DataFrame], methods: Sequence[str]) -> tuple[DrawnLine, ...]:
    """For each method the proportion of correctly predicted inputs on which its radius is the largest."""
    found = {sigma: winners(table, methods) for sigma, table in sorted(by_sigma.items())}
    lines = []
    for method in methods:
        label, colour, marker, dashes = _looks(method)
        points = {sigma: shares[method] for sigma, shares in found.items() if method in shares}
        lines.append(DrawnLine(label, points, colour, dashes, marker))
    return tuple(lines)


def sigma_lines(by_sigma: Mapping[float, pd.DataFrame], methods: Sequence[str], gradient: str) -> list[DrawnLine]:
    """The median gain over Cohen in percent against the noise."""
    return _gain_lines(by_sigma, methods, gradient, median_improvement)


def step_lines(by_step: Mapping[float, pd.DataFrame], methods: Sequence[str], gradient: str) -> list[DrawnLine]:
    """The mean gain over Cohen, correctly predicted inputs only, against the first step size."""
    return _gain_lines(by_step, methods, gradient, mean_gain)


def _gain_lines(
    tables: Mapping[float, pd.DataFrame],
    methods: Sequence[str],
    gradient: str,
    measure: Callable[[pd.DataFrame, str], Estimate | None],
) -> list[DrawnLine]:
    lines = []
    for method in methods:
        found = {x: measure(table, method) for x, table in sorted(tables.items())}
        points = {x: gain for x, gain in found.items() if gain is not None}
        lines.append(_method_line(method, gradient, points))
    return lines


def _method_line(method: str, gradient: str, points: dict[float, Estimate]) -> DrawnLine:
    """Colour and marker by method, dashes by gradient, which the panel's title names."""
    label, colour, marker, _ = _looks(method)
    return DrawnLine(label, points, colour, BY_GRADIENT[gradient], marker)


def panels_of(title: str, lines: Sequence[DrawnLine]) -> tuple[Panel, ...]:
    """The lines in as many panels as it takes for all their bands to be seen, in their order."""
    parts = [tuple(lines[k : k + MOST_BANDS]) for k in range(0, len(lines), MOST_BANDS)]
    if len(parts) <= 1:
        return (Panel(title, tuple(lines)),)
    first, *rest = title.split("\n")
    return tuple(
        Panel("\n".join([f"{first}, part {number} of {len(parts)}", *rest]), part)
        for number, part in enumerate(parts, start=1)
    )


def spoken(method: str) -> str:
    """The method's name on a figure."""
    return _looks(method)[0]


def _looks(method: str) -> tuple[str, str, str, Dashes]:
    """Name, colour, marker and dashes of a method, or of the radius reported."""
    if method == REPORTED:
        return _REPORTED_STYLE
    card = registry.card(method)
    return card.label, card.colour, card.marker, _DASHES[card.dashes]
