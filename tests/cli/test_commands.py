"""The command: help with an example everywhere, exit codes, one sentence on stderr, plain lines without a terminal."""

import hashlib
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

import doublebubble
from doublebubble.data.download import SOURCES, Source
from doublebubble.training import EpochMetrics, loop
from doublebubble.training.metrics import append_metrics
from tests.cli.calling import call


@pytest.mark.parametrize("command", [("train",), ("data", "list"), ("data", "download"), ("data", "verify")])
def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    code, out, _ = call(capsys, *command, "--help")
    assert code == 0
    assert f"Example: doublebubble {' '.join(command)}" in " ".join(out.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("train",),
        ("train", "--sigma", "x", "--out", "y"),
        ("train", "--sigma", "0.5", "--out", "y", "--device", "tpu"),
        ("data", "verify", "imagenet"),
    ],
)
def test_wrong_use_exits_2(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert err
    assert "Traceback" not in out + err


def test_failure_exits_1_with_one_sentence_and_a_traceback_only_on_request(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = call(capsys, "data", "verify", "mnist", "--data-dir", str(tmp_path))
    assert (code, out) == (1, "")
    assert err.startswith("error: mnist: no files under")
    assert err.count("\n") == 1
    code, _, err = call(capsys, "data", "verify", "mnist", "--data-dir", str(tmp_path), "--debug")
    assert code == 1
    assert "Traceback" in err


def test_training_prints_plain_lines_and_resumes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["train", "--sigma", "0.25", "--epochs", "2", "--out", str(tmp_path / "m")]
    code, out, err = call(capsys, *options)
    assert (code, err) == (0, "")
    assert out.startswith("epoch 1/2: loss ")
    assert "noisy accuracy" in out
    assert "left" in out
    assert "on the test images" in out
    code, out, _ = call(capsys, *options)
    assert code == 0
    assert out.startswith("going on after epoch 2/2")
    code, _, err = call(capsys, *options, "--lr", "0.5")
    assert code == 1
    assert "lr was 0.001, now 0.5" in err


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
        source = Source(f"http://127.0.0.1:{server.server_port}/f", pin, "FashionMNIST/raw/f.gz")
        monkeypatch.setitem(SOURCES, "fashion-mnist", (source,))
        code, out, err = call(capsys, "data", "download", "fashion-mnist", "--data-dir", str(tmp_path))
        server.shutdown()
        thread.join()
    assert (code, err) == (0, "")
    assert "f.gz: done" in out
    assert (tmp_path / "FashionMNIST/raw/f.gz").read_bytes() == content


def test_help_does_not_wait_for_torch() -> None:
    """The command's own modules import torch only when a command runs, whatever the package itself re-exports."""
    bare = "import sys, types; package = types.ModuleType('doublebubble'); package.__path__ = [sys.argv[1]]"
    script = f"{bare}; sys.modules['doublebubble'] = package; import doublebubble.cli; sys.exit('torch' in sys.modules)"
    folder = str(Path(doublebubble.__file__).parent)
    assert subprocess.run([sys.executable, "-c", script, folder], check=False).returncode == 0


def test_an_interruption_says_what_is_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(folder: Path, metrics: EpochMetrics) -> None:
        append_metrics(folder, metrics)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "append_metrics", interrupted)
    code, out, _ = call(capsys, "train", "--sigma", "0.25", "--epochs", "2", "--out", str(tmp_path / "m"))
    assert code == 1
    assert "holds the best model so far; the same command goes on from the last epoch" in out
    assert (tmp_path / "m" / "model.safetensors").exists()
