"""Files appear whole, with the modes of the umask, and never where a link leads."""

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from doublebubble import files
from doublebubble.files import largest_unpacked, make_folder, open_plain, read_plain, write_all, write_whole


@pytest.fixture(params=[0o077, 0o002, 0o022])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    mask: int = request.param
    before = os.umask(mask)
    yield mask
    os.umask(before)


def test_modes_are_those_of_the_umask(tmp_path: Path, umask: int) -> None:
    write_whole(tmp_path / "whole", b"x")
    os.close(open_plain(tmp_path / "plain", os.O_WRONLY))
    make_folder(tmp_path / "folder")
    assert stat.S_IMODE((tmp_path / "whole").stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE((tmp_path / "plain").stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o777 & ~umask


@pytest.mark.parametrize("name", ["file", "file.tmp"])
def test_a_link_is_replaced_and_what_it_leads_to_left(name: str, tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / name).symlink_to(tmp_path / "precious")
    write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert (tmp_path / "file").read_bytes() == b"new"
    assert not (tmp_path / "file").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "precious"]


def test_links_pipes_and_folders_are_not_appended_to(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").symlink_to(tmp_path)
    for name in ("link", "dangling", "pipe"):
        with pytest.raises(OSError, match="link or no ordinary file"):
            open_plain(tmp_path / name, os.O_WRONLY | os.O_APPEND)
    with pytest.raises(OSError, match="link or no ordinary file"):
        make_folder(tmp_path / "folder")
    assert not (tmp_path / "nowhere").exists()


def test_a_pipe_with_a_reader_is_no_file_either(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(OSError, match="link or no ordinary file"):
        open_plain(tmp_path / "pipe", os.O_WRONLY)
    os.close(reader)


def test_reading_a_pipe_is_an_error_and_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found: list[str] = []

    def read() -> None:
        try:
            read_plain(tmp_path / "pipe")
        except OSError as error:
            found.append(str(error))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(20)
    assert "not an ordinary file" in found[0]
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_plain(tmp_path / "link") == b"abc"


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_whole(tmp_path / "file", b"old")

    def full(file: int, content: bytes) -> None:
        write_all(file, content[:1])
        raise OSError("no space left")

    monkeypatch.setattr(files, "write_all", full)
    with pytest.raises(OSError, match="no space left"):
        write_whole(tmp_path / "file", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"old")]


def test_what_may_be_unpacked_grows_with_what_is_packed() -> None:
    assert largest_unpacked(0) == 256 * 2**20
    assert largest_unpacked(2**30) == 32 * 2**30
