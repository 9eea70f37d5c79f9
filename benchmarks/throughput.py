"""How much of the bare forward rate reaches the votes? The same program, at the batch size that suits it best."""

import functools

import torch
from torch import Tensor, nn

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble import Program, SmoothedClassifier
from doublebubble.program import fastest_program

BATCHES = (64, 128, 256, 512, 1024)


def run() -> list[Row]:
    """Draws per second through `counts` over images per second through the bare program."""
    rows = []
    for arch, dataset, draws in (("resnet18", "cifar10", 1024), ("cnn", "digits", 16_384)):
        model, x = subject(arch, dataset)
        program = fastest_program(model, x.expand(256, *x.shape).clone())
        rows.append(_row(arch, model, x, program, draws))
    return rows


def _row(arch: str, model: nn.Module, x: Tensor, program: Program, draws: int) -> Row:
    """The best batch size of the bare program is found first; then both run at it, in many short turns."""
    prepared = program.prepare(model)
    bare = {
        size: functools.partial(_forward, prepared, program.layout(x.expand(size, *x.shape).clone()), draws)
        for size in BATCHES
    }
    scanned = best_seconds({str(size): forward for size, forward in bare.items()}, rounds=3)
    size = min(BATCHES, key=lambda size: scanned[str(size)])
    smoothed = SmoothedClassifier(model, 0.5, 10, batch_size=size, program=program)
    counts = functools.partial(smoothed.counts, x, draws, seed=0, index=0)
    seconds = best_seconds({"bare": bare[size], "counts": counts}, rounds=25)
    ratio = seconds["bare"] / seconds["counts"]
    rates = f"{draws / seconds['counts']:,.0f} of {draws / seconds['bare']:,.0f} a second"
    measured = f"{ratio:.3f} ({rates}, {program.name}, batches of {size})"
    return Row(f"votes over bare forward passes, {arch}", measured, "at least 0.90", ratio >= 0.90)


def _forward(model: nn.Module, batch: Tensor, draws: int) -> None:
    with torch.inference_mode():
        for _ in range(draws // len(batch)):
            model(batch)
