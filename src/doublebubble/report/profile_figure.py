"""The profile beside the drawing of a slice: votes by their place on the line, and the prices put on each place.

Draws what a record stores, and computes nothing that is claimed.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from doublebubble.report.insets import BOTTOM, SIDE, box
from doublebubble.runs.profiles import StoredProfile
from doublebubble.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = 4.6
"""Inches that the profile adds to the figure's width."""
_LEFT, _ACROSS, _GAP = 10.5, 3.75, 0.95  # inches
_OTHERS, _RIVAL, _INK = "#999999", "#E69F00", "#1a1a1a"
_BEYOND = 0.5  # how far the unbounded bins are drawn, in sigmas


def draw_profile(figure: "Figure", profile: StoredProfile, names: Sequence[str], colours: Mapping[int, str]) -> None:
    """Two panels at the right of a figure: above the votes by bin, below the prices."""
    height = (SIDE - _GAP) / 2
    whole = figure.get_figwidth()
    upper = figure.add_axes(box(_LEFT, BOTTOM + height + _GAP, _ACROSS, height, whole))
    lower = figure.add_axes(box(_LEFT, BOTTOM, _ACROSS, height, whole))
    rival = colours.get(profile.rival, _RIVAL)
    _draw_votes(upper, profile, names, (colours.get(profile.top, "#0072B2"), rival))
    _draw_prices(lower, profile, names, rival)
    for axes in (upper, lower):
        axes.set_xlim(*_ends(profile)[[0, -1]])
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)


def _ends(profile: StoredProfile) -> Floats:
    """The ends of the bins as drawn."""
    edges = profile.edges
    ends: Floats = np.concatenate([edges[:1] - _BEYOND, edges, edges[-1:] + _BEYOND])
    return ends


def _draw_votes(axes: "Axes", profile: StoredProfile, names: Sequence[str], colours: tuple[str, str]) -> None:
    """The shares of the class, of others and of the rival in each bin, stacked from below."""
    ends, seen = _ends(profile), profile.table.sum(axis=1)
    shares = profile.table / np.maximum(seen, 1)[:, None]
    bottom = np.zeros(len(seen))
    layers = ((0, colours[0], names[profile.top]), (2, _OTHERS, "others"), (1, colours[1], names[profile.rival]))
    for column, colour, name in layers:
        top = bottom + shares[:, column]
        axes.stairs(top, ends, baseline=bottom, fill=True, color=colour, alpha=0.7, linewidth=0)
        _name(axes, ends, bottom, top, seen, name)
        bottom = top
    axes.set(ylim=(0, 1), ylabel="share of the votes")
    axes.set_title(f"{int(seen.sum()):,} certify draws by their place on the line", fontsize=9.5)


def _name(axes: "Axes", ends: Floats, low: Floats, high: Floats, seen: Floats, name: str) -> None:
    """A layer's name where it is thickest among bins that hold draws; none if it is thin everywhere."""
    thick = np.where(seen > 0, high - low, 0.0)
    wide = np.convolve(thick, [0.25, 0.5, 0.25], "same")
    j = int(wide.argmax())
    if thick[j] > 0.12:
        middle = float(np.clip((ends[j] + ends[j + 1]) / 2, ends[0] + 0.6, ends[-1] - 0.6))
        axes.text(middle, (low[j] + high[j]) / 2, name, ha="center", va="center", fontsize=10, color=_INK)


def _draw_prices(axes: "Axes", profile: StoredProfile, names: Sequence[str], rival: str) -> None:
    """Steps for the two prices."""
    ends = _ends(profile)
    axes.stairs(
        profile.k_a, ends, baseline=None, color=_INK, linewidth=1.8, label=f"of a vote for {names[profile.top]}"
    )
    words = f"of a vote not for {names[profile.rival]}"
    axes.stairs(profile.k_b, ends, baseline=None, color=rival, linewidth=1.8, linestyle=(0, (4, 1.5)), label=words)
    axes.legend(fontsize=8, frameon=False, loc="upper left", handlelength=2.6)
    least, most = (float(pick([profile.k_a, profile.k_b])) for pick in (np.min, np.max))
    if least > 0:  # they grow like the weight of the displaced noise, exponentially
        axes.set(yscale="log", ylim=(least / 1.3, most * (most / least) ** 0.3))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_formatter("")
    axes.set(xlabel="place on the line, in sigmas", ylabel="price")
    axes.set_title("prices, fixed before the draws", fontsize=9.5)
