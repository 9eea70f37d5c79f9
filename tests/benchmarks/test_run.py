"""The one command: which parts it runs, and what it saves."""

import importlib.util
import inspect
import json
from pathlib import Path

import pytest

from benchmarks import run
from benchmarks.rows import Row


def test_every_part_is_a_module_with_a_run_of_its_own() -> None:
    for name in run.PARTS:
        assert importlib.util.find_spec(f"benchmarks.{name}") is not None
        if name != "peers":  # it needs the toolbox
            assert list(inspect.signature(importlib.import_module(f"benchmarks.{name}").run).parameters) == ["quick"]


def test_parts_are_chosen_by_name_in_the_order_of_the_table() -> None:
    assert run.chosen_parts(None) == list(run.PARTS)
    assert run.chosen_parts("engines,memory") == ["memory", "engines"]
    with pytest.raises(SystemExit, match=r"expected some of memory, throughput, .*, got speed"):
        run.chosen_parts("memory,speed")


def test_one_part_alone_is_run_printed_and_saved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from benchmarks import growth

    monkeypatch.setattr(growth, "run", lambda quick: [Row("how fast", 0.5 if quick else 2.0, at_least=1.0)])
    monkeypatch.setattr("sys.argv", ["run", "--only", "growth", "--quick", "--out", str(tmp_path)])
    assert run.main() == 1, "the target is missed"
    assert "how fast" in capsys.readouterr().out
    saved = json.loads((tmp_path / "bench-growth.json").read_text())
    assert (saved["rows"][0]["value"], saved["settings"]["quick"], saved["settings"]["threads"]) == (0.5, True, 1)
    assert "| how fast | 0.5 | at least 1 | False |" in (tmp_path / "bench-growth.md").read_text()
    monkeypatch.setattr("sys.argv", ["run", "--only", "growth", "--out", str(tmp_path)])
    assert run.main() == 0
