import json
from pathlib import Path

import pandas as pd
import pytest

from doublebubble.runs.store import RunStore
from tests.cli.calling import call
from tests.runs.samples import certificate, spec


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    with RunStore(tmp_path / "run", spec("0:4", centres=False)) as store:
        for index in range(3):
            store.append(certificate(index, radius=0.3 * (index + 1)))
    return tmp_path / "run"


def test_runs_shows_what_a_run_holds(capsys: pytest.CaptureFixture[str], stored: Path) -> None:
    code, out, _ = call(capsys, "runs", str(stored))
    assert code == 0
    for part in ("3 of 4 done (0:4)", "digits, test split", "sigma 0.5", "alpha", "cannot be verified again", "66.7%"):
        assert part in out


def test_runs_compares_and_speaks_json(capsys: pytest.CaptureFixture[str], stored: Path, tmp_path: Path) -> None:
    with RunStore(tmp_path / "other", spec("0:4", sigma=0.25)) as store:
        store.append(certificate(0, radius=0.5))
        store.append(certificate(1, radius=0.2))
    _, out, _ = call(capsys, "runs", str(stored), str(tmp_path / "other"))
    assert "radius larger on 1, smaller on 1 of 2 common inputs, on average -0.1000" in out
    _, out, _ = call(capsys, "runs", "--json", str(stored), str(tmp_path / "other"))
    first, second = json.loads(out)
    assert first["against_first"] is None
    assert second["against_first"]["inputs"] == 2
    assert first["summary"]["average_radius"] == pytest.approx(0.6, abs=2e-6)


def test_an_empty_run_and_a_torn_one_are_shown(
    capsys: pytest.CaptureFixture[str], stored: Path, tmp_path: Path
) -> None:
    with RunStore(tmp_path / "empty", spec()):
        pass
    code, out, _ = call(capsys, "runs", str(tmp_path / "empty"))
    assert code == 0
    assert "0 of 20 done" in out
    with (stored / "records.jsonl").open("ab") as file:
        file.write(b'{"index"')
    _, out, _ = call(capsys, "runs", str(stored))
    assert "cut short" in out


def test_export_writes_files_and_standard_output(
    capsys: pytest.CaptureFixture[str], stored: Path, tmp_path: Path
) -> None:
    code, out, _ = call(capsys, "export", str(stored))
    assert code == 0
    assert out.splitlines()[0] == "idx\tlabel\tpredict\tradius\tcorrect\ttime"
    assert len(out.splitlines()) == 4
    for kind in ("tsv", "csv", "jsonl", "parquet"):
        assert call(capsys, "export", str(stored), "--format", kind, "--out", str(tmp_path / kind)) == (0, "", "")
    assert len(pd.read_parquet(tmp_path / "parquet")) == 3
    assert call(capsys, "export", str(stored), "--format", "parquet")[0] == 2
    assert call(capsys, "export", str(stored), "--format", "xml")[0] == 2
    assert call(capsys, "export", str(tmp_path / "nothing"))[0] == 1


def test_the_format_of_an_export_is_that_of_the_file_unless_it_is_said(
    capsys: pytest.CaptureFixture[str], stored: Path, tmp_path: Path
) -> None:
    for name, kind in (("a.csv", "csv"), ("b.JSONL", "jsonl"), ("c", "tsv"), ("d.tsv", "tsv")):
        call(capsys, "export", str(stored), "--format", kind, "--out", str(tmp_path / "said"))
        assert call(capsys, "export", str(stored), "--out", str(tmp_path / name)) == (0, "", "")
        assert (tmp_path / name).read_bytes() == (tmp_path / "said").read_bytes()
    call(capsys, "export", str(stored), "--format", "tsv", "--out", str(tmp_path / "e.csv"))
    assert (tmp_path / "e.csv").read_bytes() == (tmp_path / "d.tsv").read_bytes()
    code, _, err = call(capsys, "export", str(stored), "--out", str(tmp_path / "f.xml"))
    assert code == 2
    assert "expected one of tsv, csv, parquet, jsonl, got 'xml'" in err


def test_import_takes_an_export_back(capsys: pytest.CaptureFixture[str], stored: Path, tmp_path: Path) -> None:
    call(capsys, "export", str(stored), "--out", str(tmp_path / "a.tsv"))
    code, out, _ = call(capsys, "import", str(tmp_path / "a.tsv"), "--out", str(tmp_path / "again"))
    assert (code, out) == (0, f"{tmp_path / 'again'}: 3 inputs imported\n")
    _, out, _ = call(capsys, "runs", str(tmp_path / "again"))
    assert "imported from" in out
    assert "known to the tool that made it, not here" in out
