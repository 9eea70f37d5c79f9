"""What each method gains over votes alone, under each protocol, on one data set and model.

    python -m benchmarks.gains --model DIR --dataset digits --sigma 0.5 --inputs 100 --n 10000 [--json FILE]

Sound radii are set beside binary and multiclass Cohen radii of the same draws. Only correctly predicted inputs enter,
as in the publication; the number of inputs tried is printed too. Under `paper` nothing is guaranteed.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.progress import track

from doublebubble import Certificate, Certifier, CertifyConfig, SmoothedClassifier
from doublebubble.bounds import clopper_pearson
from doublebubble.data import load_dataset
from doublebubble.geometry import cohen_radius
from doublebubble.models import load_model
from doublebubble.types import Method

SOUND: tuple[Method, ...] = ("cohen", "single", "boundary", "double", "first_order", "dipole")
PAPER: tuple[Method, ...] = ("cohen", "single", "boundary", "double")


def binary_radius(certificate: Certificate) -> float:
    """Binary Cohen at the same draws and alpha: what most tools certify."""
    counts = certificate.counts["input"]
    top = int(certificate.counts["select"].argmax())
    lower = clopper_pearson(int(counts[top]), int(counts.sum()), certificate.alpha, "lower")
    return max(0.0, cohen_radius(lower, None, certificate.sigma)) if lower > 0 else 0.0


def summary(radii: Sequence[float], base: Sequence[float]) -> str:
    """Ratio of the sums, median gain, and how many inputs gained, over a base."""
    mine, theirs = np.array(radii), np.array(base)
    both = theirs > 0
    gains = mine[both] / theirs[both] - 1
    share = float((mine > theirs * (1 + 1e-9)).mean())
    return f"{mine.sum() / theirs.sum():.3f} | {100 * float(np.median(gains)):+.1f} % | {100 * share:.0f} %"


def table(title: str, certificates: list[Certificate], methods: tuple[Method, ...], base: list[float]) -> list[str]:
    """One Markdown table: each method against the base, the last line being the plan's own radius."""
    lines = ["", f"**{title}**", "", "| method | sum of radii over the base | median gain | inputs gained |"]
    lines.append("|---|---|---|---|")
    lines += [f"| {method} | {summary([c.radii[method] for c in certificates], base)} |" for method in methods]
    lines.append(f"| the radius reported | {summary([c.radius for c in certificates], base)} |")
    return lines


def main() -> None:
    """Certify, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--sigma", type=float, required=True)
    parser.add_argument("--inputs", type=int, default=100, help="inputs tried")
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--paper-n", type=int, default=1000, help="draws of protocol paper; 0 leaves it out")
    parser.add_argument("--gradient", default="full", choices=("full", "approximate"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    model, _ = load_model(options.model)
    data = load_dataset(options.dataset, "test", options.data_dir)
    smoothed = SmoothedClassifier(model, options.sigma, data.info.num_classes, data.info.domain)
    chosen = torch.linspace(0, len(data) - 1, options.inputs).long().tolist()
    console = Console(soft_wrap=True, highlight=False)

    def certify(config: CertifyConfig) -> list[Certificate]:
        certifier = Certifier(smoothed, config)
        found = []
        for index in track(chosen, f"{config.protocol}", console=console, disable=not console.is_terminal):
            image = data.inputs(torch.tensor([index]))[0]
            found.append(certifier.certify(image, index=index, label=int(data.labels[index])))
        return found

    sound = [
        c
        for c in certify(CertifyConfig(n=options.n, methods=SOUND, gradient=options.gradient))
        if int(c.counts["select"].argmax()) == c.label
    ]
    binary, multiclass = [binary_radius(c) for c in sound], [c.radii["cohen"] for c in sound]
    lines = [f"{options.dataset}, sigma {options.sigma:g}: {len(sound)} of {len(chosen)} inputs correctly predicted."]
    lines += table(f"sound, n = {options.n:,}, alpha 0.001, over binary Cohen", sound, SOUND, binary)
    lines += table("the same, over multiclass Cohen", sound, SOUND, multiclass)
    if options.paper_n:
        paper_config = CertifyConfig(protocol="paper", n=options.paper_n, methods=PAPER, gradient=options.gradient)
        paper = [c for c in certify(paper_config) if c.correct]
        title = f"paper, N = {options.paper_n:,}, alpha 0.05 (no guarantee), over its own Cohen"
        lines += table(title, paper, PAPER, [c.radii["cohen"] for c in paper])
    console.print("\n".join(lines), markup=False)
    if options.json:
        rows = [
            {"index": c.index, "radii": dict(c.radii), "radius": c.radius, "method": c.method, "binary": b}
            for c, b in zip(sound, binary, strict=True)
        ]
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
