"""The figure of gains: by how much the reported radius exceeds Cohen's at the same draws, against p_A.

    python -m benchmarks.gains_figure RUNS... --out docs/images/gains.png

RUNS are those of `benchmarks.gains` under protocol `sound`; runs of one data set and sigma share a column. Prints the
caption that belongs beside it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

import doublebubble as db
from benchmarks.gains_table import measured, spec_of
from doublebubble.runs.spec import RunSpec

STYLES = (
    ("#005A8F", "o"),
    ("#B3225F", "s"),
    ("#00664A", "D"),
    ("#8A5A00", "^"),
)  # dark enough to be read as words, told apart by everybody, and by their marks in grey
BASES = ("binary", "multiclass")
NAMES = {"digits": "Digits", "mnist": "MNIST", "cifar10": "CIFAR-10"}
Measured = tuple[RunSpec, pd.DataFrame]


def points(table: pd.DataFrame, base: str) -> tuple[list[float], list[float]]:
    """p_A and the gain in per cent over the base, of correctly predicted inputs where the base certifies anything."""
    column = "binary" if base == "binary" else "radius_cohen"
    some = table[table["right"] & (table[column] > 0)]
    return some["p_a"].tolist(), (100 * (some["radius"] / some[column] - 1)).tolist()


def draw(files: Sequence[Measured], out: Path) -> None:
    """Save the figure: a row for each base, a column for each data set and sigma, a colour for each n."""
    cases = list(dict.fromkeys((settings.dataset, settings.sigma) for settings, _ in files))
    sizes = sorted({settings.config.n for settings, _ in files})
    figure = Figure(figsize=(1.2 + 2.9 * len(cases), 5.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, len(cases), squeeze=False, sharex=True, sharey="row")
    for column, (dataset, sigma) in enumerate(cases):
        here = sorted(
            ((s, table) for s, table in files if (s.dataset, s.sigma) == (dataset, sigma)),
            key=lambda pair: pair[0].config.n,
        )
        for row, base in enumerate(BASES):
            axes = panels[row, column]
            _scatter(axes, here, base, sizes)
            axes.margins(y=0.18)  # room for the labels
            if column == 0:
                axes.set_ylabel(f"gain over {base} Cohen (%)")
        panels[0, column].set_title(f"{NAMES.get(dataset, dataset)}, sigma {sigma:g}", fontsize=10)
        panels[1, column].set_xlabel("$p_A$, estimated (probability)", fontsize=9)
    figure.savefig(out, dpi=160)


def _scatter(axes: Axes, files: Sequence[Measured], base: str, sizes: Sequence[int]) -> None:
    """One panel, the number of draws written in the colour of its points."""
    if base == "binary":
        axes.set_yscale("symlog", linthresh=10)
        axes.set_yticks([0, 10, 100, 1000], minor=False)
    axes.axhline(0, color="#888888", linewidth=0.8)
    for number, (settings, table) in enumerate(reversed(files)):
        colour, marker = STYLES[sizes.index(settings.config.n) % len(STYLES)]
        p_a, gains = points(table, base)
        axes.scatter(p_a, gains, s=14, color=colour, marker=marker, alpha=0.75, linewidths=0)
        axes.annotate(
            f"n = {settings.config.n:,}",
            (0.97, 0.95 - 0.08 * number),
            xycoords="axes fraction",
            ha="right",
            va="top",
            color=colour,
            fontsize=8.5,
            fontweight="bold",
        )
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)


def _caption(files: Sequence[Measured]) -> str:
    alphas = sorted({f"{settings.config.alpha:g}" for settings, _ in files})
    counts = []
    for settings, table in files:
        name, drawn = NAMES.get(settings.dataset, settings.dataset), len(points(table, "multiclass")[0])
        counts.append(f"{drawn} of {name} at sigma {settings.sigma:g} and n = {settings.config.n:,}")
    return (
        f"Protocol sound, alpha {', '.join(alphas)}: each radius holds with probability at least 1 - alpha over the "
        "draws made for the input. Correctly predicted test inputs whose multiclass Cohen radius is positive: "
        f"{', '.join(counts)}; in the upper row only those whose binary radius is positive too (p_A above 1/2). "
        "The upper scale is linear up to 10 % and logarithmic beyond."
    )


def main() -> None:
    """Read, draw, save, print the caption."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    files = [(spec_of(run), measured(run)) for run in map(db.open_run, options.runs)]
    if any(settings.config.protocol != "sound" for settings, _ in files):
        raise SystemExit("expected runs of protocol sound only: under paper nothing is guaranteed")
    draw(files, options.out)
    sys.stdout.write(f"{_caption(files)}\n")


if __name__ == "__main__":
    main()
