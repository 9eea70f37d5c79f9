"""The models and inputs that the benchmarks run on.

Speed does not depend on weights, so most are untrained. How much a search costs depends on votes that are in doubt: for
that there is the demo's network, trained once per run.
"""

import functools
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn

from doublebubble.cli.progress_bars import training_progress
from doublebubble.data import dataset_info, load_dataset
from doublebubble.models import Normalised, build, load_model
from doublebubble.smoothing import Input
from doublebubble.terminal import Terminal
from doublebubble.training import preset, train


def subject(arch: str, dataset: str) -> tuple[Normalised, Tensor]:
    """An architecture for a data set's shape, in evaluation mode, and one grey input."""
    info = dataset_info(dataset)
    model = build(arch, info.shape, info.num_classes, info.mean, info.std).eval()
    return model, torch.full(info.shape, 0.5)


@functools.cache
def demo_network(sigma: float = 0.5) -> nn.Module:
    """What `doublebubble demo` trains, trained here."""
    with tempfile.TemporaryDirectory() as folder:
        settings = preset("digits", "gaussian", sigma)
        with training_progress(Terminal(), settings.epochs) as observer:
            train(settings, load_dataset("digits", "train"), Path(folder) / "model", observer)
        return load_model(Path(folder) / "model")[0].eval()


def some_digits(count: int) -> list[Input]:
    """So many of the test digits with their labels, evenly spread."""
    data = load_dataset("digits", "test")
    pixels = data.inputs()
    chosen = range(0, len(data), max(1, len(data) // count))[:count]
    return [Input(index, pixels[index], int(data.labels[index])) for index in chosen]
