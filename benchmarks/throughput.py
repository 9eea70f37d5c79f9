"""How much of the bare forward rate reaches the votes? The same program, at the batch size that suits it best."""

import functools
from collections.abc import Callable, Mapping

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
    for arch, dataset, draws in (("resnet18", "cifar10", 1024), ("cnn", "mnist", 4096), ("cnn", "digits", 16_384)):
        model, x = subject(arch, dataset)
        program = fastest_program(model, x.expand(256, *x.shape).clone())
        rows.append(_row(f"{arch} on {dataset}'s shape", model, x, program, draws))
    return rows


def _row(name: str, model: nn.Module, x: Tensor, program: Program, draws: int) -> Row:
    """The best batch size of each is found first; then both run at their own, in many short turns."""
    prepared = program.prepare(model)
    noise = torch.randn((draws, *x.shape), generator=torch.Generator().manual_seed(0))
    images = program.layout(x + 0.5 * noise)
    bare = {size: functools.partial(_forward, prepared, images, size) for size in BATCHES}
    counts = {
        size: functools.partial(
            SmoothedClassifier(model, 0.5, 10, batch_size=size, program=program).counts, x, draws, seed=0, index=0
        )
        for size in BATCHES
    }
    size, own = _best(bare), _best(counts)
    seconds = best_seconds({"bare": bare[size], "counts": counts[own]}, rounds=25)
    ratio = seconds["bare"] / seconds["counts"]
    rates = f"{draws / seconds['counts']:,.0f} of {draws / seconds['bare']:,.0f} a second"
    measured = f"{ratio:.3f} ({rates}, {program.name}, batches of {own} and {size})"
    return Row(f"votes over bare forward passes, {name}", measured, "at least 0.90", ratio >= 0.90)


def _best(runs: Mapping[int, Callable[[], object]]) -> int:
    seconds = best_seconds({str(size): run for size, run in runs.items()}, rounds=4)
    return min(runs, key=lambda size: seconds[str(size)])


def _forward(model: nn.Module, images: Tensor, size: int) -> None:
    """The bare program over noisy images that lie ready in memory, each batch new to the caches, as draws are."""
    with torch.inference_mode():
        for first in range(0, len(images), size):
            model(images[first : first + size])
