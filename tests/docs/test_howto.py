"""The quick start and the how-to pages: what a reader pastes runs as it stands, in ten lines at most."""

import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest
import torch
from PIL import Image

from doublebubble.models import ModelCard, build, save_model
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import read_run
from tests.docs.test_examples import DOCS, blocks, call

MY_FILE = """
import torch


def make():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear({numbers}, {classes})).eval()
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_file", raising=False)
    return tmp_path


def paste(page: str) -> None:
    """Run the one Python example of a page as a script of its own."""
    (text,) = blocks(page, "python")
    assert len(text.splitlines()) <= 10
    Path("example.py").write_text(text)
    runpy.run_path("example.py")


def save_digits_model(folder: Path) -> None:
    """A model folder as `doublebubble train` writes it; its weights are as they were made."""
    model = build("cnn", (1, 8, 8), 10, (0.3,), (0.4,)).eval()
    classes = tuple(str(digit) for digit in range(10))
    folder.mkdir(parents=True)
    card = ModelCard(
        arch="cnn",
        dataset="digits",
        shape=(1, 8, 8),
        classes=classes,
        mean=(0.3,),
        std=(0.4,),
        sigma=0.5,
        method="gaussian",
        epoch=1,
    )
    save_model(folder, model, card)


def photos(classes: list[str]) -> None:
    for number, name in enumerate(classes):
        Path("photos", name).mkdir(parents=True)
        pixels = torch.full((32, 32, 3), 40 * number, dtype=torch.uint8)
        Image.fromarray(pixels.numpy()).save(Path("photos", name, "1.png"))


pytestmark = pytest.mark.filterwarnings("ignore:the model names .* no better than guessing")


def test_the_quick_start(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_digits_model(here / "demo-out" / "sigma-0.5" / "model")
    paste("quickstart.md")
    assert "20 of 20 inputs" in capsys.readouterr().out
    assert (here / "page.html").stat().st_size > 10_000


def test_your_own_model(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paste("howto/own_model.md")
    assert "5 of 5 inputs" in capsys.readouterr().out
    Path("my_file.py").write_text(MY_FILE.format(numbers=64, classes=10))
    (command,) = blocks("howto/own_model.md", "bash")
    call(command)
    assert len(read_run(here / "run").records) == 5


def test_a_folder_that_lacks_a_class(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    photos(["cat", "dog"])
    paste("howto/own_folder.md")
    assert "2 of 2 inputs" in capsys.readouterr().out
    Path("my_file.py").write_text(MY_FILE.format(numbers=3 * 32 * 32, classes=3))
    Path("classes.txt").write_text("bird\ncat\ndog\n")
    (command,) = blocks("howto/own_folder.md", "bash")
    call(command)
    run = read_run(here / "run")
    assert isinstance(run.spec, RunSpec)
    assert run.spec.classes == ("bird", "cat", "dog")
    assert [record.label for record in run.records] == [1, 2]


def test_a_loader(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paste("howto/dataloader.md")
    assert "5 of 5 inputs" in capsys.readouterr().out


def test_stopping_resuming_and_comparing(here: Path) -> None:
    save_digits_model(here / "digits-0.5")
    first, *saved = (line for block in blocks("howto/resume.md", "bash") for line in block.splitlines())
    few = "--indices 0:2 --methods cohen"  # the whole data set would take minutes
    for line in (first, *saved):
        call(f"{line} {few}" if "--config" not in line else line)
    assert [record.index for record in read_run(here / "run").records] == [0, 1]
    for name in ("run-a", "run-b"):
        shutil.copytree(here / "run", here / name)
    for line in blocks("howto/compare_models.md", "bash")[0].splitlines():
        call(line)
    assert "Runs compared" in (here / "compared.html").read_text()


def test_no_page_shows_python_that_names_what_it_does_not_define() -> None:
    """Whatever can be pasted here brings its own model and data; pages that show a form of call say so as text."""
    pages = {page.name for page in (DOCS / "howto").glob("*.md") if re.search(r"^```python$", page.read_text(), re.M)}
    assert pages == {"own_model.md", "own_folder.md", "dataloader.md"}  # each is run above
