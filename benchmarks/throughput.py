"""How much of the bare forward rate reaches the votes? The same program, at its best batch size."""

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
    for arch, dataset, draws in (("resnet18", "cifar10", 2048), ("cnn", "digits", 65_536)):
        model, x = subject(arch, dataset)
        program = fastest_program(model, x.expand(256, *x.shape).clone())
        rows.append(_row(arch, model, x, program, draws))
    return rows


def _row(arch: str, model: nn.Module, x: Tensor, program: Program, draws: int) -> Row:
    prepared = program.prepare(model)
    bare = {
        f"bare {size}": functools.partial(_forward, prepared, program.layout(x.expand(size, *x.shape).clone()), draws)
        for size in BATCHES
    }
    counted = {
        f"counts {size}": functools.partial(
            SmoothedClassifier(model, 0.5, 10, batch_size=size, program=program).counts, x, draws, seed=0, index=0
        )
        for size in BATCHES
    }
    seconds = best_seconds({**bare, **counted}, rounds=4)
    best_bare = min(seconds[name] for name in bare)
    best_counts = min(seconds[name] for name in counted)
    ratio = best_bare / best_counts
    measured = f"{ratio:.3f} ({draws / best_counts:,.0f} of {draws / best_bare:,.0f} a second, {program.name})"
    return Row(f"votes over bare forward passes, {arch}", measured, "at least 0.90", ratio >= 0.90)


def _forward(model: nn.Module, batch: Tensor, draws: int) -> None:
    with torch.inference_mode():
        for _ in range(draws // len(batch)):
            model(batch)
