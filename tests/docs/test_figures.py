"""The figures are to scale: radii against brute force in the plane, worst classifiers against their own smoothing."""

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.special import ndtri

from docs import draw_figures
from docs.draw_figures import PANELS, Panel
from docs.worst_classifiers import OFF, SLOPE, P, Worst, worst_classifiers
from doublebubble.geometry import published_boundary_radius


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_each_circle_is_covered_and_touches_what_is_not(panel: Panel) -> None:
    turns, parts = np.linspace(0, 2 * math.pi, 721), np.linspace(0, 1, 60)

    def ring(radius: float) -> list[bool]:
        x, y = panel.x1
        return [panel.uncovered((x + radius * math.cos(t), y + radius * math.sin(t))) for t in turns]

    assert not any(any(ring(part * panel.radius * (1 - 1e-9))) for part in parts)
    assert any(ring(1.01 * panel.radius))
    assert panel.nearest
    for point in panel.nearest:
        assert math.dist(point, panel.x1) == pytest.approx(panel.radius)
    assert panel.radius > panel.balls[0][1]  # more than the ball of x1 alone


def test_the_printed_boundary_radius_reaches_past_an_uncovered_point() -> None:
    panel = PANELS[2]
    printed = published_boundary_radius(panel.x1, *panel.balls[1])
    assert max(math.dist(point, panel.x1) for point in panel.nearest) < 0.8 * printed
    assert any(panel.uncovered((a, 0.0)) for a in np.linspace(panel.x1[0] - 0.9 * printed, panel.x1[0], 100))


def lead(worst: Worst, a: float, b: float) -> float:
    """P(A) - P(B) at a displacement, by the rule of midpoints over the plane."""
    side = np.linspace(-6.0, 6.0, 481)
    z, y = np.meshgrid(side, side)
    weights = np.exp(-0.5 * ((z - a) ** 2 + (y - b) ** 2))
    return float((np.sign(worst.region(z, y)) * weights).sum() / weights.sum())


def test_the_worst_classifiers_have_what_is_known_and_tie_where_the_radius_ends(tmp_path: Path) -> None:
    found = worst_classifiers()
    step = 1e-3
    half_space = math.exp(-0.5 * float(ndtri(P)) ** 2) / math.sqrt(2 * math.pi)
    for worst in found:
        assert lead(worst, 0.0, 0.0) == pytest.approx(2 * P - 1, abs=0.01)
        assert math.hypot(*worst.displacement) == pytest.approx(worst.radius)
        assert lead(worst, *worst.displacement) == pytest.approx(0.0, abs=0.012)
        turns = [(0.95 * worst.radius * math.cos(t), 0.95 * worst.radius * math.sin(t)) for t in np.arange(0, 6.2, 0.7)]
        assert min(lead(worst, a, b) for a, b in turns) > 0
    for worst in found[1:]:
        slope = (lead(worst, -step, 0.0) - lead(worst, step, 0.0)) / (4 * step)
        assert slope == pytest.approx(SLOPE * half_space, abs=0.01)
    assert (lead(found[2], 0.0, -step) - lead(found[2], 0.0, step)) / (2 * step) == pytest.approx(OFF, abs=0.02)
    assert found[0].radius < found[1].radius < found[2].radius
    draw_figures.draw_worst(tmp_path / "worst.png", found)
    assert np.asarray(Image.open(tmp_path / "worst.png")).std() > 10
    assert draw_figures.WORST.stat().st_size < 100_000


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    draw_figures.draw(tmp_path / "geometry.png")
    assert np.asarray(Image.open(tmp_path / "geometry.png")).std() > 10
    assert draw_figures.IMAGE.stat().st_size < 200_000
