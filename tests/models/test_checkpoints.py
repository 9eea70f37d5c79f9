"""Trained folders: what is written comes back, and what is wrong is named. Files of weights: tests of loading."""

from pathlib import Path

import pytest
import torch
from torch import nn

from doublebubble.errors import CheckpointError
from doublebubble.models import ModelCard, build, load_model, model_classes, save_model
from doublebubble.models.checkpoints import (
    CARD,
    WEIGHTS,
    load_weights,
    read_card,
    read_tensors,
    save_tensors,
    write_atomically,
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
    write_atomically(tmp_path / "a", b"one")
    write_atomically(tmp_path / "a", b"two")
    save_tensors(tmp_path / "b", {"x": torch.arange(3.0)[::2]}, {"kind": "test"})
    assert (tmp_path / "a").read_bytes() == b"two"
    assert read_tensors(tmp_path / "b")["x"].tolist() == [0.0, 2.0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
