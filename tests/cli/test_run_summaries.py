"""What is said of runs: the numbers of the records, marked, and the same ones for programs."""

import io
import json
from pathlib import Path

import pytest

from doublebubble.cli.run_summaries import runs_json, show_runs
from doublebubble.runs.store import RunStore, StoredRun, read_run
from doublebubble.terminal import Terminal
from doublebubble.types import ABSTAIN
from tests.report.page.samples import stored_paper
from tests.runs.samples import certificate, spec


def made(path: Path, larger: float = 0.0) -> StoredRun:
    """Four inputs: two correct with radii 0.25 and 0.75, one wrong, one abstained; `larger` is added to all radii."""
    with RunStore(path, spec("0:4")) as store:
        for index, (radius, prediction) in enumerate([(0.25, 1), (0.75, 1), (0.5, 2), (0.0, ABSTAIN)]):
            store.append(certificate(index, radius + (larger if radius else 0.0), prediction, label=1))
    return read_run(path)


def test_programs_get_the_numbers_of_the_records(tmp_path: Path) -> None:
    first, second = runs_json([made(tmp_path / "a"), made(tmp_path / "b", 0.125)])
    summary = first["summary"]
    assert isinstance(summary, dict)
    assert (first["inputs"], first["done"], first["against_first"]) == (4, 4, None)
    assert summary["average_radius"] == 0.25
    assert (summary["abstained"], summary["failed"], summary["guarantees"]) == (1, 0, ["exact"])
    for point in summary["certified_accuracy"]:
        assert point["accuracy"] == sum(radius >= point["radius"] for radius in (0.25, 0.75)) / 4
        assert point["low"] <= point["accuracy"] <= point["high"]
    against = second["against_first"]
    assert isinstance(against, dict)
    assert (against["inputs"], against["larger"], against["smaller"]) == (4, 2, 0)
    assert against["mean_difference"] == 0.0625
    json.dumps([first, second], allow_nan=False)


def test_people_get_the_same_with_marks(tmp_path: Path) -> None:
    screen = io.StringIO()
    console = Terminal()
    console.file = screen
    show_runs(console, [made(tmp_path / "a")])
    assert "not guaranteed" not in screen.getvalue()
    show_runs(console, [stored_paper(tmp_path / "b"), stored_paper(tmp_path / "c")])
    text = screen.getvalue()
    assert "average certified radius 0.2500; abstained 1 of 4 (25.0%)" in text
    assert "certified accuracy (not guaranteed)" in text
    (against,) = [line for line in text.splitlines() if " against " in line]
    assert against.endswith("(not guaranteed)")


def test_a_run_without_records_has_no_numbers(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec("0:4")):
        pass
    (told,) = runs_json([read_run(tmp_path / "run")])
    assert (told["done"], told["summary"]) == (0, None)


def test_radii_are_rounded_down_and_intervals_outward_as_on_the_page(tmp_path: Path) -> None:
    screen, console = io.StringIO(), Terminal()
    console.file = screen
    show_runs(console, [made(tmp_path / "a", larger=0.00015)], asked=[0.2])
    text = screen.getvalue()
    assert "average certified radius 0.2500;" in text  # 0.250075
    assert "6.7 to 93.3 %" in text  # two of four: 6.759 to 93.241 %, by Clopper and Pearson


def test_runs_that_cannot_be_compared_are_shown_all_the_same(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run-with-other-labels", spec("0:4")) as store:
        store.append(certificate(0, 0.25, 1, label=2))
    screen = io.StringIO()
    console = Terminal()
    console.file = screen
    runs = [made(tmp_path / "a"), read_run(tmp_path / "run-with-other-labels"), made(tmp_path / "c")]
    show_runs(console, runs)
    against = [line for line in screen.getvalue().splitlines() if " against " in line]
    assert len(against) == 2
    assert "input 0 has two different labels" in against[0]
    assert "4 common inputs" in against[1]
    assert screen.getvalue().count("each radius holds") == 3
    assert "…" not in screen.getvalue()  # no name of a run is cut short
    _, other, third = runs_json(runs)
    assert other["against_first"] == {
        "error": "comparison: expected runs on the same data, input 0 has two different labels"
    }
    assert isinstance(third["against_first"], dict)
    assert third["against_first"]["inputs"] == 4


def test_a_table_of_runs_fits_a_terminal_and_cuts_no_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    screen, console = io.StringIO(), Terminal()
    console.file, console.width = screen, 80
    show_runs(console, [made(Path("imported")), made(Path("b"))])
    show_runs(console, [stored_paper(Path("paper")), made(Path("c"))])
    tables = [
        part[part.rindex("┏") :] for part in screen.getvalue().split("└") if "average" in part and "sigma" in part
    ]
    text = "".join(tables)
    assert all(word in text for word in ("imported", "paper", "(not", "guaranteed)", "0.2500"))
    assert max(len(line) for line in text.splitlines()) <= 80


def test_a_run_without_labels_has_radii_and_no_accuracy(tmp_path: Path) -> None:
    with RunStore(tmp_path / "bare", spec("0:2")) as store:
        store.append(certificate(0, 0.25, 1, label=None))
        store.append(certificate(1, 0.5, 1, label=None))
    screen, console = io.StringIO(), Terminal()
    console.file = screen
    bare = read_run(tmp_path / "bare")
    show_runs(console, [bare])
    assert "mean radius of all inputs 0.3750; no labels" in screen.getvalue()
    assert "accuracy" not in screen.getvalue().replace("no accuracy", "")
    assert "each radius holds" in screen.getvalue()
    show_runs(console, [made(tmp_path / "a"), bare])
    assert "average certified radius 0.2500" in screen.getvalue()
    (told,) = runs_json([bare])
    assert (told["done"], told["summary"]) == (2, None)
