"""The figure of gains: by how much the reported radius exceeds Cohen's at the same draws, against p_A.

    python -m benchmarks.gains_figure FILES... --out docs/images/gains.png

FILES are those of `benchmarks.gains` under protocol `sound`; files of one data set and sigma share a column.
"""

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.gains_log import Line, Settings, read

STYLES = (
    ("#E69F00", "^"),
    ("#0072B2", "o"),
    ("#CC3377", "s"),
    ("#009E73", "D"),
)  # told apart by everybody, and in grey
BASES = ("binary", "multiclass")
NAMES = {"digits": "Digits", "mnist": "MNIST", "cifar10": "CIFAR-10"}
Measured = tuple[Settings, list[Line]]


def points(lines: Sequence[Line], base: str) -> tuple[list[float], list[float]]:
    """p_A and the gain in per cent over the base, of correctly predicted inputs where the base certifies anything."""
    pairs = []
    for line in lines:
        if line.correct and line.radii is not None:
            other = line.binary if base == "binary" else line.radii["cohen"]
            if other > 0:
                pairs.append((line.p_a, 100 * (line.radius / other - 1)))
    return [p for p, _ in pairs], [gain for _, gain in pairs]


def draw(files: Sequence[Measured], out: Path) -> None:
    """Save the figure: a row for each base, a column for each data set and sigma, a colour for each n."""
    cases = list(dict.fromkeys((settings.dataset, settings.sigma) for settings, _ in files))
    sizes = sorted({settings.n for settings, _ in files})
    figure = Figure(figsize=(1.2 + 2.9 * len(cases), 5.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, len(cases), squeeze=False, sharex=True, sharey="row")
    for column, (dataset, sigma) in enumerate(cases):
        here = sorted(
            ((s, lines) for s, lines in files if (s.dataset, s.sigma) == (dataset, sigma)), key=lambda pair: pair[0].n
        )
        for row, base in enumerate(BASES):
            axes = panels[row, column]
            _scatter(axes, here, base, sizes)
            axes.margins(y=0.18)  # room for the labels
            if column == 0:
                axes.set_ylabel(f"gain over {base} Cohen (%)")
        panels[0, column].set_title(f"{NAMES.get(dataset, dataset)}, sigma {sigma:g}", fontsize=10)
        panels[1, column].set_xlabel("$p_A$, estimated (probability)", fontsize=9)
    figure.supxlabel(textwrap.fill(_caption(files), 36 + 42 * len(cases)), fontsize=7.5, color="#444444")
    figure.savefig(out, dpi=160)


def _scatter(axes: Axes, files: Sequence[Measured], base: str, sizes: Sequence[int]) -> None:
    """One panel, the number of draws written in the colour of its points."""
    if base == "binary":
        axes.set_yscale("symlog", linthresh=10)
        axes.set_yticks([0, 10, 100, 1000], minor=False)
    axes.axhline(0, color="#888888", linewidth=0.8)
    for number, (settings, lines) in enumerate(reversed(files)):
        colour, marker = STYLES[sizes.index(settings.n) % len(STYLES)]
        p_a, gains = points(lines, base)
        axes.scatter(p_a, gains, s=14, color=colour, marker=marker, alpha=0.75, linewidths=0)
        axes.annotate(
            f"n = {settings.n:,}",
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
    alphas = sorted({f"{settings.alpha:g}" for settings, _ in files})
    counts = []
    for settings, lines in files:
        name, drawn = NAMES.get(settings.dataset, settings.dataset), len(points(lines, "multiclass")[0])
        counts.append(f"{drawn} of {name} at sigma {settings.sigma:g} and n = {settings.n:,}")
    return (
        f"Protocol sound, alpha {', '.join(alphas)}: each radius holds with probability at least 1 - alpha over the "
        "draws made for the input. Correctly predicted test inputs whose multiclass Cohen radius is positive: "
        f"{', '.join(counts)}; in the upper row only those whose binary radius is positive too (p_A above 1/2). "
        "The upper scale is linear up to 10 % and logarithmic beyond."
    )


def main() -> None:
    """Read, draw, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    files = [read(path) for path in options.files]
    if any(settings.protocol != "sound" for settings, _ in files):
        raise SystemExit("expected files of protocol sound only: under paper nothing is guaranteed")
    draw(files, options.out)


if __name__ == "__main__":
    main()
