"""Batches visit every image once; flips and crops are exact moves of pixels; noise is fresh and of the asked scale."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from doublebubble.streams import Stream
from doublebubble.training.batches import AUGMENTATIONS, epoch_batches


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
