from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doublebubble.errors import RunError
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, read_run
from doublebubble.runs.tables import export_file, export_text, load_run
from doublebubble.types import ABSTAIN
from tests.runs.samples import certificate, spec


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    with RunStore(path, spec()) as store:
        store.append(certificate(4, radius=0.7654329, prediction=1, label=1))
        store.append(certificate(0, radius=0.25, prediction=2, label=1))
        store.append(certificate(2, radius=0.0, prediction=ABSTAIN, label=1))
        store.append(Record.failed(3, 0, "input 3: expected finite values"))
    return path


def test_the_frame_has_a_row_for_every_input_in_order(run: Path) -> None:
    table = load_run(str(run))
    assert list(table["index"]) == [0, 2, 3, 4]
    assert list(table["correct"]) == [False, False, False, True]
    assert list(table["radius"]) == [0.25, 0.0, 0.0, 0.765432]
    assert list(table["status"]) == ["certified", "not_separated", "failed", "certified"]
    assert list(table["draws"]) == [110, 110, 0, 110]
    assert table["radius_double"].tolist()[3] == 0.255144
    assert pd.isna(table["radius_double"].tolist()[2])
    assert table["seconds_certify"].tolist()[0] == 1.0
    assert list(table["selected"]) == [1, 1, ABSTAIN, 1]  # also where the plan abstained
    assert table["error"].tolist()[2] == "input 3: expected finite values"
    assert table.attrs["run"] == str(run)


def test_tsv_is_what_the_fields_scripts_read_and_never_rounded_up(run: Path) -> None:
    assert export_text(read_run(run), "tsv") == (
        "idx\tlabel\tpredict\tradius\tcorrect\ttime\n"
        "0\t1\t2\t0.250000\t0\t1.500\n"
        "2\t1\t-1\t0.000000\t0\t1.500\n"
        "3\t0\t-1\t0.000000\t0\t0.000\n"
        "4\t1\t1\t0.765432\t1\t1.500\n"
    )


def test_csv_parquet_and_jsonl_give_everything_back(run: Path, tmp_path: Path) -> None:
    table = load_run(run)
    for kind in ("csv", "parquet"):
        path = tmp_path / f"run.{kind}"
        export_file(read_run(run), kind, path)
        back = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
        assert list(back.columns) == list(table.columns)
        for column in ("index", "label", "prediction", "radius", "correct", "status", "seconds"):
            assert back[column].tolist() == table[column].tolist()
    lines = export_text(read_run(run), "jsonl").splitlines()
    assert [Record.model_validate_json(line) for line in lines] == sorted(
        read_run(run).records, key=lambda record: record.index
    )


def test_missing_labels_are_kept_missing_and_refused_by_tsv(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec()) as store:
        store.append(certificate(1, label=None))
    assert pd.isna(load_run(tmp_path / "run")["correct"][0])
    with pytest.raises(RunError, match="needs labels, input 1 has none"):
        export_text(read_run(tmp_path / "run"), "tsv")


def test_an_empty_run_and_an_unwritable_export_are_clear_errors(run: Path, tmp_path: Path) -> None:
    with RunStore(tmp_path / "empty", spec()):
        pass
    with pytest.raises(RunError, match="holds no record yet"):
        load_run(tmp_path / "empty")
    with pytest.raises(RunError, match="could not be written"):
        export_file(read_run(run), "csv", tmp_path / "nowhere" / "a.csv")


def test_the_selected_class_is_the_lowest_among_equals(tmp_path: Path) -> None:
    votes = np.array([0, 40, 40], np.int64)
    with RunStore(tmp_path / "run", spec()) as store:
        store.append(replace(certificate(0), counts={"select": votes, "certify": votes[::-1]}))
    assert list(load_run(tmp_path / "run")["selected"]) == [1]
