"""Images around a slice: the inputs at its corners and centres, each in its place; none where there is no image."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from doublebubble.report.insets import BOTTOM, HEIGHT, SIDE, WIDTH, box, draw_insets
from tests.report.test_slice_figure import halves


def drawn(shape: tuple[int, ...], domain: bool = False) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    draw_insets(figure, halves(shape, domain))
    return figure


@pytest.mark.parametrize("channels", [1, 3])
def test_corners_and_centres_are_shown_as_they_are(channels: int) -> None:
    found, figure = halves((channels, 8, 8)), drawn((channels, 8, 8))
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["corner"] * 4 + ["x1", "x2"]
    places = [*map(tuple, found.window.corners.tolist()), *((disk.a, disk.b) for disk in found.disks.values())]
    for axes, (a, b) in zip(figure.axes, places, strict=True):
        point = found.plane.point(a, b).clip(0, 1)
        expected = point[0] if channels == 1 else np.moveaxis(point, 0, -1)
        np.testing.assert_allclose(np.asarray(axes.images[0].get_array()), expected, atol=1e-12)


def test_corners_stand_beside_their_corners_of_the_plane() -> None:
    found, figure = halves(), drawn((1, 8, 8))
    middle = (0.5, (BOTTOM + SIDE / 2) / HEIGHT)
    for axes, (a, b) in zip(figure.axes[:4], found.window.corners.tolist(), strict=True):
        bounds = axes.get_position()
        assert (bounds.x0 > middle[0]) == (a > 0)
        assert (bounds.y0 + bounds.height / 2 > middle[1]) == (b > 0)


def test_corners_outside_the_domain_say_so() -> None:
    titles = [axes.get_title() for axes in drawn((1, 8, 8), domain=True).axes[:4]]
    outside = [b > 0 for _, b in halves().window.corners.tolist()]
    assert [title == "corner, outside" for title in titles] == outside


@pytest.mark.parametrize("shape", [(4,), (2, 8, 8), (1, 1, 8)])
def test_what_is_no_image_is_not_shown(shape: tuple[int, ...]) -> None:
    assert drawn(shape).axes == []


def test_inches_become_parts_of_the_figure() -> None:
    assert box(WIDTH, HEIGHT, WIDTH / 2, HEIGHT / 4) == (1.0, 1.0, 0.5, 0.25)
