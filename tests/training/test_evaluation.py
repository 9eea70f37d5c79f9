"""The accuracy of a trained folder on images it never saw."""

from pathlib import Path

import pytest
import torch

from doublebubble.data import load_dataset
from doublebubble.files import write_whole
from doublebubble.models import ModelCard, build, save_model
from doublebubble.training import accuracies_on_test, preset
from doublebubble.training.loop import SETTINGS


def folder_of_a_constant_model(folder: Path, label: int) -> None:
    """A model that names one class for every image."""
    info = load_dataset("digits", "test").info
    model = build("cnn", info.shape, 10, info.mean, info.std)
    with torch.no_grad():
        last = [parameter for parameter in model.parameters() if parameter.shape == (10,)][-1]
        last[label] = 1e6
    about = {"arch": "cnn", "dataset": "digits", "shape": info.shape, "classes": info.classes, "mean": info.mean}
    card = ModelCard.model_validate({**about, "std": info.std, "sigma": 0.5, "method": "gaussian", "epoch": 1})
    save_model(folder, model, card)
    write_whole(folder / SETTINGS, preset("digits", "gaussian", 0.5).model_dump_json().encode())


@pytest.mark.parametrize("label", [0, 7])
def test_a_model_that_always_says_the_same_has_the_share_of_that_class(tmp_path: Path, label: int) -> None:
    folder_of_a_constant_model(tmp_path, label)
    labels = load_dataset("digits", "test").labels
    share = (labels == label).double().mean().item()
    assert accuracies_on_test(tmp_path) == pytest.approx((share, share))
