"""What certificates would gain if every probability were known exactly: the most that more draws can bring.

    python -m benchmarks.gains_ceiling RUN --model DIR [--data-dir DIR] [--draws 20000]

Takes the correctly predicted inputs of a run of `benchmarks.gains`, estimates the probabilities and the gradients of
the lead from fresh draws, and puts the estimates where a certificate puts its bounds. The squared norm of a gradient is
the product of two independent halves, so it is not inflated by the dimension. Nothing here is a certificate.
"""

import argparse
import math
from pathlib import Path

import numpy as np
import torch
from rich.progress import track

import doublebubble as db
from benchmarks.gains_table import measured, spec_of, title
from doublebubble.data import load_dataset
from doublebubble.facade.job import check_origin
from doublebubble.geometry import Rival, cohen_radius, first_order_radius
from doublebubble.models import load_model
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
    parser.add_argument("run", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=20_000)
    asked = parser.parse_args()
    run = db.open_run(asked.run)
    spec = spec_of(run)
    model, _ = load_model(asked.model)
    data = load_dataset(spec.dataset, "test", asked.data_dir)
    check_origin(spec, model, data)
    program = db.Program.named(spec.program)
    smoothed = db.SmoothedClassifier(model, spec.sigma, spec.num_classes, spec.domain, program=program)
    every = measured(run)
    correct = every[every["right"]]
    selected = {record.index: record.counts["select"] for record in run.records}
    found = []
    for index, label in track(list(zip(correct["index"], correct["label"].astype(int), strict=True)), "drawing"):
        votes = selected[index]
        rivals = [k for k in sorted(votes) if k != label and votes[k] >= LEAST_SHARE * spec.config.n0]
        weights = np.eye(spec.num_classes)
        moments = tuple(tuple(weights[label] - weights[k]) for k in rivals or [(label + 1) % len(weights)])
        stream = Stream(spec.config.seed, int(index), "audit")
        x = data.inputs(torch.tensor([index]))[0]
        tally = smoothed.tally(Request(x, asked.draws, stream, moments, split=asked.draws // 2))
        found.append(plugged_in(tally, label, rivals, spec.sigma))
    reached = correct[["binary", "radius_cohen", "radius"]].to_numpy(np.float64)
    print(f"{title(spec)}, {len(correct)} inputs; {asked.draws:,} draws for the estimates")
    for name, radii in (("certified", reached), ("exact", np.array(found))):
        binary, multiclass, best = radii.T
        some = multiclass > 0
        gain = 100 * float(np.median(best[some] / multiclass[some] - 1))
        print(
            f"{name:9s} over binary {best.sum() / binary.sum():.3f}, over multiclass "
            f"{best.sum() / multiclass.sum():.3f}, median gain over multiclass {gain:+.1f} %"
        )


if __name__ == "__main__":
    main()
