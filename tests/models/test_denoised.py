"""A denoiser before a classifier is one model."""

import torch
from torch import Tensor, nn

from doublebubble.models import Denoised

SHAPE, CLASSES, MEAN, STD = (1, 8, 8), 10, (0.3,), (0.4,)
X = torch.rand(3, *SHAPE, generator=torch.Generator().manual_seed(1))


def test_a_denoiser_goes_before_the_classifier() -> None:
    class Halve(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x / 2

    both = Denoised(Halve(), nn.Flatten())
    assert torch.equal(both(X), (X / 2).flatten(1))
    assert [name for name, _ in both.named_children()] == ["denoiser", "classifier"]


def test_it_is_in_evaluation_mode_if_both_parts_are() -> None:
    modes = [(True, True), (True, False), (False, True), (False, False)]
    pairs = [Denoised(nn.Identity().train(one), nn.Flatten().train(other)) for one, other in modes]
    assert [pair.training for pair in pairs] == [True, True, True, False]


def test_its_classes_are_those_of_the_classifier() -> None:
    class Named(nn.Flatten):
        classes = ("cat", "dog")

    assert Denoised(nn.Identity(), nn.Flatten()).classes == ()
    assert Denoised(nn.Identity(), Named()).classes == ("cat", "dog")
