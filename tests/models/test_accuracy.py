"""Predictions under noise, and how many of them are the label."""

import pytest
import torch
from torch import Tensor, nn

from doublebubble.models import accuracy, predictions
from doublebubble.streams import Stream
from tests.models.subjects import K, Reads, one_hot


def test_predictions_do_not_depend_on_the_batch_and_noise_has_the_asked_scale() -> None:
    inputs, labels = one_hot(50)
    stream = Stream(3, 0, "audit")
    whole = predictions(Reads(), inputs, 0.5, stream)
    assert torch.equal(whole, predictions(Reads(), inputs, 0.5, stream, batch_size=7))
    assert accuracy(Reads(), inputs, labels, 0.5, stream) == (whole == labels).double().mean().item()
    seen: list[Tensor] = []

    class Looks(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            seen.append(x)
            return x.flatten(1)

    predictions(Looks(), torch.zeros(20_000, 1, 1, K), 0.5, stream)
    noise = torch.cat(seen)
    assert noise.std().item() == pytest.approx(0.5, rel=0.02)
    assert abs(noise.mean().item()) < 0.01
