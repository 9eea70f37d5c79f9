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


def noisy_logits(model: nn.Module, x: Tensor, sigma: float, stream: Stream, draws: int) -> Tensor:
    """The model's logits under `draws` fresh draws of noise per image, shaped (images, draws, classes)."""
    inputs = noisy(x.repeat_interleave(draws, 0), sigma, stream).contiguous(memory_format=torch.channels_last)
    logits: Tensor = model(inputs).unflatten(0, (len(x), draws))
    return logits


def share_right(logits: Tensor, labels: Tensor) -> float:
    """The fraction of logits, shaped (images, draws, classes), whose largest is the label's."""
    right = logits.detach().argmax(2) == labels[:, None]
    return right.sum().item() / right.numel()


def gaussian_step(model: nn.Module, x: Tensor, labels: Tensor, sigma: float, stream: Stream) -> StepLoss:
    """Cross entropy under one draw of noise per image."""
    logits = noisy_logits(model, x, sigma, stream, 1)
    return StepLoss(cross_entropy(logits[:, 0], labels), share_right(logits, labels))
