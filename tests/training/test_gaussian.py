"""Gaussian augmentation: the noise, and the loss on it."""

import pytest
import torch
from torch import nn

from doublebubble.streams import Stream
from doublebubble.training.gaussian import gaussian_step, noisy


def test_noise_is_added_once_before_normalisation_and_is_fresh_each_epoch() -> None:
    x = torch.full((64, 1, 28, 28), 0.5)
    first, again, later = (noisy(x, 0.25, Stream(0, epoch, "train", "step/4")) for epoch in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, later)
    assert (first - x).std().item() == pytest.approx(0.25, rel=0.02)
    assert torch.unique(first).numel() > 0.9 * first.numel()


def test_the_gaussian_loss_is_cross_entropy_of_the_noisy_images() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    x, labels = torch.rand(6, 1, 4, 4, generator=torch.Generator().manual_seed(2)), torch.tensor([0, 1, 2, 0, 1, 2])
    stream = Stream(0, 1, "train")
    result = gaussian_step(model, x, labels, 0.5, stream)
    logits = model(noisy(x, 0.5, stream)).detach().double()
    by_hand = -torch.log_softmax(logits, 1)[torch.arange(6), labels].mean()
    assert result.loss.item() == pytest.approx(by_hand.item(), rel=1e-5)
    assert result.accuracy == (logits.argmax(1) == labels).double().mean().item()
