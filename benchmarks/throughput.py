"""How much of the bare forward rate reaches the votes? The same program, at the batch size that suits it best."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble import Program, SmoothedClassifier
from doublebubble.measuring import fastest_program

SUBJECTS: tuple[tuple[str, str, int, tuple[int, ...], int, float], ...] = (
    ("resnet18", "cifar10", 512, (64, 256), 4, 0.95),
    ("cnn", "mnist", 2048, (64, 128, 256, 512, 1024), 20, 0.92),
    ("cnn", "digits", 8192, (64, 128, 256, 512, 1024), 20, 0.92),
)
"""Architecture, data set, draws, batch sizes, rounds, and the part that should reach the votes."""


def run(quick: bool = False) -> list[Row]:
    """Draws per second through `counts` over images per second through the bare program."""
    rows = []
    for arch, dataset, draws, sizes, rounds, target in SUBJECTS:
        model, x = subject(arch, dataset)
        program = fastest_program(model, x.expand(64, *x.shape).clone())
        name = f"{arch} on {dataset}'s shape"
        if quick:
            draws, sizes, rounds = draws // 2, sizes[:1], 1
        rows.append(_row(name, model, x, program, draws, sizes, rounds, target))
    return rows


def _row(
    name: str,
    model: nn.Module,
    x: Tensor,
    program: Program,
    draws: int,
    sizes: tuple[int, ...],
    rounds: int,
    target: float,
) -> Row:
    """Both sides at every batch size, all in turns, in memory taken anew each round; the best of each side counts.

    Where a small network's weights and buffers happen to lie changes its time by a tenth and more, for either side, and
    a short measurement is the likelier to escape what else the machine does.
    """
    noise = torch.randn((draws, *x.shape), generator=torch.Generator().manual_seed(0))
    seconds: dict[str, float] = {}
    for _ in range(rounds):
        prepared = program.prepare(model)
        images = program.layout(x + 0.5 * noise)
        rivals: dict[str, Callable[[], object]] = {}
        for size in sizes:
            smoothed = SmoothedClassifier(model, 0.5, 10, batch_size=size, program=program)
            smoothed.counts(x, 1, seed=0, index=0)  # rows are tried out, and buffers made, before the clock starts
            rivals[f"bare {size}"] = functools.partial(bare_forward, prepared, images, size)
            rivals[f"votes {size}"] = functools.partial(smoothed.counts, x, draws, seed=0, index=0)
        for rival, best in best_seconds(rivals, rounds=1, warm_up=rounds > 4).items():
            seconds[rival] = min(best, seconds.get(rival, best))
    bare, own = (min(sizes, key=lambda size: seconds[f"{side} {size}"]) for side in ("bare", "votes"))
    best_bare, best_votes = seconds[f"bare {bare}"], seconds[f"votes {own}"]
    return Row(
        f"votes over bare forward passes, {name}",
        best_bare / best_votes,
        at_least=target,
        parts={
            "votes per second": draws / best_votes,
            "images per second": draws / best_bare,
            "rows in a batch of votes": own,
            "rows in a bare batch": bare,
        },
        note=program.name,
    )


def bare_forward(model: nn.Module, images: Tensor, size: int) -> None:
    """The bare program over noisy images that lie ready in memory, each batch new to the caches, as draws are."""
    with torch.inference_mode():
        for first in range(0, len(images), size):
            model(images[first : first + size])
