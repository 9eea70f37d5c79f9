"""How long the dual bound takes, as a part of the model's time at n = 10 000 draws for the same inputs."""

import functools

import numpy as np
import torch

from benchmarks.rows import Row, best_seconds
from doublebubble.geometry import certified_radii
from doublebubble.models import build
from doublebubble.types import Floats

DRAWS = 10_000
MEAN, STD = (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)


def run(quick: bool = False) -> list[Row]:
    """One input of ImageNet's size with three balls, and a thousand of CIFAR's with two, beside ResNet-18."""
    rows = []
    for name, inputs, side, balls, images in (
        ("one input of 3 x 224 x 224, 3 balls", 1, 224, 3, 8),
        ("a thousand inputs of 3 x 32 x 32, 2 balls", 1000, 32, 2, 256),
    ):
        problem = _problem(inputs, 3 * side * side, balls)
        model = build("resnet18", (3, side, side), 10, MEAN, STD).eval()
        batch = torch.rand(images, 3, side, side, generator=torch.Generator().manual_seed(0))
        seconds = best_seconds(
            {"bound": functools.partial(certified_radii, *problem), "model": functools.partial(_forward, model, batch)},
            rounds=1 if quick else 3,
        )
        whole = seconds["model"] / images * DRAWS * inputs
        parts = {"ms": 1000 * seconds["bound"], "s of ResNet-18 at n = 10 000": whole}
        rows.append(Row(f"the dual bound over the model's time, {name}", seconds["bound"] / whole, parts=parts))
    return rows


def _problem(inputs: int, d: int, balls: int) -> tuple[Floats, Floats, Floats]:
    """Pixels with many at 0 or 1; one ball at the input, the others 0.1 and 0.2 away, radii as at sigma 0.5."""
    rng = np.random.default_rng(0)
    x1s = np.clip(rng.normal(0.5, 0.4, (inputs, d)), 0.0, 1.0)
    away = rng.normal(size=(inputs, balls, d))
    away *= 0.1 * np.arange(balls)[:, None] / np.linalg.norm(away, axis=2, keepdims=True)
    return x1s, x1s[:, None] + away, rng.uniform(0.5, 0.6, (inputs, balls))


def _forward(model: torch.nn.Module, batch: torch.Tensor) -> None:
    with torch.inference_mode():
        model(batch)
