"""Checkpoints of the field as they are: every layout gives the logits of the network that wrote it."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import CheckpointError, SettingError
from doublebubble.models import build, load_classifier
from doublebubble.models.published import arch_of, read_published
from tests.models.published import NormaliseFirst, PublishedLeNet, save_checkpoint

CIFAR, IMAGENET = ([0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]), ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
GREY, COLOUR = (1, 28, 28), (3, 32, 32)
DATA = ((0.1,), (0.7,))
DATA3 = ((0.1, 0.2, 0.3), (0.7, 0.8, 0.9))


def images(shape: tuple[int, int, int]) -> Tensor:
    return torch.rand(2, *shape, generator=torch.Generator().manual_seed(3))


def plain(arch: str, shape: tuple[int, int, int], classes: int = 10) -> nn.Module:
    """The bare network under torchvision's names, which the smoothing repositories share."""
    network = build(arch, shape, classes, (0.0,) * shape[0], (1.0,) * shape[0], seed=5).network
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d) and module.running_mean is not None:
            nn.init.uniform_(module.running_mean, -0.1, 0.1, generator=torch.Generator().manual_seed(1))
    return network


def agree(
    path: Path, model: nn.Module, shape: tuple[int, int, int], classes: int = 10, arch: str | None = None
) -> bool:
    mean, std = DATA if shape[0] == 1 else DATA3
    loaded = load_classifier(str(path), shape, classes, mean, std, arch=arch)
    with torch.no_grad():
        return torch.allclose(loaded(images(shape)), model.eval()(images(shape)), atol=1e-5) and not loaded.training


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(("name", "arch"), [("cifar_resnet20", "resnet20"), ("cifar_resnet110", "resnet110")])
def test_cifar_networks_with_a_normalisation_that_the_file_does_not_hold(
    tmp_path: Path, name: str, arch: str, old: bool
) -> None:
    model = nn.Sequential(NormaliseFirst(*CIFAR), plain(arch, COLOUR))
    save_checkpoint(tmp_path / "checkpoint.pth.tar", name, model, old)
    assert agree(tmp_path / "checkpoint.pth.tar", model, COLOUR)


@pytest.mark.parametrize("names", [("means", "sds"), ("mean", "std"), None])
def test_imagenet_networks_trained_in_parallel(tmp_path: Path, names: tuple[str, str] | None) -> None:
    stored = IMAGENET if names is None else ([0.3, 0.2, 0.1], [0.5, 0.6, 0.7])
    model = nn.Sequential(NormaliseFirst(*stored, names), nn.DataParallel(plain("resnet50", (3, 64, 64), 12)))
    save_checkpoint(tmp_path / "checkpoint.pth.tar", "resnet50", model)
    assert agree(tmp_path / "checkpoint.pth.tar", model, (3, 64, 64), 12)
    outside = nn.DataParallel(nn.Sequential(NormaliseFirst(*stored, names), plain("resnet18", (3, 64, 64), 12)))
    save_checkpoint(tmp_path / "outside.pth.tar", "resnet18", outside)
    assert agree(tmp_path / "outside.pth.tar", outside, (3, 64, 64), 12)


def test_lenet_of_the_smoothing_repositories(tmp_path: Path) -> None:
    lenet = PublishedLeNet()
    consistency = nn.Sequential(nn.Identity(), lenet)
    save_checkpoint(tmp_path / "checkpoint.pth.tar", "lenet", consistency)
    assert agree(tmp_path / "checkpoint.pth.tar", consistency, GREY)
    torch.save({"net": lenet.state_dict(), "epoch": 440}, tmp_path / "440.pth")  # MACER: no arch, no normalisation
    assert agree(tmp_path / "440.pth", lenet, GREY, arch="lenet")
    with pytest.raises(SettingError, match=r"440\.pth: names no `arch`.*needs an architecture to go with: give --arch"):
        agree(tmp_path / "440.pth", lenet, GREY)


