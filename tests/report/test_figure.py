"""What is drawn is what the lines hold, every line has a name inside the picture, and no two names meet."""

import io
from dataclasses import replace
from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from scipy.optimize import LinearConstraint, minimize

from doublebubble.report.axes import AxesStyle
from doublebubble.report.figure import (
    BLUE,
    DASHED,
    GREEN,
    UNJOINED,
    VERMILION,
    DrawnLine,
    Panel,
    draw,
    pages,
    save,
    spread,
)
from doublebubble.report.measures import Estimate
from doublebubble.types import Floats

ENDS = AxesStyle("x", "y")
BESIDE = AxesStyle("x", "y", names="beside", y_range=(0.0, 1.02), steps=True)


def flat(label: str, height: float, dashes: str = "solid") -> DrawnLine:
    return DrawnLine(
        label, {0.1: Estimate(0.0, None, None, 3), 1.0: Estimate(height, height - 1, height + 1, 9)}, BLUE, dashes
    )


def falling(label: str, end: float, top: float = 0.9) -> DrawnLine:
    xs = np.linspace(0, 1, 50)
    return DrawnLine(label, {float(x): Estimate(max(0.0, top * (1 - x / end)), 0.0, 1.0, 9) for x in xs}, GREEN, DASHED)


def data_lines(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    found = {}
    for line in axes.get_lines():
        if not str(line.get_label()).startswith("_"):
            found[str(line.get_label())] = (
                np.asarray(line.get_xdata()).tolist(),
                np.asarray(line.get_ydata()).tolist(),
            )
    return found


def names(axes: Axes, wanted: set[str]) -> dict[str, tuple[float, float, float, float]]:
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    canvas.print_figure(io.BytesIO())
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert set(boxes) == wanted
    return {name: (box.x0, box.y0, box.x1, box.y1) for name, box in boxes.items()}


@pytest.mark.parametrize("heights", [(3.0, 3.0, 3.0, 3.0), (0.0, 5.0, 0.1, 4.9), (2.0,), (1e-12, 0.0, 0.0)])
def test_points_bands_and_names_at_the_ends(heights: tuple[float, ...]) -> None:
    lines = tuple(flat(f"line {k}", height) for k, height in enumerate(heights))
    figure = draw([[Panel("one", lines), Panel("two", lines[:1])]], ENDS, "title")
    axes, second = figure.axes
    assert data_lines(axes) == {
        line.label: ([0.1, 1.0], [0.0, height]) for line, height in zip(lines, heights, strict=True)
    }
    assert axes.get_xlim() == second.get_xlim()
    assert axes.get_ylim() == second.get_ylim()
    assert bars(axes) == [(1.0, height - 1, height + 1) for height in heights]  # none where there is no band
    boxes = names(axes, {line.label for line in lines})
    assert_apart_and_inside(figure, boxes)


def bars(axes: Axes) -> list[tuple[float, float, float]]:
    found = [
        np.asarray(path.vertices)
        for part in axes.collections
        if part.get_label() == "_bar"
        for path in part.get_paths()
    ]
    assert all(corners[0, 0] == corners[-1, 0] for corners in found)
    return [(float(corners[0, 0]), float(corners[:, 1].min()), float(corners[:, 1].max())) for corners in found]


def bands(axes: Axes) -> list[Floats]:
    parts = [part for part in axes.collections if part.get_label() != "_bar"]
    return [np.asarray(path.vertices, np.float64) for part in parts for path in part.get_paths()]


@pytest.mark.parametrize("known", list(product([False, True], repeat=4)))
def test_every_bound_is_seen_as_a_band_or_as_a_bar(known: tuple[bool, ...]) -> None:
    points = {
        float(k): Estimate(0.5, 0.2, 0.7 + 0.01 * k, 9) if has else Estimate(0.5, None, None, 3)
        for k, has in enumerate(known)
    }
    figure = draw([[Panel("one", (DrawnLine("line", points, BLUE),))]], ENDS, "title")
    (axes,) = figure.axes
    alone = [k for k, has in enumerate(known) if has and not any(known[j] for j in (k - 1, k + 1) if 0 <= j < 4)]
    assert bars(axes) == [(float(k), 0.2, 0.7 + 0.01 * k) for k in alone]
    shaded = {float(x) for corners in bands(axes) if np.ptp(corners[:, 0]) > 0 for x in corners[:, 0]}
    assert shaded == {float(k) for k, has in enumerate(known) if has} - set(map(float, alone))


def test_lines_of_the_same_dashes_differ_in_their_markers_also_where_they_coincide() -> None:
    lines = tuple(replace(falling(f"curve {k}", 0.8), marker=marker) for k, marker in enumerate("os^D"))
    figure = draw([[Panel("one", lines)]], BESIDE, "title")
    marks = [line for line in figure.axes[0].get_lines() if line.get_label() == "_marks"]
    assert [line.get_marker() for line in marks] == list("os^D")
    places = [np.asarray(line.get_xydata()) for line in marks]
    xs = np.concatenate(places)[:, 0]
    assert np.diff(np.sort(xs)).min() > 0.02
    for x, y in np.concatenate(places).tolist():
        assert y == next(found.value for right, found in lines[0].points.items() if right >= x)
    pieces = {line.get_marker() for line in figure.axes[0].get_lines() if line.get_label() == "_piece"}
    assert set("os^D") <= pieces


def test_a_curve_that_is_above_0_at_0_alone_is_marked_there_at_its_height() -> None:
    points = {0.0: Estimate(0.5, 0.2, 0.8, 9), 1.0: Estimate(0.0, 0.0, 0.3, 9)}
    figure = draw([[Panel("one", (DrawnLine("line", points, BLUE, marker="o"),))]], BESIDE, "title")
    (marks,) = (line for line in figure.axes[0].get_lines() if line.get_label() == "_marks")
    assert np.asarray(marks.get_xydata()).tolist() == [[0.0, 0.5]]


@pytest.mark.parametrize(("name", "columns"), [("first order", 2), ("largest, approximate, sigma 0.25", 1)])
def test_a_figure_is_as_wide_as_a_page_of_text_and_all_its_words_are_inside(name: str, columns: int) -> None:
    title = "sigma 0.25, approximate gradient\nprotocol paper: as published, not guaranteed"
    panel = Panel(title, tuple(falling(f"{name[:-1]}{k}", 0.3 + 0.05 * k) for k in range(4)))
    figure = draw([[panel] * 4, [panel] * 3], BESIDE, "Certified accuracy by method: tiny-imagenet (scale cpu)")
    width, height = figure.get_size_inches() * figure.dpi
    assert width <= 5.5 * figure.dpi
    shown = [axes for axes in figure.axes if axes.axison]
    assert len(shown) == 7
    names(shown[0], {line.label for line in panel.lines})
    assert len({round(axes.get_position().x0, 3) for axes in shown}) == columns
    words = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    assert min(float(text.get_fontsize()) for text in words) >= 7
    for text in words:
        box = text.get_window_extent()
        assert (box.x0 >= 0, box.y0 >= 0, box.x1 <= width, box.y1 <= height) == (True,) * 4, text
    for axes in shown:
        assert axes.get_window_extent().width >= 1.3 * figure.dpi
    blocks = [axes.get_tightbbox() for axes in shown]
    for a, b in combinations(blocks, 2):
        assert a is not None
        assert b is not None
        assert not (a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1)


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Gain over Cohen: digits (scale cpu)", 1),
        ("Gain over each protocol's own Cohen by radius: cifar10-resnet18, part 1 of 2 (scale cpu)", 2),
        ("Gain over Cohen: " + "a data set that somebody gave a name without an end " * 4, 3),
    ],
)
def test_a_title_is_read_whole_however_long_it_is(title: str, lines: int) -> None:
    figure = draw([[Panel("one", (flat("line", 1.0),))]], ENDS, title)
    figure.draw_without_rendering()
    said = figure.get_suptitle()
    (box,) = [text.get_window_extent() for text in figure.texts if text.get_text() == said]
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width
    assert box.y1 <= figure.bbox.height
    assert said.split() == title.split()
    assert said.count("\n") + 1 >= lines
    assert (said.count("\n") == 0) is (lines == 1)
    short = draw([[Panel("one", (flat("line", 1.0),))]], ENDS, "title")
    short.draw_without_rendering()
    heights = [one.axes[0].get_window_extent().height for one in (figure, short)]
    assert heights[0] == pytest.approx(heights[1], rel=0.05)  # the room for the title is not the panels'


