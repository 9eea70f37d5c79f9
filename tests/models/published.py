"""Networks as the public smoothing repositories lay them out: modules, wrapping and file, written for the tests."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional


class PublishedLeNet(nn.Module):
    """LeNet with the layer names of MACER and Consistency."""

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 20, 5)
        self.conv2 = nn.Conv2d(20, 50, 5)
        self.fc1 = nn.Linear(4 * 4 * 50, 500)
        self.fc2 = nn.Linear(500, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        out: Tensor = self.fc2(functional.relu(self.fc1(x.flatten(1))))
        return out


class NormaliseFirst(nn.Module):
    """A first layer that normalises; its numbers are plain attributes, or buffers under the names given."""

    def __init__(self, mean: list[float], std: list[float], names: tuple[str, str] | None = None) -> None:
        super().__init__()
        self.numbers = (torch.tensor(mean), torch.tensor(std))
        for name, value in zip(names or (), self.numbers, strict=False):
            self.register_buffer(name, value.clone())

    def forward(self, x: Tensor) -> Tensor:
        mean, std = (numbers[None, :, None, None] for numbers in self.numbers)
        return (x - mean) / std


def save_checkpoint(path: Path, arch: str | None, model: nn.Module, old: bool = False, **more: object) -> None:
    """What training scripts of the field save, optimiser included; `old` in the format from before torch 1.6."""
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    torch.autograd.backward([parameter.sum() for parameter in model.parameters()])
    optimiser.step()
    content = {"epoch": 90, "state_dict": model.state_dict(), "optimizer": optimiser.state_dict(), **more}
    whole = content if arch is None else {"arch": arch, **content}
    torch.save(whole, path, _use_new_zipfile_serialization=not old)
