"""What each method gains over votes alone on one data set and model.

    python -m benchmarks.gains --model DIR --dataset digits --sigma 0.5 --n 10000 --inputs 100 [--out RUN]
    python -m benchmarks.gains ... --correct 40 --methods cohen,first_order --fast
    python -m benchmarks.gains ... --every 100 --methods cohen --fast
    python -m benchmarks.gains ... --correct 40 --skip-wrong
    python -m benchmarks.gains ... --equal

Inputs are taken by a fixed stride through the test set, or every k-th of it in order, until `--inputs` of them were
tried or `--correct` of them were predicted correctly. What is certified is an ordinary run: a killed one goes on by the
same command, a larger number enlarges it, and `python -m benchmarks.gains_table` prints what it has got so far.
`--skip-wrong` leaves out inputs whose own select draws name another class than the label: averages are then over
correctly predicted inputs alone, and nearly half of the work on a CIFAR-10 network is saved.
`--equal` certifies the same inputs by Cohen's radius alone with as many forward passes as all methods and their search
had on average, in a run beside the first, and compares with that too. Under `paper` nothing is guaranteed.
"""

import argparse
import functools
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import torch
from torch import nn

import doublebubble as db
from benchmarks.gains_table import measured, spec_of, table
from doublebubble.data import Dataset, load_dataset
from doublebubble.facade.chosen_program import chosen_program
from doublebubble.models import load_model
from doublebubble.streams import Stream
from doublebubble.tally import Request
from doublebubble.types import Protocol

RESULTS = Path(__file__).parent / "results"


def by_stride(size: int) -> Iterator[int]:
    """All of 0 .. size - 1, each once, by a stride near the golden section: every beginning is spread evenly."""
    stride = max(1, round(size * (math.sqrt(5) - 1) / 2))
    while math.gcd(stride, size) > 1:
        stride += 1
    return (k * stride % size for k in range(size))


def certified(
    model: nn.Module, data: Dataset, order: list[int], correct: int | None, **settings: Any
) -> tuple[db.Run, list[int]]:
    """The run of the first inputs in this order, up to the one that makes so many correct, and which they are.

    The run grows by as many inputs as are still lacking, so it never goes beyond.
    """
    taken = order if correct is None else order[:correct]
    while True:
        run = db.certify(model, data, indices=sorted(taken), **settings)
        if run.interrupted:
            raise SystemExit(1)
        lacking = 0 if correct is None else correct - int(measured(run, taken)["right"].sum())
        if lacking <= 0 or len(taken) == len(order):
            return run, taken
        taken = order[: len(taken) + lacking]


def correct_ones(model: nn.Module, data: Dataset, order: list[int], correct: int, **settings: Any) -> list[int]:
    """The first inputs in this order whose select draws, those that a run of these settings makes, name the label."""
    config = db.CertifyConfig(n=settings["n"])
    smoothed = db.SmoothedClassifier(
        model,
        settings["sigma"],
        data.info.num_classes,
        domain=(0.0, 1.0),
        program=settings["program"],
        batch_size=settings["batch_size"],
    )
    found: list[int] = []
    for index in order:
        given = data.inputs(torch.tensor([index]))[0]
        votes = smoothed.tally(Request(given, config.n0, Stream(config.seed, index, "select"))).counts
        if int(votes.argmax()) == int(data.labels[index]):
            found.append(index)
        if len(found) == correct:
            break
    return found


def equal_draws(run: db.Run, taken: list[int]) -> int:
    """The n at which Cohen's radius alone costs an input as many forward passes as in this run on average."""
    return max(1, math.ceil(measured(run, taken)["forward"].mean()) - spec_of(run).config.n0)


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--sigma", type=float, required=True)
    parser.add_argument("--inputs", type=int, help="most inputs to try; without --correct 100")
    parser.add_argument("--every", type=int, help="take inputs 0, k, 2k and so on; all of them without --inputs")
    parser.add_argument("--correct", type=int, help="stop after so many correctly predicted inputs")
    parser.add_argument("--skip-wrong", action="store_true", help="with --correct: certify no other inputs")
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--protocol", default="sound", choices=get_args(Protocol))
    parser.add_argument("--methods", help="a list with commas; all if left out")
    parser.add_argument("--gradient", default="full", choices=("full", "approximate"))
    parser.add_argument("--fast", action="store_true", help="prepare the model and its batches for speed, by trial")
    parser.add_argument("--equal", action="store_true", help="compare with Cohen's radius at equal total draws too")
    parser.add_argument("--out", type=Path, help="folder of the run, continued if it is there")
    return parser.parse_args()


def main() -> None:
    """Certify what is missing, compare, print."""
    asked = options()
    model, _ = load_model(asked.model)
    data = load_dataset(asked.dataset, "test", asked.data_dir)
    name = f"gains-{asked.dataset}-{asked.sigma:g}-{asked.n}{'' if asked.protocol == 'sound' else '-paper'}"
    out = asked.out or RESULTS / name
    most = asked.inputs or (len(data) if asked.correct or asked.every else 100)
    order = list(islice(range(0, len(data), asked.every) if asked.every else by_stride(len(data)), most))
    some = functools.partial(data.inputs, torch.arange(min(4, len(data))))
    fast = chosen_program(model, some, asked.sigma, "auto", "auto", out) if asked.fast else (None, None)
    shared: dict[str, Any] = {
        "sigma": asked.sigma,
        "protocol": asked.protocol,
        "gradient": asked.gradient,
        "program": fast[0],
        "batch_size": fast[1],
    }
    methods = asked.methods or "all"
    if asked.skip_wrong:
        order = correct_ones(model, data, order, asked.correct or most, n=asked.n, **shared)
    run, taken = certified(model, data, order, asked.correct, out=out, n=asked.n, methods=methods, **shared)
    equal = None
    if asked.equal:
        n = equal_draws(run, taken)
        beside = out.with_name(f"{out.name}-equal-{n}")
        equal, _ = certified(model, data, taken, None, out=beside, n=n, methods="cohen", **shared)
    print(table(run, taken, equal))


if __name__ == "__main__":
    main()
