"""The table of gains, from what `benchmarks.gains` keeps; also while it is running.

    python -m benchmarks.gains_table FILES...

ACR and certified accuracies are over all inputs that were tried, those not correctly predicted counting as 0. Ratios of
sums and median gains are over the correctly predicted ones; an input gained if its radius exceeds multiclass Cohen's.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.gains_log import Line, Settings, read
from doublebubble.types import Floats

RADII = (0.25, 0.5, 1.0)


def table(settings: Settings, lines: Sequence[Line]) -> str:
    """One Markdown table: averages over all inputs, ratios and median gains over the correctly predicted ones."""
    correct = [line for line in lines if line.correct]
    text = [f"**{settings.title}**: {len(correct)} of {len(lines)} inputs correctly predicted", ""]
    if not correct:
        return "\n".join(text)
    radii = {"the radius reported": [line.radius for line in correct]}
    for method in reversed(settings.methods):
        radii = {method: [(line.radii or {})[method] for line in correct]} | radii
    bases = {"multiclass": np.array(radii["cohen"])}
    if settings.protocol == "sound":
        radii = {"binary Cohen": [line.binary for line in correct]} | radii
        bases = {"binary": np.array(radii["binary Cohen"])} | bases
    heads = ["method", "ACR", *(f"at {radius:g}" for radius in RADII)]
    for base in bases:
        heads += [f"over {base}", "median gain"]
    heads.append("inputs that gained")
    text += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for name, values in radii.items():
        mine = np.array(values)
        cells = [name, f"{mine.sum() / len(lines):.4f}"]
        cells += [f"{100 * float((mine >= radius).sum()) / len(lines):.1f} %" for radius in RADII]
        for theirs in bases.values():
            cells += _against(mine, theirs)
        gained = int((mine > bases["multiclass"] * (1 + 1e-9)).sum())
        cells.append(f"{gained} of {len(mine)}")
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def _against(mine: Floats, base: Floats) -> list[str]:
    """Ratio of the sums, and the median gain where the base certifies anything."""
    both = base > 0
    if not both.any():
        return ["", ""]
    return [f"{mine.sum() / base.sum():.3f}", f"{100 * float(np.median(mine[both] / base[both] - 1)):+.1f} %"]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(table(*read(Path(name))), end="\n\n")
