"""The figure of the geometry is to scale: its radii against brute force in the plane."""

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from docs import draw_figures
from docs.draw_figures import PANELS, Panel
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


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    draw_figures.draw(tmp_path / "geometry.png")
    assert np.asarray(Image.open(tmp_path / "geometry.png")).std() > 10
    assert draw_figures.IMAGE.stat().st_size < 200_000
