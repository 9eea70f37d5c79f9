"""Architectures: shapes, torchvision's names, normalisation inside, weights from the seed alone."""

import pytest
import torch

from doublebubble.errors import SettingError
from doublebubble.models import ARCHITECTURES, Normalised, build

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


@pytest.mark.parametrize(
    ("arch", "shape", "classes"),
    [
        ("cnn", (1, 8, 8), 10),
        ("cnn", (3, 9, 11), 4),
        ("lenet", (1, 28, 28), 10),
        ("lenet", (3, 32, 32), 10),
        ("resnet20", (3, 32, 32), 10),
        ("resnet20", (1, 28, 28), 10),
        ("resnet110", (3, 32, 32), 10),
        ("resnet18", (1, 28, 28), 10),
        ("resnet18", (3, 32, 32), 10),
        ("resnet18-tiny", (3, 64, 64), 200),
        ("resnet18-tiny", (3, 60, 60), 200),
    ],
)
def test_logits_have_a_column_a_class(arch: str, shape: tuple[int, int, int], classes: int) -> None:
    model = build(arch, shape, classes, HALF * shape[0], HALF * shape[0]).eval()
    with torch.no_grad():
        logits = model(torch.rand(2, *shape, generator=torch.Generator().manual_seed(1)))
    assert logits.shape == (2, classes)
    assert torch.isfinite(logits).all()


@pytest.mark.parametrize(("arch", "layers"), [("resnet20", 20), ("resnet110", 110)])
def test_cifar_networks_are_as_deep_as_they_are_called(arch: str, layers: int) -> None:
    model = build(arch, (3, 32, 32), 10, HALF * 3, HALF * 3)
    weighted = [name for name, p in model.named_parameters() if p.ndim > 1 and "downsample" not in name]
    assert len(weighted) == layers


def test_normalisation_is_inside_and_grey_is_repeated() -> None:
    grey = build("resnet20", (1, 32, 32), 10, (0.3,), (0.2,)).eval()
    x = torch.rand(2, 1, 32, 32, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        by_hand = grey.network(((x - 0.3) / 0.2).expand(-1, 3, -1, -1))
        assert torch.equal(grey(x), by_hand)
    colour = Normalised(torch.nn.Flatten(), (0.0, 0.5, 1.0), (1.0, 2.0, 4.0))
    assert colour(torch.ones(1, 3, 1, 1)).tolist() == [[1.0, 0.25, 0.0]]


def test_weights_depend_on_the_seed_alone_and_global_state_is_left_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one = build("cnn", (1, 8, 8), 10, HALF, HALF, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(10)
    two, other = build("cnn", (1, 8, 8), 10, HALF, HALF, seed=3), build("cnn", (1, 8, 8), 10, HALF, HALF, seed=4)
    pairs = list(zip(one.parameters(), two.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b, _ in pairs)
    assert not any(torch.equal(a, c) for a, _, c in pairs)


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(SettingError, match=f"expected one of {', '.join(ARCHITECTURES)}, got 'vgg'"):
        build("vgg", (3, 32, 32), 10, HALF * 3, HALF * 3)
    with pytest.raises(SettingError, match="expected images of at least 16x16, got 8x8"):
        build("lenet", (1, 8, 8), 10, HALF, HALF)
    with pytest.raises(SettingError, match="expected images of 1 or 3 channels, got 4"):
        build("resnet20", (4, 32, 32), 10, HALF * 4, HALF * 4)
