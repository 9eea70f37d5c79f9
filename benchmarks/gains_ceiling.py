"""What certificates would gain if every probability were known exactly: the most that more draws can bring.

    python -m benchmarks.gains_ceiling FILE --model DIR [--data-dir DIR] [--draws 20000]

Takes the correctly predicted inputs of a file of `benchmarks.gains`, estimates the probabilities and the gradients of
the lead from fresh draws, and puts the estimates where a certificate puts its bounds. The squared norm of a gradient is
the product of two independent halves, so it is not inflated by the dimension. Nothing here is a certificate.
"""

import argparse
import math
from pathlib import Path

import numpy as np
import torch
from rich.progress import track

from benchmarks.gains_log import read
from doublebubble import Program, SmoothedClassifier
from doublebubble.data import load_dataset
from doublebubble.geometry import Rival, cohen_radius, first_order_radius
from doublebubble.models import load_model
from doublebubble.runs.digests import model_digest
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally

LEAST_SHARE = 0.01
"""A rival whose share of the draws is smaller is given no gradient; it never decides a radius here."""


def plugged_in(tally: Tally, top: int, rivals: list[int], sigma: float) -> tuple[float, float, float]:
    """The binary, the multiclass and the first-order radius with estimates for bounds."""
    shares = (tally.counts + 1) / (tally.n + len(tally.counts))
    p_a = float(shares[top])
    others = [k for k in range(len(shares)) if k != top]
    binary = max(0.0, cohen_radius(p_a, None, sigma))
    multiclass = max(0.0, cohen_radius(p_a, float(max(shares[k] for k in others)), sigma))
    assert tally.sums is not None
    first, second = (tally.sums[half] / tally.halves[half] for half in (0, 1))
    gammas = {k: math.sqrt(max(0.0, float(first[j] @ second[j]))) for j, k in enumerate(rivals)}
    known = [Rival(float(shares[k]), gammas.get(k, math.inf)) for k in others]
    return binary, multiclass, max(multiclass, first_order_radius(p_a, known, sigma))


def main() -> None:
    """Draw, put in, print the ratios beside those that were certified."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=20_000)
    asked = parser.parse_args()
    settings, lines = read(asked.file)
    model, _ = load_model(asked.model)
    if model_digest(model)[:16] != settings.model:
        raise SystemExit(f"{asked.model}: expected the model of {asked.file}, whose digest begins {settings.model}")
    data = load_dataset(settings.dataset, "test", asked.data_dir)
    program = Program(settings.fold_batch_norm, settings.channels_last)
    smoothed = SmoothedClassifier(model, settings.sigma, data.info.num_classes, data.info.domain, program=program)
    correct = [line for line in lines if line.correct]
    found = []
    for line in track(correct, "drawing"):
        x = data.inputs(torch.tensor([line.index]))[0]
        look = smoothed.counts(x, settings.n0, seed=settings.seed, index=line.index, stage="select")
        rivals = [k for k, votes in enumerate(look) if k != line.label and votes >= LEAST_SHARE * settings.n0]
        weights = np.eye(data.info.num_classes)
        moments = tuple(tuple(weights[line.label] - weights[k]) for k in rivals or [(line.label + 1) % len(weights)])
        stream = Stream(settings.seed, line.index, "audit")
        tally = smoothed.tally(Request(x, asked.draws, stream, moments, split=asked.draws // 2))
        found.append(plugged_in(tally, line.label, rivals, settings.sigma))
    reached = [(line.binary, (line.radii or {})["cohen"], line.radius) for line in correct]
    print(f"{settings.title}, {len(correct)} inputs; {asked.draws:,} draws for the estimates")
    for name, radii in (("certified", np.array(reached)), ("exact", np.array(found))):
        binary, multiclass, best = radii.T
        some = multiclass > 0
        gain = 100 * float(np.median(best[some] / multiclass[some] - 1))
        print(
            f"{name:9s} over binary {best.sum() / binary.sum():.3f}, over multiclass "
            f"{best.sum() / multiclass.sum():.3f}, median gain over multiclass {gain:+.1f} %"
        )


if __name__ == "__main__":
    main()
