"""Writes docs/images/geometry.png, three ways in which further balls enlarge a certificate, and docs/images/worst.png.

Every radius is computed by doublebubble.geometry, from the balls below or from what worst_classifiers.py says is known.
Run it when the geometry or the drawing changes: python -m docs.draw_figures
"""

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from matplotlib.patheffects import withStroke

from docs.worst_classifiers import Worst, worst_classifiers
from doublebubble.geometry import certified_radius, published_boundary_radius, transitive_radius

IMAGE = Path(__file__).parent / "images" / "geometry.png"
WORST = IMAGE.with_name("worst.png")
INK, BLUE, GREEN, RED = "#1a1a1a", "#0072B2", "#009E73", "#D55E00"
_VIEW = 2.6  # sigmas to each side
Point = tuple[float, float]


@dataclass(frozen=True)
class Panel:
    """Balls of one class about x1, x2, ... in the plane or, with a `box`, in the square between its two ends."""

    title: str
    symbol: str
    balls: tuple[tuple[Point, float], ...]
    view: tuple[float, float, float, float]
    label: Point
    box: tuple[float, float] | None = None

    @property
    def x1(self) -> Point:
        """The input."""
        return self.balls[0][0]

    @property
    def radius(self) -> float:
        """What all balls together certify about x1, (D1)."""
        centres, radii = zip(*self.balls, strict=True)
        low, high = (None, None) if self.box is None else self.box
        return certified_radius(self.x1, list(centres), list(radii), low, high).radius

    @property
    def nearest(self) -> list[Point]:
        """Where on the certified circle, or a part 0.004 beyond it, the domain is not covered."""
        radius = self.radius
        beyond = [_on(self.x1, 1.004 * radius, turn / 10) for turn in range(3600)]
        return _middles([self.uncovered(point) for point in beyond], self.x1, radius)

    def uncovered(self, point: Point) -> bool:
        """Whether a point lies in the domain and in no ball."""
        inside = self.box is None or all(self.box[0] <= value <= self.box[1] for value in point)
        return inside and all(math.dist(point, centre) >= radius for centre, radius in self.balls)


PANELS = (
    Panel("Transitivity", "r'", (((0.0, 0.0), 0.5), ((0.33, 0.12), 1.05)), (-1.0, 1.5, -1.13, 1.37), (-0.62, 1.0)),
    Panel(
        "Multiple transitivity",
        "r''",
        (((0.0, 0.0), 0.5), ((0.42, 0.0), 1.05), ((-0.46, 0.0), 0.86)),
        (-1.42, 1.57, -1.495, 1.495),
        (-0.95, 1.15),
    ),
    Panel(
        "The domain's boundary",
        r"\hat{r}",
        (((0.41, 0.04), 0.16), ((0.47, 0.33), 0.49)),
        (-0.08, 1.14, -0.34, 0.88),
        (0.2, 0.55),
        box=(0.0, 1.0),
    ),
)


