"""What certificates would gain if every probability were known exactly: the most that more draws can bring.

    python -m benchmarks.gains_ceiling RUN --model DIR [--data-dir DIR] [--draws 20000]

Takes the correctly predicted inputs of a run of `benchmarks.gains`, estimates the probabilities and the gradients of
the lead from fresh draws, and puts the estimates where a certificate puts its bounds. The squared norm of a gradient is
the product of two independent halves, so it is not inflated by the dimension. A profile gets the best prices for every
displacement, along a line that a tenth as many further draws show; faces of the box are not used. The last line says
which part of the sum of radii at exact probabilities the run has certified. Nothing here is a certificate.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from rich.progress import track

import doublebubble as db
from benchmarks.gains_table import measured, spec_of, title
from benchmarks.profile_ceiling import exact_radius
from doublebubble.data import load_dataset
from doublebubble.facade.job import check_origin
from doublebubble.geometry import Rival, cohen_radius, first_order_radius
from doublebubble.geometry.profile import checked_guess
from doublebubble.lines import Line
from doublebubble.methods.profile.statistic import by_vote
from doublebubble.models import load_model
from doublebubble.search.gradients import Estimator, slopes
from doublebubble.search.profile_fit import fitted_profile
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import Floats

LEAST_SHARE = 0.01
"""A rival whose share of the draws is smaller is given no gradient; it never decides a radius here."""


EDGES = tuple(np.round([*np.linspace(-3.2, -1.2, 6), *np.linspace(-0.8, 4.4, 27)], 3).tolist())  # to beyond any radius
"""More bins than a certificate has: with exact probabilities they cost nothing."""


def plugged_in(tally: Tally, top: int, rivals: list[int], sigma: float) -> tuple[float, float, float]:
    """The binary, the multiclass and the first-order radius with estimates for bounds."""
    shares = _shares(tally)
    p_a = float(shares[top])
    others = [k for k in range(len(shares)) if k != top]
    binary = max(0.0, cohen_radius(p_a, None, sigma))
    multiclass = max(0.0, cohen_radius(p_a, float(max(shares[k] for k in others)), sigma))
    assert tally.sums is not None
    first, second = (tally.sums[half] / tally.halves[half] for half in (0, 1))
    gammas = {k: math.sqrt(max(0.0, float(first[j] @ second[j]))) for j, k in enumerate(rivals)}
    known = [Rival(float(shares[k]), gammas.get(k, math.inf)) for k in others]
    return binary, multiclass, max(multiclass, first_order_radius(p_a, known, sigma))


def profiled(tally: Tally, top: int, rivals: list[int], lines: Sequence[Line], sigma: float) -> float:
    """The radius of Theorem R with estimates for bounds: profiles along these lines, one for each rival.

    Prices come from a smooth fit, and means from the table itself: the best prices for a noisy table would find gains
    in its noise. Rivals without a line are held off by their share of the votes.
    """
    shares = _shares(tally)
    p_a, plain = float(shares[top]), [k for k in range(len(shares)) if k != top and k not in rivals]
    radii = [cohen_radius(p_a, float(shares[k]), sigma) for k in plain]
    nearest = sorted(zip(rivals, lines, range(len(rivals)), strict=True), key=lambda each: -shares[each[0]])
    for rival, line, row in nearest:
        r0 = max(0.0, cohen_radius(p_a, float(shares[rival]), 1.0))
        if radii and sigma * r0 >= min(radii):
            continue  # this rival is farther than another one ends, whatever its profile
        table = by_vote(tally.table(line), top, rival)
        one, two = (line.off(half) for half in tally.half_means(tally.moments[row]))
        gamma = math.sqrt(max(0.0, float(one @ two)))
        f_a, f_b = fitted_profile(table, line.edges, p_a, float(shares[rival]))
        seen = np.maximum(table.sum(axis=1), 1)
        known = checked_guess(line.edges, table[:, 0] / seen, table[:, 1] / seen, gamma)
        radii.append(sigma * exact_radius(checked_guess(line.edges, f_a, f_b, gamma), r0, known).radius)
    return max(0.0, min(radii))


def lines_for(
    smoothed: db.SmoothedClassifier, x: torch.Tensor, top: int, rivals: list[int], draws: int, stream: Stream
) -> list[Line]:
    """For each rival the line along which the lead falls fastest, by autograd."""
    weights: Floats = np.eye(smoothed.num_classes)[[top] * len(rivals)] - np.eye(smoothed.num_classes)[rivals]
    found = slopes(smoothed, Estimator.SOFT, x, draws, stream, weights - weights[:, [top]])
    return [Line.along(-gradient, EDGES) for gradient in found.gradients.numpy().reshape(len(rivals), -1)]


def _shares(tally: Tally) -> Floats:
    shares: Floats = (tally.counts + 1) / (tally.n + len(tally.counts))
    return shares


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
    smoothed = db.SmoothedClassifier(model, spec.sigma, spec.num_classes, spec.domain, spec.batch_size, program=program)
    every = measured(run)
    correct = every[every["right"]]
    selected = {record.index: record.counts["select"] for record in run.records}
    found = []
    for index, label in track(list(zip(correct["index"], correct["label"].astype(int), strict=True)), "drawing"):
        votes = selected[index]
        rivals = [k for k in sorted(votes) if k != label and votes[k] >= LEAST_SHARE * spec.config.n0]
        weights = np.eye(spec.num_classes)
        rivals = rivals or [(label + 1) % len(weights)]
        moments = tuple(tuple(weights[label] - weights[k]) for k in rivals)
        stream = Stream(spec.config.seed, int(index), "audit")
        x = data.inputs(torch.tensor([index]))[0]
        lines = lines_for(smoothed, x, label, rivals, max(1, asked.draws // 10), stream.child("lines"))
        request = Request(x, asked.draws, stream, moments, split=asked.draws // 2, lines=tuple(dict.fromkeys(lines)))
        tally = smoothed.tally(request)
        binary, multiclass, first_order = plugged_in(tally, label, rivals, spec.sigma)
        profile = max(multiclass, profiled(tally, label, rivals, lines, spec.sigma))
        found.append((binary, multiclass, first_order, profile))
    exact = np.array(found).reshape(-1, 4)
    reached = correct[["binary", "radius_cohen", "radius"]].to_numpy(np.float64)
    print(f"{title(spec)}, {len(correct)} inputs; {asked.draws:,} draws for the estimates")
    rows = {"certified": reached, "exact, first order": exact[:, :3], "exact, profile": exact[:, [0, 1, 3]]}
    for name, radii in rows.items():
        print(f"{name:18s} {compared(*radii.T)}")
    print(f"{'certified of that':18s} {reached[:, 2].sum() / exact[:, 3].sum():.3f}")


def compared(binary: Floats, multiclass: Floats, best: Floats) -> str:
    """The ratios of sums, and the median gain where votes alone certify anything."""
    some = multiclass > 0
    gain = 100 * float(np.median(best[some] / multiclass[some] - 1))
    return (
        f"over binary {best.sum() / binary.sum():.3f}, over multiclass {best.sum() / multiclass.sum():.3f}, "
        f"median gain over multiclass {gain:+.1f} %"
    )


if __name__ == "__main__":
    main()
