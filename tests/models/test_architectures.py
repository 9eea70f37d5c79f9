"""Architectures: shapes, normalisation inside, weights from the seed alone."""

import pytest
import torch

from doublebubble.errors import SettingError
from doublebubble.models import ARCHITECTURES, Normalised, build, build_denoiser

HALF = (0.5,)


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


def test_a_denoisers_weights_depend_on_the_seed_alone_and_no_global_state_is_touched() -> None:
    before = torch.random.get_rng_state()
    one, same, other = (build_denoiser("unet", (3, 9, 8), seed) for seed in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    weights = [torch.cat([value.flatten() for value in model.state_dict().values()]) for model in (one, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_images_too_small_to_be_halved_twice_are_refused() -> None:
    with pytest.raises(SettingError, match="unet: expected images of at least 4x4, got 3x8"):
        build_denoiser("unet", (1, 3, 8))
