"""What each method costs beside Cohen's radius, n = 10 000, and `auto` and `all` of them.

    python -m benchmarks.methods --model DIR --dataset cifar10 --data-dir DATA [--inputs 3] [--methods auto,all]

As a part of `make bench` it runs on the demo's network. Time depends on how large the network is. Beside each ratio of
times stands that of forward passes, a backward pass counting as two: where a network is large enough for its passes to
be all of the time, the first tends to the second.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from benchmarks.rows import Row
from benchmarks.subjects import demo_network, some_digits
from doublebubble import Certifier, CertifyConfig, SmoothedClassifier, registry
from doublebubble.data import load_dataset
from doublebubble.measuring import fastest_program
from doublebubble.models import load_model
from doublebubble.smoothing import Input

N, SIGMA = 10_000, 0.5
MOST = {"auto": 1.6, "all": 3.0}
COHEN = "cohen"


def run(quick: bool = False) -> list[Row]:
    """Times and forward passes over Cohen's on the demo's network, which is too small for targets of time."""
    names = (*registry.names("sound"), registry.AUTO, "all")
    inputs = some_digits(3 if quick else 12)
    return measured("demo's network", demo_network(SIGMA), inputs, 1000 if quick else N, names, 1 if quick else 3)


def measured(
    network: str, model: nn.Module, inputs: Sequence[Input], n: int, names: Sequence[str], rounds: int
) -> list[Row]:
    """Times and forward passes over Cohen's, which must be among the names; the best of each over the rounds counts."""
    program = fastest_program(model, inputs[0].x.expand(256, *inputs[0].x.shape).clone())
    smoothed = SmoothedClassifier(model, SIGMA, 10, program=program)
    certifiers = {name: Certifier(smoothed, CertifyConfig(n=n, methods=(name,))) for name in names}
    smoothed.counts(inputs[0].x, 1, seed=0, index=0)  # rows are tried out, and buffers made, before the clock starts
    passes, seconds = dict.fromkeys(names, 0), dict.fromkeys(names, float("inf"))
    for _ in range(rounds):
        for name, certifier in certifiers.items():
            start = time.process_time()
            made = certifier.certify_inputs(inputs)
            seconds[name] = min(seconds[name], time.process_time() - start)
            passes[name] = sum(sum(one.forward_equivalents.values()) for one in made)
    rows = []
    for name in names:
        parts = {"s per input": seconds[name] / len(inputs)}
        rows.append(
            Row(f"time over Cohen's, {name}, {network}", seconds[name] / seconds[COHEN], parts=parts, note=program.name)
        )
        rows.append(
            Row(
                f"forward passes over Cohen's, {name}, {network}",
                passes[name] / passes[COHEN],
                at_most=MOST.get(name) if n >= N else None,
            )
        )
    return rows


def main() -> None:
    """Measure on a network of one's own, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--dataset", default="cifar10")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--inputs", type=int, default=3)
    parser.add_argument("--methods", default="auto,all")
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    data, (model, _) = load_dataset(asked.dataset, "test", asked.data_dir), load_model(asked.model)
    indices = range(0, len(data), len(data) // asked.inputs)[: asked.inputs]
    inputs = [Input(index, data.inputs(torch.tensor([index]))[0], int(data.labels[index])) for index in indices]
    names = (COHEN, *asked.methods.split(","))
    for row in measured(asked.model, model, inputs, N, names, asked.rounds):
        print(f"{row.what}: {row.measured}", flush=True)


if __name__ == "__main__":
    main()
