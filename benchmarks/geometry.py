"""How long the dual bound takes: one ImageNet-sized input with three balls, and a thousand CIFAR-sized with two."""

import time
from dataclasses import dataclass

import numpy as np

from doublebubble.geometry import certified_radii
from doublebubble.types import Floats


@dataclass(frozen=True)
class Row:
    """One measurement: the least of several repetitions."""

    name: str
    inputs: int
    d: int
    balls: int
    seconds: float


def _problem(inputs: int, d: int, balls: int) -> tuple[Floats, Floats, Floats]:
    """Pixels with many at 0 or 1; one ball at the input, the others 0.1 and 0.2 away, radii as at sigma 0.5."""
    rng = np.random.default_rng(0)
    x1s = np.clip(rng.normal(0.5, 0.4, (inputs, d)), 0.0, 1.0)
    away = rng.normal(size=(inputs, balls, d))
    away *= 0.1 * np.arange(balls)[:, None] / np.linalg.norm(away, axis=2, keepdims=True)
    return x1s, x1s[:, None] + away, rng.uniform(0.5, 0.6, (inputs, balls))


def run() -> list[Row]:
    """Time both sizes, validation of inputs and the rounded re-evaluation included."""
    rows = []
    for name, inputs, d, balls, repeats in (
        ("one input of 3 x 224 x 224", 1, 150_528, 3, 5),
        ("a thousand inputs of 3 x 32 x 32", 1000, 3072, 2, 2),
    ):
        problem = _problem(inputs, d, balls)
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            certified_radii(*problem)
            times.append(time.perf_counter() - start)
        rows.append(Row(name, inputs, d, balls, min(times)))
    return rows


if __name__ == "__main__":
    for row in run():
        print(f"{row.name}, {row.balls} balls: {1000 * row.seconds:.0f} ms")
