"""The accuracy of a trained folder on images it never saw."""

from pathlib import Path

import pytest
import torch

from doublebubble.data import load_dataset
from doublebubble.errors import SettingError
from doublebubble.files import write_whole
from doublebubble.models import ModelCard, build, build_denoiser, save_model
from doublebubble.training import accuracies_on_test, noise_left_on_test, preset
from doublebubble.training.loop import SETTINGS


def folder_of_a_constant_model(folder: Path, label: int) -> None:
    """A model that names one class for every image."""
    info = load_dataset("digits", "test").info
    model = build("cnn", info.shape, 10, info.mean, info.std)
    with torch.no_grad():
        last = [parameter for parameter in model.parameters() if parameter.shape == (10,)][-1]
        last[label] = 1e6
    save_model(folder, model, card("cnn", "gaussian"))
    write_whole(folder / SETTINGS, preset("digits", "gaussian", 0.5).model_dump_json().encode())


def card(arch: str, method: str) -> ModelCard:
    info = load_dataset("digits", "test").info
    about = {"arch": arch, "dataset": "digits", "shape": info.shape, "classes": info.classes, "mean": info.mean}
    return ModelCard.model_validate({**about, "std": info.std, "sigma": 0.5, "method": method, "epoch": 1})


def folder_of_a_denoiser_that_does_nothing(folder: Path, classifier: Path | None = None) -> None:
    denoiser = build_denoiser("unet", (1, 8, 8))
    with torch.no_grad():
        for parameter in denoiser.get_submodule("leave").parameters():
            parameter.zero_()
    save_model(folder, denoiser, card("unet", "denoiser"))
    named = None if classifier is None else str(classifier)
    write_whole(folder / SETTINGS, preset("digits", "denoiser", 0.5, classifier=named).model_dump_json().encode())


@pytest.mark.parametrize("label", [0, 7])
def test_a_model_that_always_says_the_same_has_the_share_of_that_class(tmp_path: Path, label: int) -> None:
    folder_of_a_constant_model(tmp_path, label)
    labels = load_dataset("digits", "test").labels
    share = (labels == label).double().mean().item()
    assert accuracies_on_test(tmp_path) == pytest.approx((share, share))


def test_a_denoiser_that_does_nothing_leaves_all_of_the_noise(tmp_path: Path) -> None:
    folder_of_a_denoiser_that_does_nothing(tmp_path)
    values = load_dataset("digits", "test").inputs().numel()
    assert noise_left_on_test(tmp_path) == pytest.approx(0.5, rel=4 / (2 * values) ** 0.5)  # four standard errors


def test_a_denoiser_has_the_accuracy_of_the_classifier_it_was_trained_for(tmp_path: Path) -> None:
    (tmp_path / "constant").mkdir()
    folder_of_a_constant_model(tmp_path / "constant", 3)
    folder_of_a_denoiser_that_does_nothing(tmp_path, tmp_path / "constant")
    assert accuracies_on_test(tmp_path) == accuracies_on_test(tmp_path / "constant")
    folder_of_a_denoiser_that_does_nothing(tmp_path)
    with pytest.raises(SettingError, match="trained for no classifier"):
        accuracies_on_test(tmp_path)
