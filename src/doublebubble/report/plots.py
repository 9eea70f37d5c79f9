"""The publication's figures, as panels of lines, from frames of runs. Draws nothing that a record does not hold.

`paper` radii are drawn in panels whose titles say that they are not guaranteed. Under `sound` the line `reported` is
the radius of the plan that was fixed before the certify draws; the largest radius of several methods is never drawn.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from doublebubble.report.captions import BANDS, provenance
from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import (
    BLACK,
    BLUE,
    DASHED,
    DOTTED,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    SOLID,
    VERMILION,
    Dashes,
    Line,
    Look,
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
from doublebubble.runs.store import Run
from doublebubble.runs.tables import frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: dict[str, str] = {
    "cohen": BLUE,
    "single": ORANGE,
    "boundary": VERMILION,
    "double": GREEN,
    "first_order": PURPLE,
    "dipole": SKY,
    REPORTED: BLACK,
}
BY_GRADIENT: dict[str, tuple[str, Dashes]] = {"approximate": (GREEN, DASHED), "full": (VERMILION, SOLID)}
_STEPS = 300
ACCURACY = Look(
    "radius (L2, in units of the input)", "certified accuracy", names="beside", y_range=(0.0, 1.02), markers=False
)
BY_RADIUS = Look("Cohen's radius r (L2, in units of the input)", "median gain over Cohen (%)")
WINNERS = Look("noise sigma (in units of the input)", "proportion of inputs", y_range=(0.0, 1.02))
BY_SIGMA = Look("noise sigma (in units of the input)", "median gain over Cohen (%)")
BY_STEP = Look("first step gamma (L2, in units of the input)", "mean gain over Cohen (L2)", log_x=True)


def run_figure(run: Run, title: str) -> "Figure":
    """The certified accuracy of one run."""
    words = f"{provenance([run])} {BANDS}"
    table = frame(run)
    known = run.spec if isinstance(run.spec, RunSpec) else None
    line = accuracy_line(table, f"sigma {known.sigma:g}" if known else "imported", BLUE, SOLID, reach([table]))
    name = f"protocol {protocol_name(known.config.protocol)}" if known else "imported"
    return draw([[Panel(name, (line,))]], ACCURACY, title, words)


def reach(tables: Sequence[pd.DataFrame]) -> float:
    """How far an axis of radii must go to show these runs whole."""
    return max(0.1, *(1.03 * float(table["radius"].max()) for table in tables))


def accuracy_line(
    table: pd.DataFrame, label: str, colour: str, dashes: Dashes, to: float, method: str = REPORTED
) -> Line:
    """Certified accuracy over radius with Clopper-Pearson bands, of the radii reported or of one method's."""
    shown = table if method == REPORTED else method_view(table, method)
    radii = sorted({*np.linspace(0.0, to, _STEPS).tolist(), *(radius for radius in RADII if radius <= to)})
    points = certified_accuracy(shown, radii)
    found = {point.radius: Estimate(point.accuracy, point.low, point.high, point.n) for point in points}
    return Line(label, found, colour, dashes)


def method_lines(table: pd.DataFrame, methods: Sequence[str], to: float) -> tuple[Line, ...]:
    """Certified accuracy of each method by itself."""
    return tuple(accuracy_line(table, spoken(m), COLOURS[m], _dashes(m), to, m) for m in methods)


def radius_lines(table: pd.DataFrame, methods: Sequence[str], gradient: str, centres: Sequence[float]) -> list[Line]:
    """The median gain over Cohen against Cohen's radius, over r +- 0.075, with bands between order statistics."""
    return [
        Line(_with(m, gradient), improvement_by_radius(table, m, centres), COLOURS[m], BY_GRADIENT[gradient][1])
        for m in methods
    ]


def window_centres(tables: Sequence[pd.DataFrame]) -> list[float]:
    """Where windows are centred: at every 0.075 up to the largest Cohen radius, so that neighbours overlap by half."""
    largest = max(float(radii_of(table, "cohen").max()) for table in tables)
    return [round(HALF_WINDOW * k, 3) for k in range(1, max(2, int(largest / HALF_WINDOW) + 2))]


def winner_lines(by_sigma: Mapping[float, pd.DataFrame], methods: Sequence[str]) -> tuple[Line, ...]:
    """For each method the proportion of correctly predicted inputs on which its radius is the largest."""
    found = {sigma: winners(table, methods) for sigma, table in sorted(by_sigma.items())}
    return tuple(
        Line(
            spoken(method),
            {sigma: shares[method] for sigma, shares in found.items() if method in shares},
            COLOURS[method],
            _dashes(method),
        )
        for method in methods
    )


def sigma_lines(by_sigma: Mapping[float, pd.DataFrame], methods: Sequence[str], gradient: str) -> list[Line]:
    """The median gain over Cohen in percent against the noise."""
    return _gain_lines(by_sigma, methods, gradient, median_improvement)


def step_lines(by_step: Mapping[float, pd.DataFrame], methods: Sequence[str], gradient: str) -> list[Line]:
    """The mean gain over Cohen, correctly predicted inputs only, against the first step size."""
    return _gain_lines(by_step, methods, gradient, mean_gain)


def _gain_lines(
    tables: Mapping[float, pd.DataFrame],
    methods: Sequence[str],
    gradient: str,
    measure: Callable[[pd.DataFrame, str], Estimate | None],
) -> list[Line]:
    lines = []
    for method in methods:
        found = {x: measure(table, method) for x, table in sorted(tables.items())}
        points = {x: gain for x, gain in found.items() if gain is not None}
        lines.append(Line(_with(method, gradient), points, COLOURS[method], BY_GRADIENT[gradient][1]))
    return lines


def spoken(method: str) -> str:
    """The method's name on a figure."""
    return {"cohen": "Cohen", "first_order": "first order"}.get(method, method)


def _with(method: str, gradient: str) -> str:
    """The name of a method's line under a gradient; two methods use none."""
    return spoken(method) if method in ("first_order", "dipole") else f"{spoken(method)}, {gradient}"


def _dashes(method: str) -> Dashes:
    return {"cohen": DASHED, "single": DOTTED, "double": DASHED, "dipole": DOTTED}.get(method, SOLID)
