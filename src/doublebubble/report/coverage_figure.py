"""How often certificates claimed too much, against how often they may: one line per method, its worst point shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from doublebubble import registry
from doublebubble.audit.validity import Coverage
from doublebubble.bounds import clopper_pearson
from doublebubble.report.facts import protocol_name
from doublebubble.runs.statistics import BAND_ALPHA
from doublebubble.types import Floats, Method, Protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PROTOCOLS: tuple[Protocol, ...] = ("sound", "paper")
_INK, _SMALL = "#333333", 7.0
_TICKS = (0.01, 0.05, 0.1, 0.2, 0.5)


def worst(found: Sequence[Coverage], protocol: Protocol, method: Method) -> dict[float, Coverage]:
    """For each level, by rising alpha, the point at which the method missed most often."""
    of_it = [one for one in found if (one.protocol, one.method) == (protocol, method)]
    return {
        alpha: max((one for one in of_it if one.alpha == alpha), key=lambda one: one.share)
        for alpha in sorted({one.alpha for one in of_it})
    }


def coverage_figure(found: Sequence[Coverage]) -> "Figure":
    """A panel for each protocol; lines below the diagonal hold what they promise. Bars are exact 95 % intervals."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    protocols = [protocol for protocol in PROTOCOLS if any(one.protocol == protocol for one in found)]
    figure = Figure(figsize=(5.5, 3.0), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, protocol in zip(
        figure.subplots(1, len(protocols), squeeze=False, sharey=True)[0], protocols, strict=True
    ):
        _panel(axes, found, protocol)
    figure.suptitle("How often a radius exceeds the truth, at the worst of all points", fontsize=9.5)
    return figure


def _panel(axes: "Axes", found: Sequence[Coverage], protocol: Protocol) -> None:
    methods = [method for method in registry.names(protocol) if any(one.method == method for one in found)]
    shown = {method: worst(found, protocol, method) for method in methods}
    axes.plot((0, 1), (0, 1), color=_INK, linewidth=0.8, linestyle=(0, (5, 2)))
    for number, method in enumerate(methods):
        card, points = registry.card(method), shown[method]
        shift = 1 + 0.025 * (number - (len(methods) - 1) / 2)  # side by side, or bars would hide each other
        bands = [clopper_pearson(one.misses, one.times, BAND_ALPHA, side="two-sided") for one in points.values()]
        below = [one.share - low for one, (low, _) in zip(points.values(), bands, strict=True)]
        above = [high - one.share for one, (_, high) in zip(points.values(), bands, strict=True)]
        axes.errorbar(
            [alpha * shift for alpha in points],
            [one.share for one in points.values()],
            (below, above),
            color=card.colour,
            marker=card.marker,
            markersize=3.5,
            linewidth=1.1,
            elinewidth=0.7,
            label=card.label,
        )
    for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
        scale("function", functions=(_root, _square))
        axis.set_ticks((0.0, *_TICKS), [f"{tick:g}" for tick in (0.0, *_TICKS)])
    axes.set_xlim(0, 0.6)
    axes.set_ylim(0, 1.0)
    axes.tick_params(labelsize=_SMALL)
    axes.set_xlabel("alpha", fontsize=_SMALL + 0.5)
    axes.set_ylabel("share of misses", fontsize=_SMALL + 0.5)
    axes.set_title(f"protocol {protocol_name(protocol)}", fontsize=_SMALL + 1)
    axes.legend(fontsize=_SMALL, frameon=False, loc="upper left")


def _root(value: Floats) -> Floats:
    return np.sqrt(np.maximum(value, 0.0))


def _square(value: Floats) -> Floats:
    return np.square(value)
