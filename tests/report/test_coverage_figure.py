"""The figure of misses against alpha shows the worst point of each method, and where nothing is promised says so."""

from pathlib import Path

import numpy as np

from doublebubble.audit.validity import Coverage
from doublebubble.report.coverage_figure import coverage_figure, worst
from doublebubble.report.figure import save

FOUND = [
    Coverage("half-space", "sound", "cohen", 0.05, 100, 100, 4),
    Coverage("slab", "sound", "cohen", 0.05, 100, 100, 1),
    Coverage("half-space", "sound", "cohen", 0.2, 50, 50, 9),
    Coverage("half-space", "sound", "dipole", 0.05, 100, 20, 0),
    Coverage("half-space", "paper", "cohen", 0.05, 100, 100, 30),
]


def test_the_worst_point_of_each_level_is_shown_by_rising_alpha() -> None:
    shown = worst(FOUND, "sound", "cohen")
    assert list(shown) == [0.05, 0.2]
    assert [one.misses for one in shown.values()] == [4, 9]
    assert worst(FOUND, "paper", "dipole") == {}


def test_each_protocol_has_a_panel_that_says_what_it_is(tmp_path: Path) -> None:
    figure = coverage_figure(FOUND)
    assert [axes.get_title() for axes in figure.axes] == [
        "protocol sound",
        "protocol paper: as published, not guaranteed",
    ]
    sound, paper = figure.axes
    assert sound.get_legend_handles_labels()[1] == ["Cohen", "dipole"]
    assert paper.get_legend_handles_labels()[1] == ["Cohen"]
    drawn = [np.asarray(line.get_ydata()).tolist() for line in sound.lines]
    assert [0.04, 0.18] in drawn, "shares, not counts"
    (alone,) = coverage_figure(FOUND[:4]).axes
    assert alone.get_title() == "protocol sound"
    assert all(path.exists() for path in save(figure, tmp_path / "coverage"))
