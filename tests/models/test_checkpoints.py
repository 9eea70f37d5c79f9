"""Trained folders: what is written comes back, and what is wrong is named. Files of weights: tests of loading."""

import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest
import torch
from torch import nn

from doublebubble.errors import CheckpointError, DoubleBubbleError
from doublebubble.models import ModelCard, build, build_denoiser, load_denoiser, load_model, model_classes, save_model
from doublebubble.models.checkpoints import (
    CARD,
    WEIGHTS,
    load_weights,
    read_card,
    read_tensors,
    read_weights,
    save_tensors,
)

ABOUT = ModelCard(
    arch="cnn",
    dataset="folder",
    shape=(1, 8, 8),
    classes=("zebra", "dog", "cat"),
    mean=(0.5,),
    std=(0.25,),
    sigma=0.5,
    method="gaussian",
    epoch=3,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path, build("cnn", (1, 8, 8), 3, (0.5,), (0.25,)), ABOUT)
    return tmp_path


def test_a_saved_model_comes_back_with_its_card(folder: Path) -> None:
    model, card = load_model(folder)
    assert card == ABOUT == read_card(folder)
    assert not model.training
    for name, tensor in read_tensors(folder / WEIGHTS).items():
        assert torch.equal(model.state_dict()[name], tensor)


def test_a_trained_folder_names_its_classes_and_other_models_none(folder: Path) -> None:
    assert model_classes(str(folder)) == ("zebra", "dog", "cat")
    assert model_classes("timm:resnet18") == ()
    assert model_classes(str(folder / WEIGHTS)) == ()


def test_a_damaged_card_is_named(folder: Path) -> None:
    (folder / CARD).write_text("{}")
    for read in (read_card, load_model):
        with pytest.raises(CheckpointError, match=r"model\.json: expected the card of a trained model"):
            read(folder)
    with pytest.raises(CheckpointError, match="expected the card"):
        model_classes(str(folder))


def test_weights_that_do_not_fit_are_listed(tmp_path: Path) -> None:
    model = nn.Linear(2, 3)
    wrong = {"weight": torch.zeros(3, 3), "extra": torch.zeros(1)}
    with pytest.raises(CheckpointError, match=r"missing bias, unexpected extra, weight of shape \(3, 3\) instead of"):
        load_weights(model, wrong, tmp_path / "file")


def test_files_are_replaced_whole(tmp_path: Path) -> None:
    save_tensors(tmp_path / "b", {"x": torch.arange(3.0)[::2]}, {"kind": "test"})
    assert read_tensors(tmp_path / "b")["x"].tolist() == [0.0, 2.0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"shape": [1, 100_000, 100_000]}, "of shape .* instead of"),
        ({"shape": [1, 10**9, 10**9]}, "less than or equal to"),
        ({"shape": [1, -8, 8]}, "greater than or equal to"),
        ({"shape": [10**400, 8, 8]}, "shape"),
        ({"mean": [float("nan")]}, "NaN is not a number of JSON"),
        ({"arch": "\x1b[2J"}, r"got '\\x1b\[2J'"),
        ({"classes": ["a"] * 50}, "of shape"),
    ],
)
def test_a_card_that_claims_too_much_is_refused_before_memory_is_taken(
    folder: Path, change: dict[str, object], why: str
) -> None:
    content = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps({**content, **change}))
    tracemalloc.start()
    with pytest.raises(DoubleBubbleError, match=why):
        load_model(folder)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000


def test_a_card_nested_without_end_is_refused(folder: Path) -> None:
    (folder / CARD).write_text('{"arch":' + "[" * 200_000)
    with pytest.raises(CheckpointError, match=r"model.json: expected the card .* nested too deeply"):
        load_model(folder)


def test_weights_of_another_type_become_those_of_the_model(folder: Path) -> None:
    before, _ = load_model(folder)
    save_tensors(folder / WEIGHTS, {name: t.double() for name, t in before.state_dict().items()})
    after, _ = load_model(folder)
    assert all(
        torch.equal(a, b) and a.dtype == b.dtype
        for a, b in zip(before.state_dict().values(), after.state_dict().values(), strict=True)
    )
    assert all(parameter.requires_grad for parameter in after.parameters())


@pytest.mark.parametrize("name", ["bomb.pt", "bomb.pth"])
def test_weights_that_would_unpack_out_of_all_proportion_are_refused(name: str, tmp_path: Path) -> None:
    bomb(tmp_path / name)
    with pytest.raises(CheckpointError, match=rf"{name}: refused, its \d+ bytes would unpack to 3\d{{8}}"):
        read_weights(tmp_path / name)


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("x/archive_format", "pt2")
        with archive.open("x/data/weights/weight_0", "w") as member:
            for _ in range(30):
                member.write(bytes(10_000_000))


def test_a_denoiser_is_kept_like_a_model_and_neither_is_taken_for_the_other(folder: Path, tmp_path: Path) -> None:
    denoiser, other = build_denoiser("unet", (1, 8, 8), seed=3).eval(), tmp_path / "denoiser"
    other.mkdir()
    save_model(other, denoiser, ABOUT.model_copy(update={"arch": "unet", "method": "denoiser"}))
    loaded, card = load_denoiser(other)
    x = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    assert torch.equal(loaded(x), denoiser(x))
    assert not loaded.training
    assert card.method == "denoiser"
    with pytest.raises(CheckpointError, match="holds a denoiser, which goes before a classifier"):
        load_model(other)
    with pytest.raises(CheckpointError, match=r"expected a denoiser, got a classifier \(cnn\)"):
        load_denoiser(folder)
