"""Every example of the documentation on runs, and of the help of the commands around them, is executed here."""

import importlib.util
import re
import runpy
import shlex
from pathlib import Path

import pytest
from PIL import Image

from docs import generate_help
from doublebubble.cli import app, main
from doublebubble.data import load_dataset
from doublebubble.runs.store import read_run

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, kind: str) -> list[str]:
    found = re.findall(rf"^```{kind}\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no {kind} block"
    return found


def call(line: str) -> None:
    words = shlex.split(line)
    assert words[0] == "doublebubble"
    with pytest.raises(SystemExit) as exit_:
        main(words[1:])
    assert exit_.value.code == 0, line


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_on_runs(here: Path) -> None:
    for block in blocks("runs.md", "bash"):
        for line in block.splitlines():
            call(line)
    for number, block in enumerate(blocks("runs.md", "python")):
        (here / f"example{number}.py").write_text(block)
        runpy.run_path(str(here / f"example{number}.py"))
    assert len(read_run(here / "run").records) == 20


def test_the_page_on_pictures(here: Path) -> None:
    for block in blocks("pictures.md", "bash"):
        for line in block.splitlines():
            call(line)
    assert (here / "three.png").read_bytes() == (here / "run" / "pictures" / "3.png").read_bytes()


def test_the_page_on_scaling(here: Path) -> None:
    with_ray, merging = blocks("scaling.md", "bash")
    training, on_ray = with_ray.splitlines()
    call(training)
    if importlib.util.find_spec("ray") is None:
        on_ray = on_ray.replace("--engine ray --workers 2", "--engine local")
    call(on_ray)
    (shard,) = blocks("scaling.md", "slurm")
    for number in range(4):
        call(shard.replace("$SLURM_ARRAY_TASK_ID", str(number)))
    for line in merging.splitlines():
        call(line)
    merged = {record.index: record.without_time() for record in read_run(here / "whole").records}
    assert sorted(merged) == list(range(40))
    for record in read_run(here / "ray-run").records:
        assert record.without_time() == merged[record.index]


def test_the_page_on_reports(here: Path) -> None:
    for block in blocks("report.md", "bash"):
        for line in block.splitlines():
            call(line)
    text = (here / "report.html").read_text()
    assert "Which sigma for which radius" in text
    assert "Runs compared" in text


def test_the_page_on_reproducing(here: Path) -> None:
    winners, intervals = blocks("reproduce.md", "bash")[0].splitlines()
    call(f"{winners} --inputs 1 --epochs 1")  # the whole of it is what tests/cli/test_reproduce.py does
    call(intervals)
    assert intervals == example("reproduce")
    assert (here / "reproduced" / "winners" / "winners-digits.png").exists()
    assert (here / "reproduced" / "interval-cost" / "interval-cost.tex").exists()


def example(name: str) -> str:
    text = " ".join(generate_help.help_text((name,)).split())
    found = re.search(r"Example: (doublebubble .*?) ╭", text)
    assert found, f"{name} has no example"
    return found[1]


def test_the_examples_of_the_help(here: Path) -> None:
    call("doublebubble train --dataset digits --sigma 0.5 --epochs 2 --out digits-0.5")
    pixels = load_dataset("digits", "test").pixels[:, 0].numpy()
    for number, name in enumerate(("three", "seven")):
        Image.fromarray(pixels[number] * 15).save(here / f"{name}.png")
    for name in ("certify", "predict", "runs", "export", "report"):
        call(example(name))
    call(f"{example('picture')} --resolution 9 --draws 32")
    call(f"{example('audit')} --n 2000 --steps 2 --restarts 1")
    (here / "run.tsv").rename(here / "theirs.tsv")
    call(example("import"))
    for number in range(2):
        shard = f"--indices {number}:5:2 --out shard-{number}"
        call(example("certify").replace("--indices 0:5 --out run", shard))
    call(example("merge"))
    assert len(read_run(here / "whole").records) == 5
    assert len(read_run(here / "theirs").records) == 5


def test_the_page_of_commands_is_what_the_commands_print() -> None:
    assert generate_help.PAGE.read_text() == generate_help.page(), "run docs/generate_help.py"
    assert ("certify",) in generate_help.command_names()
    assert app.info.name == "doublebubble"
