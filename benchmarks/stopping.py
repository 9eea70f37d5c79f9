"""Time until four radii are decided, over that of a fixed number of draws, ours and a peer's.

    python -m benchmarks.stopping --model DIR --dataset mnist --data-dir DATA [--inputs 500] [--n 10000] [--sigma 0.5]
        [--radii 0.25,0.5,0.75,1] [--peer-batches 32,128,512] [--compared 5] [--json FILE]

`--model` is what `doublebubble train --arch lenet` wrote: the draws for each input depend on the weights. All run
in one process, one after the other in turns of a tenth of the inputs, so that a busy moment hits each of them; one
thread and its CPU time, which is the wall time of a machine that does nothing else. The peer,
adversarial-robustness-toolbox, is timed at each batch size on the inputs of one turn, and its best one and its default,
32, are compared. A fixed number of draws takes every input the same time: with `--compared` it and the peer are timed
on so many inputs of each turn, and their time for all is in proportion.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.data import load_dataset
from doublebubble.measuring import fastest_program
from doublebubble.models import load_model

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from art.estimators.certification.randomized_smoothing import PyTorchRandomizedSmoothing

_TURNS = 10


def seconds_of(work: Callable[[], object]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def ours(smoothed: db.SmoothedClassifier, config: db.CertifyConfig) -> Callable[[list[Tensor], list[int]], int]:
    """Certifies some inputs and says how many draws they took."""
    certifier = db.Certifier(smoothed, config)

    def certify(xs: list[Tensor], indices: list[int]) -> int:
        return sum(sum(made.draws.values()) for made in certifier.certify_many(xs, indices))

    return certify


def measured(asked: argparse.Namespace) -> dict[str, float]:
    """Seconds of each rival over all inputs, mean draws, and the ratios."""
    data = load_dataset(asked.dataset, "test", asked.data_dir)
    model, _ = load_model(asked.model)
    every = max(1, len(data) // asked.inputs)
    indices = list(range(0, len(data), every))[: asked.inputs]
    xs = list(data.inputs(torch.tensor(indices)))
    program = fastest_program(model, torch.stack([xs[0]] * 256))
    smoothed = db.SmoothedClassifier(model, asked.sigma, data.info.num_classes, program=program)
    radii = tuple(float(radius) for radius in asked.radii.split(","))
    until = ours(smoothed, db.CertifyConfig(radii=radii))
    fixed = ours(smoothed, db.CertifyConfig(n=asked.n, n0=100, methods=("cohen",)))
    peer = PyTorchRandomizedSmoothing(
        model,
        nn.CrossEntropyLoss(),
        tuple(xs[0].shape),
        data.info.num_classes,
        device_type="cpu",
        sample_size=100,
        scale=asked.sigma,
        alpha=0.001,
    )
    tenth = -(-len(xs) // _TURNS)
    timed = min(asked.compared or tenth, tenth)
    some = torch.stack(xs[:timed]).numpy()
    sizes = [int(size) for size in asked.peer_batches.split(",")]
    by_batch = {size: seconds_of(partial(peer.certify, some, asked.n, size)) for size in sizes}
    best = min(by_batch, key=by_batch.__getitem__)
    until(xs[:2], indices[:2])  # what is done once: tables of decisions, buffers
    seconds = {"until decided": 0.0, "fixed": 0.0, "peer": 0.0}
    draws = compared = 0
    for first in range(0, len(xs), tenth):
        part, names = xs[first : first + tenth], indices[first : first + tenth]
        start = time.process_time()
        draws += until(part, names)
        seconds["until decided"] += time.process_time() - start
        part, names = part[:timed], names[:timed]
        compared += len(part)
        seconds["fixed"] += seconds_of(partial(fixed, part, names))
        seconds["peer"] += seconds_of(partial(peer.certify, torch.stack(part).numpy(), asked.n, best))
    for rival in ("fixed", "peer"):
        seconds[rival] *= len(xs) / compared
    return {
        **seconds,
        "inputs": len(xs),
        "inputs that the others were timed on": compared,
        "mean draws": draws / len(xs),
        "peer's best batch": best,
        "until decided over fixed": seconds["until decided"] / seconds["fixed"],
        "until decided over peer, best batch": seconds["until decided"] / seconds["peer"],
        "until decided over peer, default batch": seconds["until decided"]
        / (seconds["peer"] * by_batch.get(32, by_batch[best]) / by_batch[best]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--sigma", type=float, default=0.5)
    parser.add_argument("--radii", default="0.25,0.5,0.75,1")
    parser.add_argument("--peer-batches", default="32,128,512")
    parser.add_argument("--compared", type=int)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    found = measured(asked)
    for name, value in found.items():
        print(f"{name}: {value:,.4g}")
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
