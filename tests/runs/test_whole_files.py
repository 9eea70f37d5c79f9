from pathlib import Path

import pytest

from doublebubble.errors import RunError
from doublebubble.runs.whole_files import put_file


def test_a_file_takes_the_place_of_an_earlier_one_and_its_folder_is_made(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "one.txt"
    assert put_file(path, b"one") == path
    assert put_file(path, b"two").read_bytes() == b"two"
    assert [found.name for found in path.parent.iterdir()] == ["one.txt"]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    with pytest.raises(RunError, match=r"one\.txt: cannot be written"):
        put_file(tmp_path / "folder" / "one.txt", b"")