def test_no_leader_crosses_a_panel_and_no_caption_is_burned_in() -> None:
    lines = tuple(falling(f"curve {k}", 0.9, 0.05) for k in range(4))
    figure = draw([[Panel("one", lines)]], BESIDE, "title")
    (axes,) = figure.axes
    for line in axes.get_lines():
        if line.get_transform() is axes.transAxes:
            assert np.asarray(line.get_xdata()).min() > 1, "what names a line lies right of the panel"
    assert figure.get_supxlabel() == ""


def test_a_panel_of_more_than_four_bands_is_refused_and_lines_without_bands_do_not_count() -> None:
    lines = tuple(falling(f"curve {k}", 0.9) for k in range(5))
    with pytest.raises(AssertionError, match="one: 5 curves with bands"):
        Panel("one", lines)
    bare = replace(lines[0], points={0.0: Estimate(1.0, None, None, 1)})
    assert len(Panel("one", (*lines[:4], bare, bare)).lines) == 6


def test_points_that_are_not_joined_have_bars_and_no_band() -> None:
    points = {float(k): Estimate(0.5, 0.2, 0.7 + 0.01 * k, 9) for k in range(3)}
    figure = draw([[Panel("one", (DrawnLine("line", points, BLUE, UNJOINED, "o"),))]], ENDS, "title")
    (axes,) = figure.axes
    assert bars(axes) == [(float(k), 0.2, 0.7 + 0.01 * k) for k in range(3)]
    assert bands(axes) == []
    (drawn,) = (line for line in axes.get_lines() if line.get_label() == "line")
    assert (drawn.get_linestyle(), drawn.get_marker()) == ("None", "o")


