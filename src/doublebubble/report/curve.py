"""The figure of certified accuracy over radius, from a run's records, with bands for the choice of inputs."""

import textwrap
from pathlib import Path

import numpy as np

from doublebubble.errors import InputError
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.statistics import certified_accuracy
from doublebubble.runs.store import Run
from doublebubble.runs.tables import frame
from doublebubble.types import Guarantee

BLUE = "#0072B2"  # of Okabe and Ito, told apart by everybody


def draw_curve(run: Run, path: Path, title: str) -> None:
    """Save the figure; its caption names the protocol and the guarantee."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not run.records:
        raise InputError(f"{run.path}: expected at least one record to draw, got none")
    table = frame(run)
    steps = np.linspace(0.0, max(0.1, 1.05 * float(table["radius"].max())), 400)
    points = certified_accuracy(table, steps.tolist())
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    low, high = [point.low for point in points], [point.high for point in points]
    axes.fill_between(steps, low, high, color=BLUE, alpha=0.18, linewidth=0)
    axes.plot(steps, [point.accuracy for point in points], color=BLUE, linewidth=2)
    axes.set(xlabel="radius (L2, in units of the input)", ylabel="certified accuracy", ylim=(0, 1.02), title=title)
    axes.set_xlim(0, float(steps[-1]))
    axes.grid(alpha=0.3)
    figure.supxlabel(textwrap.fill(caption(run), 100), fontsize=7.5, color="#444444")
    figure.savefig(path, dpi=160)


def caption(run: Run) -> str:
    """What the numbers are and what stands behind them, in words."""
    table = frame(run)
    words = [f"{len(table)} inputs"]
    if isinstance(run.spec, RunSpec):
        words.append(f"sigma {run.spec.sigma:g}, protocol {run.spec.config.protocol}, alpha {run.spec.config.alpha:g}")
    held = sorted({str(name) for name in table.loc[table["status"] != "failed", "guarantee"]})
    promises = [f"each radius {Guarantee(name).sentence}" for name in held]
    return "; ".join([*words, *promises]) + ". Band: 95 % over the choice of inputs."
