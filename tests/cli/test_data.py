"""The commands about data sets: list, verify, download."""

import hashlib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from doublebubble.data.download import PUBLISHED_FILES, PublishedFile
from tests.cli.calling import call


def test_verify_and_list_without_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "data", "verify", "digits")
    assert code == 0
    assert "digits, test: 359 images, 10 classes, right" in out
    code, out, _ = call(capsys, "data", "list", "--data-dir", str(tmp_path))
    assert code == 0
    assert all(name in out for name in ("digits", "mnist", "fashion-mnist", "cifar10", "tiny-imagenet", "folder:PATH"))


def test_download_from_a_local_server(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"hello" * 1000

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Silence."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        pin = hashlib.sha256(content).hexdigest()
        source = PublishedFile(f"http://127.0.0.1:{server.server_port}/f", pin, "FashionMNIST/raw/f.gz")
        monkeypatch.setitem(PUBLISHED_FILES, "fashion-mnist", (source,))
        code, out, err = call(capsys, "data", "download", "fashion-mnist", "--data-dir", str(tmp_path))
        server.shutdown()
        thread.join()
    assert (code, err) == (0, "")
    assert "f.gz: done" in out
    assert (tmp_path / "FashionMNIST/raw/f.gz").read_bytes() == content
