"""Residual networks: torchvision's names and shapes, and the depth in their names."""

import pytest
import torch

from doublebubble.models import build
from doublebubble.models.resnet import BasicBlock

HALF = (0.5,)


def torchvision_resnet18_shapes(num_classes: int) -> dict[str, tuple[int, ...]]:
    """The names and shapes of torchvision's ResNet-18, written out from its published structure."""
    shapes: dict[str, tuple[int, ...]] = {"conv1.weight": (64, 3, 7, 7)}

    def norm(name: str, width: int) -> None:
        for part in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{name}.{part}"] = (width,)
        shapes[f"{name}.num_batches_tracked"] = ()

    norm("bn1", 64)
    before = 64
    for layer, width in ((1, 64), (2, 128), (3, 256), (4, 512)):
        for block in (0, 1):
            name = f"layer{layer}.{block}"
            shapes[f"{name}.conv1.weight"] = (width, before, 3, 3)
            shapes[f"{name}.conv2.weight"] = (width, width, 3, 3)
            norm(f"{name}.bn1", width)
            norm(f"{name}.bn2", width)
            if layer > 1 and block == 0:
                shapes[f"{name}.downsample.0.weight"] = (width, before, 1, 1)
                norm(f"{name}.downsample.1", width)
            before = width
    shapes["fc.weight"], shapes["fc.bias"] = (num_classes, 512), (num_classes,)
    return shapes


def test_resnet18_has_exactly_torchvisions_names_and_shapes() -> None:
    model = build("resnet18", (3, 64, 64), 1000, HALF * 3, HALF * 3)
    state = {name: torch.ones(shape) for name, shape in torchvision_resnet18_shapes(1000).items()}
    assert {name: tuple(t.shape) for name, t in model.network.state_dict().items()} == torchvision_resnet18_shapes(1000)
    result = model.network.load_state_dict(state)
    assert result.missing_keys == []
    assert result.unexpected_keys == []
    parameters = sum(parameter.numel() for parameter in model.parameters())
    assert parameters == 11_689_512  # as published


@pytest.mark.parametrize(("arch", "layers"), [("resnet20", 20), ("resnet110", 110)])
def test_cifar_networks_are_as_deep_as_they_are_called(arch: str, layers: int) -> None:
    model = build(arch, (3, 32, 32), 10, HALF * 3, HALF * 3)
    weighted = [name for name, p in model.named_parameters() if p.ndim > 1 and "downsample" not in name]
    assert len(weighted) == layers


def test_a_block_adds_its_input_and_projects_it_only_where_the_shape_changes() -> None:
    same, smaller = BasicBlock(4, 4, 1).eval(), BasicBlock(4, 8, 2).eval()
    assert same.downsample is None
    x = torch.rand(2, 4, 6, 6, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for block in (same, smaller):
            block.conv2.weight.zero_()
        assert torch.equal(same(x), x), "without its second convolution a block is the identity on images >= 0"
        assert smaller.downsample is not None
        assert torch.equal(smaller(x), smaller.downsample(x).relu())
        assert smaller(x).shape == (2, 8, 3, 3)


def test_resnet50_has_torchvisions_names_and_shapes() -> None:
    """As its published structure says: 3, 4, 6 and 3 blocks of 1x1, 3x3, 1x1, the last four times as wide."""
    network = build("resnet50", (3, 64, 64), 1000, HALF * 3, HALF * 3).network
    found = {name: tuple(t.shape) for name, t in network.named_parameters() if "bn" not in name}
    shapes: dict[str, tuple[int, ...]] = {"conv1.weight": (64, 3, 7, 7), "fc.weight": (1000, 2048), "fc.bias": (1000,)}
    before = 64
    for layer, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), start=1):
        for block in range(blocks):
            name = f"layer{layer}.{block}"
            shapes[f"{name}.conv1.weight"] = (width, before, 1, 1)
            shapes[f"{name}.conv2.weight"] = (width, width, 3, 3)
            shapes[f"{name}.conv3.weight"] = (4 * width, width, 1, 1)
            if block == 0:
                shapes[f"{name}.downsample.0.weight"] = (4 * width, before, 1, 1)
                shapes |= {f"{name}.downsample.1.{part}": (4 * width,) for part in ("weight", "bias")}
            before = 4 * width
    assert found == shapes
    assert sum(parameter.numel() for parameter in network.parameters()) == 25_557_032  # as torchvision documents it
    strides = {name: module.stride for name, module in network.named_modules() if isinstance(module, torch.nn.Conv2d)}
    assert strides["layer2.0.conv2"] == (2, 2)
    assert strides["layer2.0.conv1"] == (1, 1)
