"""Downloads from a server on this machine: complete, broken off and resumed, wrong, unreachable."""

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from doublebubble.data import download as module
from doublebubble.data.download import PUBLISHED_FILES, UNPACKED, PublishedFile, download, wrong_files
from doublebubble.errors import DataError

CONTENT = np.random.default_rng(8).bytes(1_000_000)


class Server(ThreadingHTTPServer):
    """Serves `content` at any path; breaks off after `break_after` bytes of an answer, if set."""

    daemon_threads = True
    content = CONTENT
    break_after: int | None = None
    ranges = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str | None] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        body, status = self.server.content, 200
        if wanted and self.server.ranges:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            body, status = body[start:], 206 if start < len(body) else 416
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.break_after])

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def offer(monkeypatch: pytest.MonkeyPatch, server: Server, target: str, unpacks_to: str | None = None) -> None:
    """Make `mnist` one file on the local server, pinned to its content."""
    pin = hashlib.sha256(server.content).hexdigest()
    source = PublishedFile(f"http://127.0.0.1:{server.server_port}/file", pin, target, unpacks_to)
    monkeypatch.setitem(PUBLISHED_FILES, "mnist", (source,))


def silent(name: str, have: int, total: int | None) -> None:
    """No report."""


def test_a_file_comes_whole_and_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    offer(monkeypatch, server, "MNIST/raw/file.gz")
    seen: list[tuple[str, int, int | None]] = []
    assert download("mnist", tmp_path, lambda *report: seen.append(report)) == [tmp_path / "MNIST/raw/file.gz"]
    assert (tmp_path / "MNIST/raw/file.gz").read_bytes() == CONTENT
    assert seen[-1] == ("file.gz", len(CONTENT), len(CONTENT))
    download("mnist", tmp_path, silent)
    assert server.asked == [None]
    assert [path.name for path in (tmp_path / "MNIST/raw").iterdir()] == ["file.gz"]


def test_a_broken_download_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    offer(monkeypatch, server, "MNIST/raw/file.gz")
    server.break_after = 300_000
    for _ in range(3):
        with pytest.raises(DataError, match="cannot be had"):
            download("mnist", tmp_path, silent)
        assert not (tmp_path / "MNIST/raw/file.gz").exists()
    server.break_after = None
    download("mnist", tmp_path, silent)
    assert (tmp_path / "MNIST/raw/file.gz").read_bytes() == CONTENT
    starts = [0 if asked is None else int(asked[6:-1]) for asked in server.asked]
    assert starts[0] == 0
    assert all(0 < later - earlier <= 300_000 for earlier, later in pairwise(starts))


def test_a_server_without_ranges_starts_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    offer(monkeypatch, server, "MNIST/raw/file.gz")
    server.ranges = False
    part = tmp_path / "MNIST/raw/file.gz.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * 1000)
    download("mnist", tmp_path, silent)
    assert (tmp_path / "MNIST/raw/file.gz").read_bytes() == CONTENT


def test_a_part_that_is_already_all_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    offer(monkeypatch, server, "MNIST/raw/file.gz")
    part = tmp_path / "MNIST/raw/file.gz.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT)
    download("mnist", tmp_path, silent)
    assert (tmp_path / "MNIST/raw/file.gz").read_bytes() == CONTENT


@pytest.mark.parametrize("already", [b"", b"y" * 10, CONTENT + b"too long"])
def test_wrong_content_is_refused_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server, already: bytes
) -> None:
    offer(monkeypatch, server, "MNIST/raw/file.gz")
    server.content = CONTENT[:-1] + b"!"
    folder = tmp_path / "MNIST/raw"
    if already:
        folder.mkdir(parents=True)
        (folder / "file.gz.part").write_bytes(already)
    with pytest.raises(DataError, match="nothing was kept"):
        download("mnist", tmp_path, silent)
    assert list(folder.iterdir()) == []
    server.content = CONTENT
    download("mnist", tmp_path, silent)
    assert (folder / "file.gz").read_bytes() == CONTENT


def test_without_a_network_one_sentence_says_what_to_put_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    offer(monkeypatch, server, "MNIST/raw/file.gz")
    (source,) = PUBLISHED_FILES["mnist"]
    monkeypatch.setitem(
        PUBLISHED_FILES, "mnist", (PublishedFile("http://127.0.0.1:9/file", source.sha256, source.target),)
    )
    with pytest.raises(DataError, match=r"or put by hand under .*: MNIST/raw/train-images-idx3-ubyte") as caught:
        download("mnist", tmp_path, silent)
    assert "\n" not in str(caught.value)


def archive(kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as zipped:
            zipped.writestr("inner/a.txt", "hello")
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            member = tarfile.TarInfo("inner/a.txt")
            member.size = 5
            tar.addfile(member, io.BytesIO(b"hello"))
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_archives_are_unpacked_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server, kind: str
) -> None:
    server.content = archive(kind)
    offer(monkeypatch, server, f"file.{kind}", unpacks_to="inner")
    assert download("mnist", tmp_path, silent) == [tmp_path / "inner"]
    assert (tmp_path / "inner" / "a.txt").read_text() == "hello"
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    download("mnist", tmp_path, silent)
    assert len(server.asked) == 1


def test_an_archive_without_its_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    server.content = archive("zip")
    offer(monkeypatch, server, "file.zip", unpacks_to="other")
    with pytest.raises(DataError, match="expected a folder other in it, found none"):
        download("mnist", tmp_path, silent)
    assert not (tmp_path / "other").exists()


def test_files_brought_along_are_checked_against_their_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    relative = "MNIST/raw/t10k-labels-idx1-ubyte"
    (tmp_path / relative).parent.mkdir(parents=True)
    (tmp_path / relative).write_bytes(b"changed")
    (wrong,) = wrong_files("mnist", tmp_path)
    assert wrong.startswith(f"{tmp_path / relative}: expected SHA-256 ff7bcfd4")
    monkeypatch.setitem(UNPACKED, relative, hashlib.sha256(b"changed").hexdigest())
    assert wrong_files("mnist", tmp_path) == []
    assert wrong_files("cifar10", tmp_path) == []
    assert module.sha256(tmp_path / relative) == UNPACKED[relative]


def test_every_pin_is_a_sha256_and_no_two_files_share_one() -> None:
    pins = [source.sha256 for sources in PUBLISHED_FILES.values() for source in sources] + list(UNPACKED.values())
    assert all(len(bytes.fromhex(pin)) == 32 for pin in pins)
    assert len(set(pins)) == len(pins)
