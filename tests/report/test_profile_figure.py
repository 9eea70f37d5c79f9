"""The panels beside a slice show the stored table and the stored prices."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from doublebubble.report.insets import HEIGHT, WIDTH
from doublebubble.report.profile_figure import ROOM, draw_profile
from doublebubble.runs.profiles import StoredProfile

PROFILE = StoredProfile(
    top=1,
    rival=0,
    direction=np.array([1.0, 0.0]),
    edges=np.array([-0.5, 0.5]),
    table=np.array([[8, 1, 1], [30, 10, 10], [1, 9, 0]]),
    k_a=np.array([0.5, 1.0, 2.0]),
    k_b=np.array([0.75, 1.25, 2.5]),
    radius=0.4,
)


def drawn(profile: StoredProfile) -> Figure:
    figure = Figure(figsize=(WIDTH + ROOM, HEIGHT))
    draw_profile(figure, profile, ("rival", "mine"), {1: "#0072B2", 0: "#E69F00"})
    return figure


def steps(figure: Figure, panel: int) -> list[Any]:
    """The values, edges and baseline of each row of steps."""
    return [patch.get_data() for patch in figure.axes[panel].patches if isinstance(patch, StepPatch)]


def test_votes_are_stacked_shares_of_each_bin() -> None:
    mine, others, rival = steps(drawn(PROFILE), 0)
    assert mine[0] == pytest.approx([0.8, 0.6, 0.1])
    assert others[0] == pytest.approx([0.9, 0.8, 0.1])
    assert rival[0] == pytest.approx([1, 1, 1])
    assert others[2] == pytest.approx([0.8, 0.6, 0.1])
    assert mine[1][1:-1] == pytest.approx([-0.5, 0.5])
    assert "70 certify draws" in drawn(PROFILE).axes[0].get_title()
    assert {text.get_text() for text in drawn(PROFILE).axes[0].texts} == {"mine", "others", "rival"}


def test_prices_are_those_stored() -> None:
    k_a, k_b = steps(drawn(PROFILE), 1)
    assert k_a[0].tolist() == [0.5, 1.0, 2.0]
    assert k_b[0].tolist() == [0.75, 1.25, 2.5]
    legend = drawn(PROFILE).axes[1].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["of a vote for mine", "of a vote not for rival"]


def test_prices_have_plain_numbers_beside_them_and_may_be_negative() -> None:
    """A figure of slices does not set formulas, so powers of ten would be printed as they are written."""
    figure = drawn(PROFILE)
    figure.canvas.draw()
    labels = [label.get_text() for label in figure.axes[1].get_yticklabels(which="both")]
    assert "1" in labels
    assert not any("$" in label for label in labels)
    assert figure.axes[1].get_yscale() == "log"
    assert (
        drawn(StoredProfile(**{**PROFILE.__dict__, "k_a": np.array([-0.5, 1.0, 2.0])})).axes[1].get_yscale() == "linear"
    )


def test_both_panels_stand_right_of_the_plane_and_empty_bins_are_drawn_empty() -> None:
    empty = np.array([[8, 1, 1], [0, 0, 0], [1, 9, 0]])
    figure = drawn(StoredProfile(**{**PROFILE.__dict__, "table": empty}))
    assert all(axes.get_position().x0 > WIDTH / (WIDTH + ROOM) for axes in figure.axes)
    assert all(axes.get_position().x1 < 1 for axes in figure.axes)
    assert steps(figure, 0)[2][0] == pytest.approx([1, 0, 1])
