"""Residual networks with torchvision's parameter names, so that its weights for ResNet-18 and ResNet-50 load.

May import only torch.
"""

from collections.abc import Sequence

from torch import Tensor, nn


def _conv3x3(channels_in: int, channels_out: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)


def _projection(channels_in: int, channels_out: int, stride: int) -> nn.Module | None:
    """What brings a shortcut to the block's shape; None where it has it."""
    if stride == 1 and channels_in == channels_out:
        return None
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False), nn.BatchNorm2d(channels_out)
    )


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut; a 1x1 projection where the shape changes."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = _conv3x3(channels_in, channels_out, stride)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = _conv3x3(channels_out, channels_out)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.downsample = _projection(channels_in, channels_out, stride)

    def forward(self, x: Tensor) -> Tensor:
        """The block's output, same height and width divided by its stride."""
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        result: Tensor = self.relu(out + shortcut)
        return result


class Bottleneck(nn.Module):
    """1x1, 3x3 and 1x1 convolutions beside a shortcut; the last has four times the width, the 3x3 has the stride."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        width = channels_out // 4
        self.conv1 = nn.Conv2d(channels_in, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = _conv3x3(width, width, stride)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, channels_out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = _projection(channels_in, channels_out, stride)

    def forward(self, x: Tensor) -> Tensor:
        """The block's output, same height and width divided by its stride."""
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        result: Tensor = self.relu(out + shortcut)
        return result


class ResNet(nn.Module):
    """A stem, a group of blocks for each width (all but the first halve the resolution), pooling, a linear layer.

    `blocks` are how many blocks each group has; with `bottleneck` they give four times the width. `wide_stem` is
    torchvision's: 7x7 of stride 2 and a maximum over 3x3 of stride 2; otherwise one 3x3 of stride 1.
    """

    def __init__(
        self,
        widths: Sequence[int],
        blocks: Sequence[int],
        num_classes: int,
        wide_stem: bool,
        bottleneck: bool = False,
    ) -> None:
        super().__init__()
        first, kind = widths[0], Bottleneck if bottleneck else BasicBlock
        self.conv1 = nn.Conv2d(3, first, 7, stride=2, padding=3, bias=False) if wide_stem else _conv3x3(3, first)
        self.bn1 = nn.BatchNorm2d(first)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1) if wide_stem else nn.Identity()
        self._groups = [f"layer{number}" for number in range(1, len(widths) + 1)]
        channels = first
        for number, (name, width, count) in enumerate(zip(self._groups, widths, blocks, strict=True)):
            stride, out = 1 if number == 0 else 2, 4 * width if bottleneck else width
            self.add_module(
                name, nn.Sequential(kind(channels, out, stride), *(kind(out, out, 1) for _ in range(count - 1)))
            )
            channels = out
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        """Logits of normalised images with three channels."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for name in self._groups:
            x = self.get_submodule(name)(x)
        logits: Tensor = self.fc(self.avgpool(x).flatten(1))
        return logits
