"""Pictures and thumbnails within a given room: what fits is there, what does not is said."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doublebubble.errors import RunError
from doublebubble.report.page.media import fit_media
from doublebubble.report.page.run_view import Gallery
from doublebubble.runs.picture_files import picture_path
from doublebubble.runs.store import StoredRun
from tests.report.page.samples import stored

DIGEST = "cd" * 32
PLENTY = 10_000_000


def with_pictures(path: Path, indices: list[int]) -> StoredRun:
    run = stored(path)
    rng = np.random.default_rng(0)
    for index in indices:
        target = picture_path(run.path, index)
        target.parent.mkdir(exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (60, 80, 3), np.uint8)).save(target)
    return run


def gallery(count: int = 10) -> Gallery:
    images = np.random.default_rng(1).integers(0, 256, (count, 1, 8, 8), np.uint8)
    return Gallery(("a", "b", "c"), tuple(range(count)), images)


def size(found: object) -> int:
    return len(str(found))


def test_everything_is_there_where_there_is_room(tmp_path: Path) -> None:
    runs = [with_pictures(tmp_path / "one", [3, 5, 999]), with_pictures(tmp_path / "two", [])]
    found = fit_media(runs, {DIGEST: gallery()}, PLENTY)
    assert [sorted(held) for held in found.pictures] == [[3, 5], []], "999 is no input of the run"
    assert all(uri.startswith("data:image/webp;base64,") for uri in found.pictures[0].values())
    assert list(found.thumbnails) == [DIGEST]
    assert found.notes == ()


@pytest.mark.parametrize("room", [30_000, 12_000, 6_000, 2_000, 0])
def test_no_more_than_the_room_is_taken_and_what_gives_way_is_said(tmp_path: Path, room: int) -> None:
    runs = [with_pictures(tmp_path / "one", list(range(6)))]
    found = fit_media(runs, {DIGEST: gallery()}, room)
    assert size(found.pictures) + size(found.thumbnails) <= room + 200
    assert sorted(found.pictures[0]) == list(range(len(found.pictures[0]))), "the lowest inputs come first"
    missing = 6 - len(found.pictures[0])
    assert any(f"{missing} of 6 drawn pictures did not fit" in note for note in found.notes) == bool(missing)
    left_out = any("Images of the inputs did not fit" in note for note in found.notes)
    assert left_out == (not found.thumbnails)


def test_less_room_never_shows_more(tmp_path: Path) -> None:
    runs = [with_pictures(tmp_path / "one", list(range(6)))]
    shown = [len(fit_media(runs, {}, room).pictures[0]) for room in (0, 2_000, 6_000, 20_000, PLENTY)]
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (0, 6)


def test_a_gallery_without_images_has_no_thumbnails(tmp_path: Path) -> None:
    found = fit_media([stored(tmp_path / "one")], {DIGEST: Gallery(("a", "b"))}, PLENTY)
    assert (found.thumbnails, found.notes) == ({}, ())


def test_a_picture_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    run = with_pictures(tmp_path / "one", [3])
    picture_path(run.path, 3).write_bytes(b"no picture")
    with pytest.raises(RunError, match="expected a picture, it cannot be read"):
        fit_media([run], {}, PLENTY)
