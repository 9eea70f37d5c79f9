"""What each method gains over votes alone on one data set and model.

    python -m benchmarks.gains --model DIR --dataset digits --sigma 0.5 --n 10000 --inputs 100 [--out FILE]
    python -m benchmarks.gains ... --correct 40 --methods cohen,first_order --fast
    python -m benchmarks.gains ... --every 100 --methods cohen --fast

Inputs are taken by a fixed stride through the test set, or every k-th of it in order, until `--inputs` of them were
tried or `--correct` of them were predicted correctly. Under `sound` the class is that of the select draws, so an input
with another label than theirs cannot be certified correctly: it is not certified at all and counts as 0 in the averages
over all inputs. Ratios and gains are over correctly predicted inputs. A killed run goes on by the same command;
`python -m benchmarks.gains_table` prints what it has got so far. Under `paper` nothing is guaranteed.
"""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import torch
from rich.console import Console
from torch import Tensor, nn

from benchmarks.gains_log import Line, Log, Settings, begun, read
from benchmarks.gains_table import table
from doublebubble import Certificate, Certifier, CertifyConfig, Program, SmoothedClassifier
from doublebubble.bounds import clopper_pearson
from doublebubble.data import load_dataset
from doublebubble.geometry import cohen_radius
from doublebubble.models import load_model
from doublebubble.program import fastest_program
from doublebubble.runs.digests import model_digest, software_versions
from doublebubble.types import Method, Protocol

RESULTS = Path(__file__).parent / "results"
METHODS: dict[Protocol, tuple[Method, ...]] = {
    "sound": ("cohen", "single", "boundary", "double", "first_order", "dipole"),
    "paper": ("cohen", "single", "boundary", "double"),
}


def by_stride(size: int) -> Iterator[int]:
    """All of 0 .. size - 1, each once, by a stride near the golden section: every beginning is spread evenly."""
    stride = max(1, round(size * (math.sqrt(5) - 1) / 2))
    while math.gcd(stride, size) > 1:
        stride += 1
    return (k * stride % size for k in range(size))


def measured(certifier: Certifier, x: Tensor, index: int, label: int) -> Line:
    """One input: its prediction by the select draws and, if that is right or the protocol is `paper`, all radii."""
    software, config = software_versions()["doublebubble"], certifier.config
    if config.protocol == "sound":
        top = int(certifier.smoothed.counts(x, config.n0, seed=config.seed, index=index, stage="select").argmax())
        if top != label:
            return Line(index, label, top, False, software)
    found = certifier.certify(x, index=index, label=label)
    binary, p_a, lower = _binary(found, label) if config.protocol == "sound" else (0.0, 0.0, 0.0)
    return Line(
        index=index,
        label=label,
        predicted=label if config.protocol == "sound" else found.prediction,
        correct=config.protocol == "sound" or found.correct is True,
        software=software,
        radii={method: float(radius) for method, radius in found.radii.items()},
        radius=found.radius,
        method=found.method,
        reason=found.reason,
        binary=binary,
        p_a=p_a,
        p_a_lower=lower,
        draws=dict(found.draws),
        seconds={stage: round(seconds, 3) for stage, seconds in found.seconds.items()},
    )


def _binary(certificate: Certificate, top: int) -> tuple[float, float, float]:
    """Binary Cohen at the same draws and alpha, what most tools certify; p_A's estimate and its lower bound."""
    counts = certificate.counts["input"]
    n = int(counts.sum())
    lower = clopper_pearson(int(counts[top]), n, certificate.alpha, "lower")
    radius = max(0.0, cohen_radius(lower, None, certificate.sigma)) if lower > 0 else 0.0
    return radius, float(counts[top]) / n, lower


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
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--protocol", default="sound", choices=get_args(Protocol))
    parser.add_argument("--methods", help="a list with commas, cohen among them; all if left out")
    parser.add_argument("--gradient", default="full", choices=("full", "approximate"))
    parser.add_argument("--fast", action="store_true", help="prepare the model for speed, by trial")
    parser.add_argument("--out", type=Path, help="JSON lines, continued if they are there")
    return parser.parse_args()


def main() -> None:
    """Certify what is missing, compare, print."""
    asked = options()
    model, _ = load_model(asked.model)
    data = load_dataset(asked.dataset, "test", asked.data_dir)
    methods = tuple(asked.methods.split(",")) if asked.methods else METHODS[asked.protocol]
    if "cohen" not in methods:
        raise SystemExit("--methods: expected cohen among them, the others are compared with it")
    config = CertifyConfig(n=asked.n, protocol=asked.protocol, methods=methods, gradient=asked.gradient)
    name = f"gains-{asked.dataset}-{asked.sigma:g}-{asked.n}{'' if asked.protocol == 'sound' else '-paper'}.jsonl"
    out = asked.out or RESULTS / name
    program = _program(model, data.inputs(torch.tensor([0])), out) if asked.fast else Program()
    smoothed = SmoothedClassifier(model, asked.sigma, data.info.num_classes, data.info.domain, program=program)
    settings = Settings(
        dataset=asked.dataset,
        model=model_digest(model)[:16],
        sigma=asked.sigma,
        n=config.n,
        n0=config.n0,
        alpha=config.alpha,
        seed=config.seed,
        protocol=config.protocol,
        methods=config.methods,
        gradient=config.gradient,
        program=program.name,
        fold_batch_norm=program.fold_batch_norm,
        channels_last=program.channels_last,
    )
    most = asked.inputs or (len(data) if asked.correct or asked.every else 100)
    order = range(0, len(data), asked.every) if asked.every else by_stride(len(data))
    certifier = Certifier(smoothed, config)
    console = Console(soft_wrap=True, highlight=False)
    taken: list[Line] = []
    with Log(out, settings) as log, console.status("") as status:
        known = {line.index: line for line in log.lines}
        for index in order:
            right = sum(line.correct for line in taken)
            if len(taken) == most or right == asked.correct:
                break
            status.update(f"{len(taken)} inputs, {right} correctly predicted")
            if index not in known:
                x = data.inputs(torch.tensor([index]))[0]
                log.append(measured(certifier, x, index, int(data.labels[index])))
                known[index] = log.lines[-1]
            taken.append(known[index])
    console.print(table(settings, taken), markup=False)


def _program(model: nn.Module, x: Tensor, out: Path) -> Program:
    """The fastest program here, or the one that the file was begun with."""
    if begun(out):
        first, _ = read(out)
        return Program(first.fold_batch_norm, first.channels_last)
    return fastest_program(model, x.expand(256, *x.shape[1:]).clone())


if __name__ == "__main__":
    main()
