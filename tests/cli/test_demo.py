"""`doublebubble demo`: from nothing to a page, and where it is; again, it finds what it made."""

import re
from pathlib import Path

import pytest

from doublebubble.runs.picture_files import stored_pictures
from doublebubble.runs.store import read_run
from tests.cli.calling import call


@pytest.mark.slow
def test_the_demo_ends_with_a_page_and_says_where_it_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = ("demo", "--out", str(tmp_path), "--inputs", "3")
    code, out, err = call(capsys, *command)
    assert (code, err) == (0, "")
    folder = tmp_path / "sigma-0.5"
    page = Path(out.splitlines()[-1].split(": ")[-1])
    assert page == folder / "report.html"
    assert page.read_text().startswith("<!doctype html>")
    assert {path.suffix for path in folder.glob("certified-accuracy.*")} == {".png", ".pdf", ".md"}
    run = read_run(folder / "run-3")
    assert [record.index for record in run.records] == [0, 1, 2]
    assert stored_pictures(run.path)
    for path in stored_pictures(run.path).values():
        assert str(path) in out
    said = re.search(r"input 0, a handwritten (\d), is classified as (\d), .* below (\d\.\d+) ", out)
    assert said is not None
    first = run.records[0]
    assert (int(said[1]), int(said[2]), float(said[3])) == (first.label, first.prediction, first.radius)
    weights = (folder / "model" / "model.safetensors").stat().st_mtime_ns
    code, out, err = call(capsys, *command)
    assert (code, err) == (0, "")
    assert "epoch 1/" not in out
    assert (folder / "model" / "model.safetensors").stat().st_mtime_ns == weights
    assert read_run(folder / "run-3").records == run.records