def test_a_caption_is_a_file_beside_the_figure(tmp_path: Path) -> None:
    figure = draw([[Panel("one", (flat("line", 1.0),))]], ENDS, "title")
    assert [path.name for path in save(figure, tmp_path / "a", "The words.")] == ["a.png", "a.pdf", "a.md"]
    assert (tmp_path / "a.md").read_text() == "The words.\n"
    assert [path.name for path in save(figure, tmp_path / "b")] == ["b.png", "b.pdf"]


@pytest.mark.parametrize("ends", [(0.5, 0.5, 0.9, 0.9), (0.3, 1.0), (0.7,), tuple(np.linspace(0.3, 0.9, 4))])
def test_names_beside_falling_curves(ends: tuple[float, ...]) -> None:
    lines = tuple(falling(f"curve {k}", end) for k, end in enumerate(ends))
    figure = draw([[Panel("one", lines)]], BESIDE, "title")
    (axes,) = figure.axes
    boxes = names(axes, {line.label for line in lines})
    assert_apart_and_inside(figure, boxes)
    order = sorted(lines, key=lambda line: -max(x for x, point in line.points.items() if point.value > 0))
    heights = [boxes[line.label][1] for line in order]
    assert heights == sorted(heights, reverse=True), "curves that end last are named on top"


@pytest.mark.parametrize("top", [0.0, 0.05, 0.3])
def test_names_of_low_curves_keep_apart(top: float) -> None:
    lines = tuple(falling(f"curve {k}", 0.5, top) for k in range(4))
    figure = draw([[Panel("one", lines)]], BESIDE, "title")
    assert_apart_and_inside(figure, names(figure.axes[0], {line.label for line in lines}))


