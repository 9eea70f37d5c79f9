"""How good a trained folder is on the images it never saw. May import models, data and streams."""

import math
from pathlib import Path

import torch
from torch import nn

from doublebubble.data import DatasetInfo, load_dataset
from doublebubble.errors import SettingError
from doublebubble.models import accuracy, load_denoiser, load_model
from doublebubble.streams import Stream
from doublebubble.training.denoiser import frozen_classifier, joined
from doublebubble.training.gaussian import noisy
from doublebubble.training.loop import SETTINGS
from doublebubble.training.settings import TrainSettings, read_settings


def accuracies_on_test(folder: Path, data_dir: Path | None = None) -> tuple[float, float]:
    """Accuracy on the test split, clean and under one draw of noise per image, of the model that the folder holds.

    A denoiser has that of the classifier it was trained for, behind it.
    """
    settings = read_settings(folder / SETTINGS)
    data = load_dataset(settings.dataset, "test", data_dir, settings.size)
    model = _classifier(folder, settings, data.info)
    inputs = data.inputs()
    stream = Stream(settings.seed, 0, "audit", "test_accuracy")
    return accuracy(model, inputs, data.labels, 0.0, stream), accuracy(
        model, inputs, data.labels, settings.sigma, stream
    )


def _classifier(folder: Path, settings: TrainSettings, info: DatasetInfo) -> nn.Module:
    if settings.method != "denoiser":
        return load_model(folder)[0]
    found = joined(load_denoiser(folder)[0], frozen_classifier(settings.model_copy(update={"device": "cpu"}), info))
    if found is None:
        raise SettingError(f"{folder}: holds a denoiser that was trained for no classifier, so there is no accuracy")
    return found.eval()


@torch.no_grad()
def noise_left_on_test(folder: Path, data_dir: Path | None = None, batch_size: int = 500) -> float:
    """The root mean square error per pixel that a denoiser leaves of noise of its sigma, on the test split."""
    settings = read_settings(folder / SETTINGS)
    denoiser, _ = load_denoiser(folder)
    inputs = load_dataset(settings.dataset, "test", data_dir, settings.size).inputs()
    total = 0.0
    for number, x in enumerate(torch.split(inputs, batch_size)):
        stream = Stream(settings.seed, 0, "audit", f"noise_left/{number}")
        total += (denoiser(noisy(x, settings.sigma, stream)) - x).double().square().sum().item()
    return math.sqrt(total / inputs.numel())