def test_torchvisions_weights_are_normalised_as_the_data_are(tmp_path: Path) -> None:
    network = plain("resnet18", COLOUR)
    torch.save(network.state_dict(), tmp_path / "resnet18.pth")
    model = nn.Sequential(NormaliseFirst(list(DATA3[0]), list(DATA3[1])), network)
    assert agree(tmp_path / "resnet18.pth", model, COLOUR, arch="resnet18")
    by_name = load_classifier("resnet18", COLOUR, 10, *DATA3, tmp_path / "resnet18.pth")
    with torch.no_grad():
        assert torch.allclose(by_name(images(COLOUR)), model.eval()(images(COLOUR)), atol=1e-5)
    save_checkpoint(tmp_path / "example.pth.tar", "resnet18", nn.DataParallel(network))  # as torch's examples save it
    assert agree(tmp_path / "example.pth.tar", model, COLOUR)


def test_another_architecture_can_be_named_and_what_does_not_fit_is_listed(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c.pth.tar", "my_net", nn.Sequential(nn.Identity(), PublishedLeNet()))
    with pytest.raises(SettingError, match=r"arch: expected one of cnn, lenet, .*resnet50, got 'my_net'"):
        load_classifier(str(tmp_path / "c.pth.tar"), GREY, 10, *DATA)
    save_checkpoint(tmp_path / "l.pth.tar", "cifar_resnet20", nn.Sequential(nn.Identity(), PublishedLeNet()))
    with pytest.raises(
        CheckpointError,
        match=r"l\.pth\.tar: weights do not fit.*missing bn1.*unexpected conv1.bias.*conv1.weight of .* more$",
    ):
        load_classifier(str(tmp_path / "l.pth.tar"), COLOUR, 10, *DATA3, arch="resnet110")
    assert agree(
        tmp_path / "l.pth.tar", nn.Sequential(nn.Identity(), _kept(tmp_path / "l.pth.tar")), GREY, arch="lenet"
    )
    with pytest.raises(CheckpointError, match=r"9\.weight of shape \(10, 500\) instead of \(7, 500\)"):
        load_classifier(str(tmp_path / "l.pth.tar"), GREY, 7, *DATA, arch="lenet")


def _kept(path: Path) -> nn.Module:
    lenet = PublishedLeNet()
    state = torch.load(path, weights_only=True)["state_dict"]
    lenet.load_state_dict({name.removeprefix("1."): tensor for name, tensor in state.items()})
    return lenet


def test_an_architecture_for_what_brings_its_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="arch: only a file of weights takes one"):
        load_classifier("lenet", GREY, 10, *DATA, arch="resnet20")


def test_files_from_before_batch_norm_counted(tmp_path: Path) -> None:
    network = plain("resnet20", COLOUR)
    kept = {name: tensor for name, tensor in network.state_dict().items() if "num_batches" not in name}
    torch.save(
        {"arch": "cifar_resnet20", "state_dict": {f"1.{name}": value for name, value in kept.items()}}, tmp_path / "o"
    )
    assert agree(tmp_path / "o", nn.Sequential(NormaliseFirst(*CIFAR), network), COLOUR)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (
            {"0.weight": torch.ones(3)},
            "expected the first layer to be a normalisation with a mean and a std, got weight",
        ),
        ({"0.mean": torch.ones(3), "0.std": torch.zeros(3)}, "expected deviations above 0"),
        ({"0.mean": torch.ones(2), "0.std": torch.ones(2)}, "normalises 2 channels, the images have 3"),
    ],
)
def test_a_first_layer_that_is_no_normalisation(tmp_path: Path, first: dict[str, Tensor], message: str) -> None:
    state = {f"1.{name}": tensor for name, tensor in plain("resnet20", COLOUR).state_dict().items()}
    torch.save({"arch": "cifar_resnet20", "state_dict": {**first, **state}}, tmp_path / "c.pth")
    with pytest.raises(CheckpointError, match=message):
        load_classifier(str(tmp_path / "c.pth"), COLOUR, 10, *DATA3)


def test_a_file_without_weights(tmp_path: Path) -> None:
    torch.save({"arch": "lenet", "state_dict": {}}, tmp_path / "c.pth")
    with pytest.raises(CheckpointError, match="holds no weights of a network"):
        read_published(tmp_path / "c.pth")
    assert arch_of("LeNet") == "lenet"