def assert_apart_and_inside(figure: Figure, boxes: dict[str, tuple[float, float, float, float]]) -> None:
    ordered = sorted(boxes.values(), key=lambda box: box[1])
    for lower, upper in pairwise(ordered):
        assert lower[3] <= upper[1]
    width, height = figure.get_size_inches() * figure.dpi
    for box in ordered:
        assert box[0] >= 0
        assert box[1] >= 0
        assert box[2] <= width
        assert box[3] <= height


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-0.2, 1.2), min_size=1, max_size=8))
def test_spreading_is_the_least_movement_that_keeps_names_apart(heights: list[float]) -> None:
    wanted = np.array(sorted(heights, reverse=True))
    gap = 0.1
    found = np.array(spread(wanted, gap))
    assert all(upper - lower >= gap - 1e-9 for upper, lower in pairwise(found))
    assert found.min() >= -1e-9
    assert found.max() <= 1 + 1e-9
    steps = -np.diff(np.eye(len(wanted)), axis=0)
    rules = [LinearConstraint(steps, gap, np.inf)] if len(wanted) > 1 else []
    start = np.linspace(0.95, 0.05, len(wanted))

    def moved(to: Floats) -> float:
        return float(((to - wanted) ** 2).sum())

    best = minimize(moved, start, bounds=[(0, 1)] * len(wanted), constraints=rules, tol=1e-12)
    assert moved(found) <= best.fun + 1e-6


def test_an_empty_panel_says_so_and_a_ragged_grid_is_drawn() -> None:
    lines = (flat("a", 1.0), DrawnLine("nothing", {}, VERMILION))
    figure = draw([[Panel("x", lines), Panel("y", (), empty="nothing here")], [Panel("z", lines)]], ENDS, "t")
    assert set(data_lines(figure.axes[0])) == {"a"}
    assert [text.get_text() for text in figure.axes[1].texts] == ["nothing here"]
    assert not figure.axes[3].axison
    everything_empty = draw([[Panel("x", ())]], ENDS, "t")
    assert [text.get_text() for text in everything_empty.axes[0].texts] == ["no input to show"]


def test_files_are_the_same_again(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        figure = draw([[Panel("one", (flat("line", 1.0),))]], ENDS, "title")
        png, pdf = save(figure, tmp_path / folder / "sigma-0.5")
        assert (png.name, pdf.name) == ("sigma-0.5.png", "sigma-0.5.pdf")
    for name in (png.name, pdf.name):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert pdf.read_bytes().startswith(b"%PDF")
    with Image.open(png) as image:
        assert image.size[0] > 500


def test_what_is_higher_than_a_page_comes_in_parts_with_the_same_axes() -> None:
    low, high = Panel("low", (flat("line", 1.0),)), Panel("high", (flat("line", 9.0),))
    assert pages([[low] * 8]) == [[[low] * 8]]
    assert pages([[low] * 4, [high] * 8]) == [[[low] * 4], [[high] * 8]], "rows stay together"
    assert pages([[low] * 2] * 6) == [[[low] * 2] * 4, [[low] * 2] * 2]
    assert pages([[low] * 9]) == [[[low] * 8], [[low]]]
    long = Panel("long", (flat("a name that is too long", 1.0),))
    assert pages([[long] * 5]) == [[[long] * 4], [[long]]], "panels with long names stand alone"
    rows = [[low] * 4, [high] * 8]
    parts = [draw(part, ENDS, "title", rows) for part in pages(rows)]
    assert [len(figure.axes) for figure in parts] == [4, 8]
    assert len({(axes.get_xlim(), axes.get_ylim()) for figure in parts for axes in figure.axes}) == 1
    assert all(figure.get_size_inches()[1] < 8 for figure in parts)


@pytest.mark.parametrize(
    "xs", [(1500.0, 1e4, 1e5), (150.0, 500.0, 5000.0), (1.0, 5.0, 50.0), (0.001, 0.05, 0.5), (2e5, 1e6)]
)
def test_numbers_below_a_logarithmic_axis_keep_apart(xs: tuple[float, ...]) -> None:
    line = DrawnLine("sound", {x: Estimate(1.0, None, None, 9) for x in xs}, BLUE)
    figure = draw([[Panel("a", (line,)), Panel("b", (line,))]], AxesStyle("draws", "gain", log_x=True), "title")
    for axes in figure.axes:
        names(axes, {"sound"})  # draws it
        low, high = axes.get_xlim()
        ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        boxes = sorted((t.get_window_extent() for x, t in ticks if low <= x <= high), key=lambda box: box.x0)
        assert boxes
        assert all(one.x1 + 1 < other.x0 for one, other in pairwise(boxes))
