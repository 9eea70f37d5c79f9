"""Residual networks with torchvision's parameter names, so that its ResNet-18 weights load. May import only torch."""

from collections.abc import Sequence

from torch import Tensor, nn


def _conv3x3(channels_in: int, channels_out: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut; a 1x1 projection where the shape changes."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = _conv3x3(channels_in, channels_out, stride)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = _conv3x3(channels_out, channels_out)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.downsample: nn.Module | None = None
        if stride != 1 or channels_in != channels_out:
            projection = nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2d(channels_out))

    def forward(self, x: Tensor) -> Tensor:
        """The block's output, same height and width divided by its stride."""
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        result: Tensor = self.relu(out + shortcut)
        return result


class ResNet(nn.Module):
    """A stem, a group of basic blocks for each width (all but the first halve the resolution), pooling, a linear layer.

    `wide_stem` is torchvision's: 7x7 of stride 2 and a maximum over 3x3 of stride 2; otherwise one 3x3 of stride 1.
    """

    def __init__(self, widths: Sequence[int], blocks: int, num_classes: int, wide_stem: bool) -> None:
        super().__init__()
        first = widths[0]
        self.conv1 = nn.Conv2d(3, first, 7, stride=2, padding=3, bias=False) if wide_stem else _conv3x3(3, first)
        self.bn1 = nn.BatchNorm2d(first)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1) if wide_stem else nn.Identity()
        self._groups = [f"layer{number}" for number in range(1, len(widths) + 1)]
        channels = first
        for number, (name, width) in enumerate(zip(self._groups, widths, strict=True)):
            stride = 1 if number == 0 else 2
            group = [BasicBlock(channels, width, stride), *(BasicBlock(width, width, 1) for _ in range(blocks - 1))]
            self.add_module(name, nn.Sequential(*group))
            channels = width
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
