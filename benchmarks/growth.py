"""How time grows: with the number of draws, of values in an input, of classes and of inputs. Workers are in `engines`.

What is measured is our own part: the model is one cheap layer, so that nothing of it hides behind forward passes.
"""

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.rows import Row, best_seconds
from doublebubble import Certifier, CertifyConfig, SmoothedClassifier

SIGMA, BATCH = 0.5, 256
DRAWS, SIDES, CLASSES, INPUTS = (1_000, 100_000), (8, 64), (10, 1000), (8, 64)
LINEAR = 1.1
"""More than this over linear growth is a cost that grows by itself."""


class Corner(nn.Module):
    """Scores that read a few values of the input: as many classes as asked for, whatever the size of the input."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        weights = torch.randn((16, classes), generator=torch.Generator().manual_seed(0))
        self.weights = nn.Parameter(weights)

    def forward(self, x: Tensor) -> Tensor:
        """The scores of a batch."""
        return x.flatten(1)[:, :16] @ self.weights


def run(quick: bool = False) -> list[Row]:
    """Time for each unit at the larger size over that at the smaller one."""
    rounds = 1 if quick else 5
    return [
        _row("draw, n", DRAWS, [_certifying(n=n) for n in DRAWS], DRAWS, rounds),
        _row("value, d", _values(), [_certifying(side=side) for side in SIDES], _values(), rounds),
        _row("certificate, K", CLASSES, [_certifying(classes=k) for k in CLASSES], (1, 1), rounds, limited=False),
        _row("input, inputs", INPUTS, [_certifying(inputs=many) for many in INPUTS], INPUTS, rounds),
    ]


def _values() -> tuple[int, int]:
    return 3 * SIDES[0] ** 2, 3 * SIDES[1] ** 2


def _certifying(n: int = 10_000, side: int = 8, classes: int = 10, inputs: int = 1) -> Callable[[], object]:
    """Certifies grey images by votes alone."""
    shape = (3, side, side)
    smoothed = SmoothedClassifier(Corner(classes).eval(), SIGMA, classes, batch_size=BATCH)
    certifier = Certifier(smoothed, CertifyConfig(n=n, n0=100, methods=("cohen",)))
    return functools.partial(certifier.certify_many, [torch.full(shape, 0.5)] * inputs, range(inputs))


def _row(
    what: str,
    sizes: tuple[int, int],
    work: list[Callable[[], object]],
    units: tuple[int, int],
    rounds: int,
    limited: bool = True,
) -> Row:
    seconds = best_seconds({"small": work[0], "large": work[1]}, rounds)
    each = [seconds[name] / unit for name, unit in zip(("small", "large"), units, strict=True)]
    return Row(
        f"time for each {what} = {sizes[1]:,} over {sizes[0]:,}",
        each[1] / each[0],
        at_most=LINEAR if limited else None,
        parts={"us for each at the larger": 1e6 * each[1]},
    )
