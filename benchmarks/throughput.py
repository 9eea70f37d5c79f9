"""How much of the bare forward rate reaches the votes? The same program, at the batch size that suits it best."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble import Program, SmoothedClassifier
from doublebubble.measuring import fastest_program

BATCHES = (64, 128, 256, 512, 1024)
ROUNDS = 30


def run() -> list[Row]:
    """Draws per second through `counts` over images per second through the bare program."""
    rows = []
    for arch, dataset, draws in (("resnet18", "cifar10", 1024), ("cnn", "mnist", 2048), ("cnn", "digits", 16_384)):
        model, x = subject(arch, dataset)
        program = fastest_program(model, x.expand(256, *x.shape).clone())
        rows.append(_row(f"{arch} on {dataset}'s shape", model, x, program, draws))
    return rows


def _row(name: str, model: nn.Module, x: Tensor, program: Program, draws: int) -> Row:
    """Both sides at every batch size, all in turns, in memory taken anew each round; the best of each side counts.

    Where a small network's weights and buffers happen to lie changes its time by a tenth and more, for either side, and
    a short measurement is the likelier to escape what else the machine does.
    """
    noise = torch.randn((draws, *x.shape), generator=torch.Generator().manual_seed(0))
    seconds: dict[str, float] = {}
    for _ in range(ROUNDS):
        prepared = program.prepare(model)
        images = program.layout(x + 0.5 * noise)
        rivals: dict[str, Callable[[], object]] = {}
        for size in BATCHES:
            smoothed = SmoothedClassifier(model, 0.5, 10, batch_size=size, program=program)
            rivals[f"bare {size}"] = functools.partial(_forward, prepared, images, size)
            rivals[f"votes {size}"] = functools.partial(smoothed.counts, x, draws, seed=0, index=0)
        for rival, best in best_seconds(rivals, rounds=1).items():
            seconds[rival] = min(best, seconds.get(rival, best))
    bare, own = (min(BATCHES, key=lambda size: seconds[f"{side} {size}"]) for side in ("bare", "votes"))
    best_bare, best_votes = seconds[f"bare {bare}"], seconds[f"votes {own}"]
    ratio = best_bare / best_votes
    rates = f"{draws / best_votes:,.0f} of {draws / best_bare:,.0f} per second"
    measured = f"{ratio:.3f} ({rates}, {program.name}, batches of {own} and {bare})"
    return Row(f"votes over bare forward passes, {name}", measured, "at least 0.90", ratio >= 0.90)


def _forward(model: nn.Module, images: Tensor, size: int) -> None:
    """The bare program over noisy images that lie ready in memory, each batch new to the caches, as draws are."""
    with torch.inference_mode():
        for first in range(0, len(images), size):
            model(images[first : first + size])
