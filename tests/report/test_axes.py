"""Bent axes keep order and show small values beside large ones; lines break where nothing was measured."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from doublebubble.report.axes import AxesStyle, fitted, ranges
from doublebubble.report.figure import BLUE, DrawnLine, Panel, draw
from doublebubble.report.measures import Estimate

BENT = AxesStyle("x", "y", bend=10.0)


def drawn(values: list[float], style: AxesStyle, xs: list[float] | None = None) -> Figure:
    at = xs or [float(k) for k in range(len(values))]
    points = {x: Estimate(value, None, None, 3) for x, value in zip(at, values, strict=True)}
    return draw([[Panel("panel", (DrawnLine("line", points, BLUE, marker="o"),))]], style, "title")


def shares(axes: Axes, values: list[float]) -> list[float]:
    """Heights in the panel, 0 at its lower edge and 1 at its upper one."""
    places = axes.transData.transform([(0.0, value) for value in values])
    return [float(y) for _, y in axes.transAxes.inverted().transform(places)]


def test_heights_are_linear_up_to_the_bend_and_logarithmic_beyond() -> None:
    figure = drawn([0.0, 5.0, 300.0], BENT)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    low, half, bend, three, ten, thirty = shares(axes, [0.0, 5.0, 10.0, 30.0, 100.0, 300.0])
    assert half - low == pytest.approx(bend - half)
    assert three - bend == pytest.approx(thirty - ten)
    assert ten - bend == pytest.approx((three - bend) * np.log(10) / np.log(3))
    assert half - low > 0.15  # where 300 on a straight axis would leave 5 less than two hundredths
    ticks = {float(tick) for tick in axes.get_yticks()}
    assert {0.0, 5.0, 10.0, 30.0, 100.0, 300.0, -5.0} <= ticks


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=8))
def test_all_values_lie_inside_and_only_large_ones_bend_the_axis(values: list[float]) -> None:
    points = [(float(k), Estimate(value, None, None, 3)) for k, value in enumerate(values)]
    style = fitted(BENT, points)
    assert (style.bend is not None) == (max(map(abs, values)) > 20)
    _, (low, high) = ranges(style, points)
    assert -inf < low < min(0.0, *values)
    assert inf > high > max(0.0, *values)


@settings(deadline=None, max_examples=20)
@given(st.floats(-900.0, 900.0))
def test_a_name_stands_at_the_height_of_its_last_point_on_a_bent_axis(last: float) -> None:
    axes = drawn([1000.0, -1000.0, last], BENT).axes[0]
    (name,) = axes.texts
    assert name.get_position()[1] == pytest.approx(shares(axes, [last])[0], abs=1e-6)


def test_a_line_breaks_where_points_are_farther_apart_than_the_gap() -> None:
    style = AxesStyle("x", "y", gap=1.5)
    for xs, breaks in ([0.0, 1.0, 2.0], 0), ([0.0, 1.0, 3.0, 4.0], 1), ([0.0, 2.0, 4.0], 2):
        axes = drawn([1.0] * len(xs), style, xs).axes[0]
        (line,) = (one for one in axes.get_lines() if one.get_label() == "line")
        shown = np.asarray(line.get_xdata(), np.float64)
        assert np.isnan(shown).sum() == breaks
        assert shown[~np.isnan(shown)].tolist() == xs
        joined = np.diff(shown)
        assert not (joined[~np.isnan(joined)] > 1.5).any()
