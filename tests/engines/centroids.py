"""A classifier of the bundled digits that needs no training: the class whose mean image is nearest."""

import torch
from torch import Tensor, nn

from doublebubble.data import load_dataset


class Centroids(nn.Module):
    """Logits are the negative squared distances to the class means, up to what all classes share."""

    def __init__(self, means: Tensor) -> None:
        super().__init__()
        self.linear = nn.Linear(means.shape[1], len(means))
        with torch.no_grad():
            self.linear.weight.copy_(means)
            self.linear.bias.copy_(-0.5 * means.square().sum(1))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.linear(x.flatten(1))
        return logits


def make() -> nn.Module:
    data = load_dataset("digits", "train")
    flat = data.inputs().flatten(1)
    return Centroids(torch.stack([flat[data.labels == label].mean(0) for label in range(10)])).eval()
