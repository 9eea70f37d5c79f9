"""A small network with its shape, and what tests of loading and of looking at models share."""

from pathlib import Path

import torch
from torch import Tensor, nn

from doublebubble.models import Normalised, build, load_classifier

SHAPE, CLASSES, MEAN, STD = (1, 8, 8), 10, (0.3,), (0.4,)
X = torch.rand(3, *SHAPE, generator=torch.Generator().manual_seed(1))
K = 5


def small_model() -> Normalised:
    return build("cnn", SHAPE, CLASSES, MEAN, STD, seed=7).eval()


def load(text: str | Path, weights: Path | None = None) -> nn.Module:
    return load_classifier(str(text), SHAPE, CLASSES, MEAN, STD, weights)


def same(one: nn.Module, other: nn.Module) -> bool:
    with torch.no_grad():
        return torch.equal(one(X), other(X)) and not one.training


class Touches:
    """Unpickled by the book, this creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


class Reads(nn.Module):
    """Names the class whose pixel is brightest, renumbered by `order`: exact on clean one-hot images."""

    def __init__(self, order: tuple[int, ...] = (0, 1, 2, 3, 4)) -> None:
        super().__init__()
        self.order = order

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1)[:, list(self.order)]


def one_hot(count: int = 200) -> tuple[Tensor, Tensor]:
    labels = torch.arange(count) % K
    return torch.eye(K)[labels].reshape(count, 1, 1, K), labels
