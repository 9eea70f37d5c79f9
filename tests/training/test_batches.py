"""Batches visit every image once; flips and crops are exact moves of pixels; noise is fresh and of the asked scale."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from doublebubble.streams import Stream
from doublebubble.training.batches import AUGMENTATIONS, epoch_batches
from doublebubble.training.gaussian import gaussian_step, noisy


@given(count=st.integers(2, 300), size=st.integers(2, 64), seed=st.integers(0, 5))
def test_an_epoch_visits_every_image_once_and_never_alone(count: int, size: int, seed: int) -> None:
    batches = epoch_batches(count, size, Stream(seed, 1, "train"))
    assert sorted(torch.cat(batches).tolist()) == list(range(count))
    assert all(len(batch) == size for batch in batches[:-1] if len(batch) != size + 1)
    assert all(2 <= len(batch) <= size + 1 for batch in batches)


def test_epochs_differ_in_order() -> None:
    orders = [torch.cat(epoch_batches(50, 10, Stream(0, epoch, "train"))).tolist() for epoch in (1, 2)]
    assert orders[0] != orders[1]


@pytest.mark.parametrize(("name", "margin", "mirrors"), [("shift", 1, {False}), ("flip-crop", 4, {False, True})])
def test_augmented_images_are_windows_of_the_padded_image_or_its_mirror(
    name: str, margin: int, mirrors: set[bool]
) -> None:
    pixels = torch.from_numpy(np.random.default_rng(1).integers(1, 256, size=(200, 2, 6, 5), dtype=np.uint8))
    moved = AUGMENTATIONS[name](pixels, Stream(3, 1, "train", "augment"))
    padded = torch.nn.functional.pad(pixels, (margin,) * 4)
    starts = range(2 * margin + 1)
    seen = set()
    for i in range(len(pixels)):
        found = [
            (row, column, mirror)
            for row in starts
            for column in starts
            for mirror in mirrors
            if torch.equal(moved[i], _window(padded[i], row, column, mirror))
        ]
        assert len(found) >= 1
        seen.add(found[0])
    assert {row for row, _, _ in seen} == {column for _, column, _ in seen} == set(starts)
    assert {mirror for _, _, mirror in seen} == mirrors


def _window(padded: Tensor, row: int, column: int, mirror: bool) -> Tensor:
    window = padded[:, row : row + 6, column : column + 5]
    return window.flip(2) if mirror else window


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
