"""The architectures known by name: classifiers, each with its normalisation inside, and denoisers.

May import only errors and streams.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from doublebubble.errors import SettingError
from doublebubble.models.denoiser import UNet
from doublebubble.models.resnet import ResNet
from doublebubble.streams import Stream

Shape = tuple[int, int, int]
_SMALLEST = 4


class Normalised(nn.Module):
    """A network that takes images in [0, 1]: subtracts the mean, divides by the deviation, then runs `network`.

    Noise added before it, and radii around its inputs, are therefore in units of pixels. Grey images are repeated to
    three channels where the network wants three. `classes` are the names of its classes, where they are known.
    """

    mean: Tensor
    std: Tensor
    classes: tuple[str, ...] = ()

    def __init__(self, network: nn.Module, mean: tuple[float, ...], std: tuple[float, ...], repeat: int = 1) -> None:
        super().__init__()
        self.network = network
        self.repeat = repeat
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32).reshape(1, -1, 1, 1))
        self.register_buffer("std", torch.tensor(std, dtype=torch.float32).reshape(1, -1, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Logits of images in [0, 1]."""
        x = (x - self.mean) / self.std
        if self.repeat > 1:
            x = x.repeat(1, self.repeat, 1, 1)
        logits: Tensor = self.network(x)
        return logits


def _cnn(shape: Shape, num_classes: int) -> nn.Module:
    channels, height, width = shape
    return nn.Sequential(
        nn.Conv2d(channels, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * (height // 2) * (width // 2), 64),
        nn.ReLU(),
        nn.Linear(64, num_classes),
    )


def _lenet(shape: Shape, num_classes: int) -> nn.Module:
    channels, height, width = shape
    rows, columns = ((height - 4) // 2 - 4) // 2, ((width - 4) // 2 - 4) // 2
    if min(rows, columns) < 1:
        raise SettingError(f"lenet: expected images of at least 16x16, got {height}x{width}")
    return nn.Sequential(
        nn.Conv2d(channels, 20, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(20, 50, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(50 * rows * columns, 500),
        nn.ReLU(),
        nn.Linear(500, num_classes),
    )


@dataclass(frozen=True)
class Architecture:
    """How a network is made, and how many channels it wants if that is fixed."""

    make: Callable[[Shape, int], nn.Module]
    channels: int | None = None


_WIDTHS = (64, 128, 256, 512)

ARCHITECTURES: dict[str, Architecture] = {
    "cnn": Architecture(_cnn),
    "lenet": Architecture(_lenet),
    "resnet20": Architecture(lambda _, classes: ResNet((16, 32, 64), (3,) * 3, classes, wide_stem=False), channels=3),
    "resnet110": Architecture(lambda _, classes: ResNet((16, 32, 64), (18,) * 3, classes, wide_stem=False), channels=3),
    "resnet18": Architecture(lambda _, classes: ResNet(_WIDTHS, (2,) * 4, classes, wide_stem=True), channels=3),
    "resnet18-tiny": Architecture(lambda _, classes: ResNet(_WIDTHS, (2,) * 4, classes, wide_stem=False), channels=3),
    "resnet50": Architecture(
        lambda _, classes: ResNet(_WIDTHS, (3, 4, 6, 3), classes, wide_stem=True, bottleneck=True), channels=3
    ),
}

DENOISERS: dict[str, Callable[[int], nn.Module]] = {"unet": UNet}
"""Networks from images of so many channels to images, which go before a classifier."""


def build(
    arch: str, shape: Shape, num_classes: int, mean: tuple[float, ...], std: tuple[float, ...], seed: int = 0
) -> Normalised:
    """An untrained model; its weights depend on the seed and on nothing else, and no global random state is touched."""
    if arch not in ARCHITECTURES:
        raise SettingError(f"architecture: expected one of {', '.join(ARCHITECTURES)}, got {arch!r}")
    chosen = ARCHITECTURES[arch]
    channels = chosen.channels or shape[0]
    if shape[0] not in (1, channels):
        raise SettingError(f"{arch}: expected images of 1 or {channels} channels, got {shape[0]}")
    with _weights_by(seed):
        network = chosen.make((channels, *shape[1:]), num_classes)
    return Normalised(network, mean, std, repeat=channels // shape[0])


def build_denoiser(arch: str, shape: Shape, seed: int = 0) -> nn.Module:
    """An untrained denoiser of images in [0, 1]; its weights depend on the seed and on nothing else."""
    if arch not in DENOISERS:
        raise SettingError(f"denoiser: expected one of {', '.join(DENOISERS)}, got {arch!r}")
    if min(shape[1:]) < _SMALLEST:
        raise SettingError(f"{arch}: expected images of at least {_SMALLEST}x{_SMALLEST}, got {shape[1]}x{shape[2]}")
    with _weights_by(seed):
        return DENOISERS[arch](shape[0])


@contextmanager
def _weights_by(seed: int) -> Iterator[None]:
    """What torch draws within depends on the seed alone, and its own state is as before afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(Stream(seed, index=0, stage="train", part="weights").torch_seed(0))
        yield