def draw(path: Path) -> None:
    """Save the three panels side by side."""
    with rc_context({"hatch.linewidth": 0.5}):
        figure = Figure(figsize=(12.0, 4.5), layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        for panel, axes in zip(PANELS, figure.subplots(1, len(PANELS)), strict=True):
            _draw_panel(axes, panel)
        figure.savefig(path, dpi=110, metadata={"Software": None})


def draw_worst(path: Path, found: tuple[Worst, ...]) -> None:
    """Save the worst classifiers side by side."""
    figure = Figure(figsize=(11.0, 4.4), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    for number, (worst, axes) in enumerate(zip(found, figure.subplots(1, len(found), sharey=True), strict=True)):
        _draw_worst(axes, worst)
        if number == 0:
            axes.set_ylabel("y = v.Z, at right angles", fontsize=10)
    figure.savefig(path, dpi=100, metadata={"Software": None})


def _draw_worst(axes: Axes, worst: Worst) -> None:
    """The regions of A and B in the plane of the noise, the certified circle, and the displacement that reaches B."""
    side = np.linspace(-_VIEW, _VIEW, 521)
    z, y = np.meshgrid(side, side)
    is_a = worst.region(z, y) > 0
    colours = np.where(is_a[:, :, None], [0.62, 0.79, 0.9], [0.97, 0.86, 0.66])
    axes.imshow(colours, extent=(-_VIEW, _VIEW, -_VIEW, _VIEW), origin="lower", interpolation="bilinear")
    axes.contour(z, y, is_a.astype(float), [0.5], colors=[INK], linewidths=0.9)
    axes.add_patch(Circle((0, 0), worst.radius, fill=False, edgecolor=BLUE, linewidth=2.6, zorder=3))
    axes.annotate("", worst.displacement, (0, 0), arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkB": 0})
    axes.plot(0, 0, "o", color=INK, markersize=4.5, zorder=5)
    _write(axes, f"$r = {_down(worst.radius)}\\,\\sigma$", (0.0, -worst.radius), 13, BLUE, (0, -13))
    _write(axes, "A", (-1.35, 1.9), 15, INK)
    _write(axes, "B", (2.25, 1.9), 15, INK)
    axes.set_title(f"{worst.title}: {worst.known}", fontsize=11.5)
    axes.set(xlim=(-_VIEW, _VIEW), ylim=(-_VIEW, _VIEW), aspect="equal")
    axes.set_xlabel("z = u0.Z", fontsize=10)
    axes.tick_params(labelsize=8)


def _draw_panel(axes: Axes, panel: Panel) -> None:
    left, right, bottom, top = panel.view
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
    axes.set_title(panel.title, fontsize=13)
    if panel.box is not None:
        _draw_box(axes, panel)
    for number, ((centre, radius), colour) in enumerate(zip(panel.balls, (GREEN, RED, INK), strict=False), start=1):
        axes.add_patch(Circle(centre, radius, facecolor=(*_rgb(colour), 0.08), edgecolor=colour, linewidth=1.3))
        axes.plot(*centre, "o", color=colour, markersize=4.5, zorder=5)
        _write(axes, f"$x_{number}$", centre, 13, colour, (11, 8))
    _draw_certified(axes, panel)


def _draw_box(axes: Axes, panel: Panel) -> None:
    """The domain, what lies outside it, and the two circles that are not the answer."""
    assert panel.box is not None
    low, high = panel.box
    left, right, bottom, top = panel.view
    outside = [
        ((left, bottom), low - left, top - bottom),
        ((high, bottom), right - high, top - bottom),
        ((low, bottom), high - low, low - bottom),
        ((low, high), high - low, max(0.0, top - high)),
    ]
    for corner, width, height in outside:
        axes.add_patch(Rectangle(corner, width, height, facecolor="white", edgecolor="#bbbbbb", hatch="///", lw=0))
    axes.add_patch(Rectangle((low, low), high - low, high - low, fill=False, edgecolor=INK, linewidth=1.8, zorder=4))
    (x2, r2) = panel.balls[1]
    free = transitive_radius(r2, math.dist(panel.x1, x2))
    printed = published_boundary_radius(panel.x1, x2, r2)
    notes = (
        (free, f"$r' = {_down(free)}$", GREEN, (panel.x1[0], panel.x1[1] - 1.3 * free)),
        (printed, f"as printed, {printed:.3f}:\ntoo large", RED, (panel.x1[0] + 0.36, panel.x1[1] + 0.29)),
    )
    for radius, words, colour, place in notes:
        axes.add_patch(Circle(panel.x1, radius, fill=False, edgecolor=colour, linewidth=1.2, linestyle=(0, (3, 2))))
        _write(axes, words, place, 10, colour)


def _draw_certified(axes: Axes, panel: Panel) -> None:
    """The certified circle, and the points at which it touches what no ball covers."""
    axes.add_patch(Circle(panel.x1, panel.radius, fill=False, edgecolor=BLUE, linewidth=2.8, zorder=3))
    for point in panel.nearest:
        axes.plot(*point, "X", color=BLUE, markersize=9, markeredgecolor="white", zorder=6)
    away = math.atan2(panel.label[1] - panel.x1[1], panel.label[0] - panel.x1[0])
    end = _on(panel.x1, panel.radius, math.degrees(away))
    axes.annotate("", end, panel.x1, arrowprops={"arrowstyle": "-|>", "color": BLUE, "shrinkA": 3, "shrinkB": 0})
    _write(axes, f"${panel.symbol} = {_down(panel.radius)}$", panel.label, 14, BLUE)


def _write(axes: Axes, words: str, at: Point, size: float, colour: str, offset: Point = (0.0, 0.0)) -> None:
    """Words with a white rim, centred beside a point by an offset in points."""
    axes.annotate(
        words,
        at,
        offset,
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=size,
        color=colour,
        path_effects=[withStroke(linewidth=3, foreground="white")],
        zorder=7,
    )


def _middles(raised: list[bool], centre: Point, radius: float) -> list[Point]:
    """The middles of the arcs on which the flags, evenly spaced over the circle, are raised."""
    n = len(raised)
    starts = [i for i in range(n) if raised[i] and not raised[i - 1]]
    ends = [next(i for i in range(start, start + n) if not raised[i % n]) for start in starts]
    return [_on(centre, radius, (start + end - 1) / 2 * 360 / n) for start, end in zip(starts, ends, strict=True)]


def _down(radius: float) -> str:
    """Three decimals, never more than the radius."""
    return f"{math.floor(1000 * radius) / 1000:.3f}"


def _on(centre: Point, radius: float, degrees: float) -> Point:
    turn = math.radians(degrees)
    return centre[0] + radius * math.cos(turn), centre[1] + radius * math.sin(turn)


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


if __name__ == "__main__":
    draw(IMAGE)
    worst = worst_classifiers()
    draw_worst(WORST, worst)
    sys.stdout.write(f"{WORST.name}: radii {', '.join(_down(each.radius) for each in worst)}\n")
    sys.stdout.write(f"{IMAGE.name}: radii {', '.join(_down(panel.radius) for panel in PANELS)}\n")
