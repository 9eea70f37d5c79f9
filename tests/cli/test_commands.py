"""The command: help with an example everywhere, exit codes, one sentence on stderr, plain lines without a terminal."""

import operator
import subprocess
import sys
from importlib.metadata import version
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


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "--version")
    assert (code, out.split()) == (0, ["doublebubble", version("doublebubble")])
    assert doublebubble.__version__ == version("doublebubble")


@pytest.mark.parametrize("module", ["doublebubble", "doublebubble.cli"])
def test_importing_waits_for_nothing_heavy(module: str) -> None:
    heavy = ("torch", "scipy", "pandas", "matplotlib", "plotly", "statsmodels", "sklearn", "ray")
    shown = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_other() -> None:
    for name in doublebubble.__all__:
        assert getattr(doublebubble, name) is not None
        assert name in dir(doublebubble)
    with pytest.raises(AttributeError, match="nonsense"):
        operator.attrgetter("nonsense")(doublebubble)
