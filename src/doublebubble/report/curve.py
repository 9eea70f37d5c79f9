"""Certified accuracy over radius: the numbers, their sampling bands, and the figure.

Misclassified and abstained inputs always count, as inputs that are certified at no radius.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from doublebubble.bounds import clopper_pearson
from doublebubble.certificate import Certificate
from doublebubble.errors import InputError
from doublebubble.types import Floats, Method


@dataclass(frozen=True)
class Curve:
    """Certified accuracy at some radii: the share of inputs predicted correctly with a radius of at least that.

    `low` and `high` are Clopper-Pearson limits at 95 % for the share over the data set that the inputs were drawn from.
    """

    radii: Floats
    accuracy: Floats
    low: Floats
    high: Floats


def counted_radii(certificates: Sequence[Certificate], method: Method | None = None) -> Floats:
    """The radius of each input, of the plan or of one method; -1 where the prediction is wrong or missing."""
    if not certificates:
        raise InputError("expected at least one certificate, got none")
    if any(certificate.label is None for certificate in certificates):
        raise InputError("certified accuracy needs the label of every input")
    return np.array([(c.radius if method is None else c.radii[method]) if c.correct else -1.0 for c in certificates])


def certified_accuracy(counted: Floats, radii: Floats, alpha: float = 0.05) -> Curve:
    """The curve through the radii asked for."""
    hits = (counted[None, :] >= radii[:, None]).sum(1)
    low, high = clopper_pearson(hits, len(counted), alpha, "two-sided")
    return Curve(radii, hits / len(counted), low, high)


def average_radius(counted: Floats) -> float:
    """The average certified radius: inputs that are wrong or abstained count 0."""
    return float(np.maximum(counted, 0.0).mean())


def draw_curve(certificates: Sequence[Certificate], path: Path, title: str) -> None:
    """Save the certified-accuracy figure; its caption names protocol and guarantee."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    counted = counted_radii(certificates)
    steps = np.linspace(0.0, max(0.1, 1.05 * float(counted.max())), 400)
    curve = certified_accuracy(counted, steps)
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.fill_between(curve.radii, curve.low, curve.high, color="#0072B2", alpha=0.18, linewidth=0)
    axes.plot(curve.radii, curve.accuracy, color="#0072B2", linewidth=2)
    axes.set(xlabel="radius (L2, in units of the input)", ylabel="certified accuracy", ylim=(0, 1.02), title=title)
    axes.set_xlim(0, float(steps[-1]))
    axes.grid(alpha=0.3)
    first = certificates[0]
    caption = (
        f"{len(certificates)} inputs, sigma {first.sigma:g}; protocol {first.protocol}: each radius "
        f"{first.guarantee.sentence}, alpha {first.alpha:g}. Band: 95 % over the choice of inputs."
    )
    figure.supxlabel(textwrap.fill(caption, 100), fontsize=7.5, color="#444444")
    figure.savefig(path, dpi=160)
