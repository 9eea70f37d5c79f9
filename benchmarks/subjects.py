"""The models and inputs that the benchmarks run on: untrained, since speed does not depend on the weights."""

import torch
from torch import Tensor

from doublebubble.data import dataset_info
from doublebubble.models import Normalised, build


def subject(arch: str, dataset: str) -> tuple[Normalised, Tensor]:
    """An architecture for a data set's shape, in evaluation mode, and one grey input."""
    info = dataset_info(dataset)
    model = build(arch, info.shape, info.num_classes, info.mean, info.std).eval()
    return model, torch.full(info.shape, 0.5)
