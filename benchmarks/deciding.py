"""How many draws a network's inputs take until one radius is decided, against the least that counting votes allows.

    python -m benchmarks.deciding --model DIR --dataset cifar10 --data-dir DATA --sigma 0.5 --radius 0.5 --every 50 \
        --out RUN [--program folded+compiled]

What is certified is an ordinary run, and p of each input is kept in RUN/shares.jsonl: a killed command goes on where it
was, and one with more `--inputs` adds to it. Search draws count; passes count a backward pass as two forward ones. The
yardstick L is the sum over inputs of min(cap, ln(1/level)/KL(p, p0)), level alpha where p > p0 and beta below. The p of
each input is from draws of its own: as many as put p eight standard errors from p0, and where 20 000 do not, those and
the votes of the run. Its error is that of these estimates, by sampling p from what the draws leave open. Where inputs
are spread evenly about p0, L is as often too large as too small; the mean of the samples is larger where some p is not
known well.
"""

import argparse
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.special import ndtr as Phi
from torch import Tensor

import doublebubble as db
from doublebubble.bounds.planning import least_draws
from doublebubble.data import load_dataset
from doublebubble.models import load_model
from doublebubble.runs.record import Record
from doublebubble.runs.spec import RunSpec
from doublebubble.streams import Stream
from doublebubble.tally import Request
from doublebubble.types import Floats

_STEPS = (256, 1024, 4096, 20_000)
_CLEAR = 8.0  # standard errors


@dataclass(frozen=True)
class Share:
    """Votes for the class that leads in the run: `hits` of `draws`."""

    hits: int
    draws: int

    @property
    def p(self) -> float:
        """The estimate of p_A, drawn towards 1/2 by one vote."""
        return (self.hits + 0.5) / (self.draws + 1)

    def clear_of(self, p0: float) -> bool:
        """Whether p0 is far from the estimate."""
        return abs(self.p - p0) >= _CLEAR * math.sqrt(self.p * (1 - self.p) / self.draws)


def share(smoothed: db.SmoothedClassifier, record: Record, x: Tensor, p0: float) -> Share:
    """p_A of an input of the run, from draws of a stream of its own."""
    ball = record.balls[0]
    top, made = ball.evidence["top"], Share(0, 0)
    assert isinstance(top, int)
    for step, size in enumerate(_STEPS):
        stream = Stream(0, record.index, "audit", f"share/{step}")
        counts = smoothed.tally(Request(x, size, stream)).counts
        made = Share(made.hits + int(counts[top]), made.draws + size)
        if made.clear_of(p0):
            return made
    return Share(made.hits + int(ball.counts[top]), made.draws + ball.n)


def shares(
    smoothed: db.SmoothedClassifier, run: db.Run, inputs: dict[int, Tensor], p0: float, kept: Path
) -> list[Share]:
    """p_A of every input of the run; those that `kept` holds are not made again."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    known = {line["index"]: Share(line["hits"], line["draws"]) for line in map(json.loads, lines)}
    for record in run.records:
        if record.index not in known:
            made = known[record.index] = share(smoothed, record, inputs[record.index], p0)
            with kept.open("a") as file:
                file.write(json.dumps({"index": record.index, **asdict(made)}) + "\n")
    return [known[record.index] for record in run.records]


def yardsticks(found: list[Share], t: float, config: db.CertifyConfig, samples: int = 200) -> Floats:
    """L for the estimates, then for p sampled from what the draws leave open."""
    generator = np.random.default_rng(0)
    ps = [[one.p for one in found]]
    ps += [[generator.beta(one.hits + 0.5, one.draws - one.hits + 0.5) for one in found] for _ in range(samples)]
    sums = [float(least_draws(row, t, config.alpha, config.beta, config.max_draws).sum()) for row in ps]
    return np.array(sums)


def main() -> None:
    """Certify, estimate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--dataset", default="cifar10")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--sigma", type=float, default=0.5)
    parser.add_argument("--radius", type=float, default=0.5)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--inputs", type=int, default=200)
    parser.add_argument("--max-draws", type=int, default=100_000)
    parser.add_argument("--program", default="auto")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    data, (model, _) = load_dataset(asked.dataset, "test", asked.data_dir), load_model(asked.model)
    indices = range(asked.first, len(data), asked.every)[: asked.inputs]
    settings = {"radii": (asked.radius,), "max_draws": asked.max_draws}
    run = db.certify(model, data, asked.sigma, indices=list(indices), program=asked.program, out=asked.out, **settings)
    certify = np.array([record.draws["certify"] for record in run.records])
    search = np.array([record.draws["search"] for record in run.records])
    passes = np.array([sum(record.forward_equivalents.values()) for record in run.records])
    changed = ["change" in record.balls[0].evidence for record in run.records]
    stops = [str(record.balls[0].evidence["stop"]) for record in run.records]
    total = int((certify + search).sum())
    print(f"{len(certify)} inputs: {total:,} draws, {int(search.sum()):,} of them search, {int(passes.sum()):,} passes")
    print(f"median {np.median(certify + search):.0f}, most {int((certify + search).max()):,}")
    print(f"with a control variate: {sum(changed)}; stopped: { {stop: stops.count(stop) for stop in set(stops)} }")
    print(
        f"{asked.max_draws:,} for each input are {asked.max_draws * len(certify) / total:,.0f} times as many",
        flush=True,
    )
    t, p0 = asked.radius / asked.sigma, float(Phi(asked.radius / asked.sigma))
    assert isinstance(run.spec, RunSpec)
    program = db.Program.named(run.spec.program)
    smoothed = db.SmoothedClassifier(model, asked.sigma, data.info.num_classes, program=program)
    inputs = {index: data.inputs(torch.tensor([index]))[0] for index in indices}
    found = shares(smoothed, run, inputs, p0, asked.out / "shares.jsonl")
    sums = yardsticks(found, t, db.CertifyConfig(**settings))
    low, high = np.quantile(sums[1:], [0.025, 0.975])
    print(f"L = {sums[0]:,.0f}, over samples of p {sums[1:].mean():,.0f} ({low:,.0f} to {high:,.0f})")
    print(f"draws over L: {total / sums[0]:.3f} ({total / high:.3f} to {total / low:.3f})")
    print(f"passes over L: {passes.sum() / sums[0]:.3f}")


if __name__ == "__main__":
    main()
