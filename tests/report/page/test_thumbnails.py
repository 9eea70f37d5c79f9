import io
from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image

from doublebubble.errors import InputError
from doublebubble.report.page.thumbnails import Pixels, Thumbnails, make_thumbnails

PLENTY = 4_500_000


def made(images: Pixels, indices: Sequence[int], budget: int = PLENTY) -> Thumbnails:
    found = make_thumbnails(images, indices, budget)
    assert found is not None
    return found


def tile(found: Thumbnails, number: int) -> Pixels:
    sheet = Image.open(io.BytesIO(found.sheets[number // found.per_sheet])).convert("RGB")
    place = number % found.per_sheet
    left, top = place % found.columns * found.width, place // found.columns * found.height
    return np.moveaxis(np.asarray(sheet)[top : top + found.height, left : left + found.width], 2, 0)


@pytest.mark.parametrize("channels", [1, 3])
def test_small_images_stay_exact_each_in_its_place(channels: int) -> None:
    images = np.random.default_rng(0).integers(0, 256, (1100, channels, 5, 7), np.uint8)
    found = made(images, range(3, 1103))
    assert (found.width, found.height, len(found.sheets), found.exact) == (7, 5, 2, True)
    assert found.indices == tuple(range(3, 1103))
    for number in (0, 31, 32, 1023, 1024, 1099):
        assert np.array_equal(tile(found, number), np.broadcast_to(images[number], (3, 5, 7)))


def test_what_does_not_fit_is_compressed_and_then_shrunk() -> None:
    images = np.random.default_rng(1).integers(0, 256, (300, 3, 32, 32), np.uint8)
    for budget, edge in ((300_000, 32), (20_000, 8)):
        found = made(images, range(300), budget)
        assert sum(map(len, found.sheets)) <= budget
        assert not found.exact
        assert edge <= found.width <= 32
    smooth = np.broadcast_to(np.linspace(0, 255, 300).astype(np.uint8)[:, None, None, None], (300, 3, 32, 32))
    found = made(smooth, range(300), 12_000)
    assert abs(tile(found, 150).astype(int).mean() - smooth[150].mean()) < 16


def test_there_are_none_if_nothing_could_be_seen_on_them() -> None:
    images = np.random.default_rng(2).integers(0, 256, (300, 3, 32, 32), np.uint8)
    assert make_thumbnails(images, range(300), 500) is None
    assert make_thumbnails(images[:, :, :4, :4], range(300), 500) is None
    assert made(images[:1, :, :4, :4], [0]).exact


def test_large_images_become_small_and_keep_their_proportions() -> None:
    found = made(np.zeros((2, 3, 300, 200), np.uint8), [5, 9])
    assert (found.width, found.height) == (64, 96)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(InputError, match="1 or 3 channels"):
        make_thumbnails(np.zeros((2, 4, 3, 3), np.uint8), [0, 1], PLENTY)
    with pytest.raises(InputError, match="expected 1 images"):
        make_thumbnails(np.zeros((2, 1, 3, 3), np.uint8), [0], PLENTY)
