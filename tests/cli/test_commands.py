"""The command: help with an example everywhere, exit codes, one sentence on stderr, plain lines without a terminal."""

import subprocess
import sys
from pathlib import Path

import pytest

import doublebubble
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


def test_help_does_not_wait_for_torch() -> None:
    """The command's own modules import torch only when a command runs, whatever the package itself re-exports."""
    bare = "import sys, types; package = types.ModuleType('doublebubble'); package.__path__ = [sys.argv[1]]"
    script = f"{bare}; sys.modules['doublebubble'] = package; import doublebubble.cli; sys.exit('torch' in sys.modules)"
    folder = str(Path(doublebubble.__file__).parent)
    assert subprocess.run([sys.executable, "-c", script, folder], check=False).returncode == 0
