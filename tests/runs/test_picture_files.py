from pathlib import Path

import pytest

from doublebubble.errors import RunError
from doublebubble.runs.picture_files import picture_path, store_picture, stored_pictures


def test_stored_pictures_are_found_by_input_and_other_files_are_left_alone(tmp_path: Path) -> None:
    assert stored_pictures(tmp_path) == {}
    for index in (10, 9, 100):
        picture_path(tmp_path, index).parent.mkdir(exist_ok=True)
        picture_path(tmp_path, index).write_bytes(b"png")
    (tmp_path / "pictures" / "notes.png").write_bytes(b"")
    (tmp_path / "pictures" / "9.txt").write_bytes(b"")
    assert list(stored_pictures(tmp_path).items()) == [(index, picture_path(tmp_path, index)) for index in (9, 10, 100)]


def test_a_picture_takes_the_place_of_an_earlier_one_whole(tmp_path: Path) -> None:
    store_picture(tmp_path, 3, b"one")
    assert store_picture(tmp_path, 3, b"two").read_bytes() == b"two"
    assert stored_pictures(tmp_path) == {3: picture_path(tmp_path, 3)}
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["3.png"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "pictures").write_text("in the way")
    with pytest.raises(RunError, match=r"3\.png: cannot be written"):
        store_picture(tmp_path, 3, b"png")
