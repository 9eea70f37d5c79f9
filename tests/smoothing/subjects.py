"""A small network, an image and a recorder: what the tests of the smoothed classifier look at."""

import math

import torch
from torch import Tensor, nn

from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import NormalDraws, Stream

SHAPE = (2, 6, 6)


def small_net(classes: int = 4) -> nn.Module:
    generator = torch.Generator().manual_seed(5)
    net = nn.Sequential(
        nn.Conv2d(2, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, classes)
    )
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / math.sqrt(max(parameter.shape)))
    return net.eval()


class Recorder(nn.Module):
    """Votes by the sign of the first coordinate, and keeps what it was fed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Tensor] = []

    def forward(self, batch: Tensor) -> Tensor:
        self.seen.append(batch.clone())
        first = batch.flatten(1)[:, 0]
        return torch.stack([first, -first], 1)


def looked_at(classifier: SmoothedClassifier, recorder: Recorder) -> SmoothedClassifier:
    """The classifier after its rows were tried out as for a long run, the recorder empty again."""
    classifier.expect(10**6)
    classifier.counts(image(), 1, seed=0, index=0, stage="audit")
    recorder.seen.clear()
    return classifier


def image(seed: int = 0) -> Tensor:
    return torch.rand(SHAPE, generator=torch.Generator().manual_seed(seed))


def smoothed(batch_size: int = 64, **settings: object) -> SmoothedClassifier:
    return SmoothedClassifier(small_net(), 0.5, 4, batch_size=batch_size, **settings)  # type: ignore[arg-type]


def slow_tally(net: nn.Module, x: Tensor, n: int, stream: Stream, sigma: float) -> tuple[Tensor, Tensor]:
    """The obvious computation: all the noise at once, one forward pass, votes by argmax."""
    noise = torch.empty((n, *x.shape), dtype=x.dtype)
    NormalDraws(stream, x).fill(noise)
    with torch.no_grad():
        return net(x + sigma * noise).argmax(1), noise
