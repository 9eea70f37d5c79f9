"""How good a trained folder is on the images it never saw. May import models, data and streams."""

from pathlib import Path

from doublebubble.data import load_dataset
from doublebubble.models import accuracy, load_model
from doublebubble.streams import Stream
from doublebubble.training.loop import SETTINGS
from doublebubble.training.settings import read_settings


def accuracies_on_test(folder: Path, data_dir: Path | None = None) -> tuple[float, float]:
    """Accuracy on the test split, clean and under one draw of noise per image, of the model that the folder holds."""
    settings = read_settings(folder / SETTINGS)
    model, _ = load_model(folder)
    data = load_dataset(settings.dataset, "test", data_dir, settings.size)
    inputs = data.inputs()
    stream = Stream(settings.seed, 0, "audit", "test_accuracy")
    return accuracy(model, inputs, data.labels, 0.0, stream), accuracy(
        model, inputs, data.labels, settings.sigma, stream
    )
