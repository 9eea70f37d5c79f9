from pathlib import Path

from doublebubble.runs.picture_files import picture_path, stored_pictures


def test_stored_pictures_are_found_by_input_and_other_files_are_left_alone(tmp_path: Path) -> None:
    assert stored_pictures(tmp_path) == {}
    for index in (10, 9, 100):
        picture_path(tmp_path, index).parent.mkdir(exist_ok=True)
        picture_path(tmp_path, index).write_bytes(b"png")
    (tmp_path / "pictures" / "notes.png").write_bytes(b"")
    (tmp_path / "pictures" / "9.txt").write_bytes(b"")
    assert list(stored_pictures(tmp_path).items()) == [(index, picture_path(tmp_path, index)) for index in (9, 10, 100)]
