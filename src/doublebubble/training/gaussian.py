"""Gaussian augmentation: cross entropy on images plus one fresh draw of noise each. May import streams."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from doublebubble.streams import NormalDraws, Stream


@dataclass(frozen=True)
class StepLoss:
    """The loss to descend, and how many of the noisy images were named correctly, as a fraction, where any were."""

    loss: Tensor
    accuracy: float | None


def noisy(x: Tensor, sigma: float, stream: Stream) -> Tensor:
    """The batch plus noise of scale sigma, in units of the inputs: before any normalisation."""
    noise = torch.empty_like(x, memory_format=torch.contiguous_format)
    NormalDraws(stream, x[0]).fill(noise)
    return x + sigma * noise


def gaussian_step(model: nn.Module, x: Tensor, labels: Tensor, sigma: float, stream: Stream) -> StepLoss:
    """Cross entropy under one draw of noise per image."""
    inputs = noisy(x, sigma, stream).contiguous(memory_format=torch.channels_last)
    logits = model(inputs)
    right = (logits.detach().argmax(1) == labels).sum().item() / len(labels)
    return StepLoss(cross_entropy(logits, labels), right)
