"""The exported CSV comes back as it went, but for the guarantee, which a table cannot carry."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from doublebubble.errors import DataError
from doublebubble.runs.importing import import_csv, import_file
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, StoredRun, read_run
from doublebubble.runs.tables import export_file, export_text, frame, load_run
from doublebubble.types import ABSTAIN
from tests.report.page.samples import stored, stored_paper
from tests.runs.samples import certificate, spec


def there_and_back(path: Path, folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    export_file(read_run(path), "csv", folder / "run.csv")
    import_file(folder / "run.csv", folder / "again")
    return load_run(path), load_run(folder / "again")


@pytest.mark.parametrize("make", [stored, stored_paper])
def test_every_column_but_the_guarantee_comes_back(tmp_path: Path, make: Callable[[Path], StoredRun]) -> None:
    make(tmp_path / "run")
    before, after = there_and_back(tmp_path / "run", tmp_path)
    assert set(after["guarantee"]) == {"unstated"}
    pd.testing.assert_frame_equal(before.drop(columns="guarantee"), after.drop(columns="guarantee"))
    export_file(read_run(tmp_path / "again"), "csv", tmp_path / "again.csv")
    assert import_csv(tmp_path / "again.csv", tmp_path / "third") == len(after)
    assert export_text(read_run(tmp_path / "third"), "csv") == (tmp_path / "again.csv").read_text()


def test_texts_gaps_and_missing_labels_come_back(tmp_path: Path) -> None:
    error = 'input 2: "a", b;\r\nthe second line,\n\u00e9'
    with RunStore(tmp_path / "run", spec("0:4")) as store:
        store.append(certificate(0, 0.1 + 0.2, label=None))
        store.append(certificate(1, 0.0, ABSTAIN, label=7))
        store.append(Record.failed(2, 1, error))
    before, after = there_and_back(tmp_path / "run", tmp_path)
    pd.testing.assert_frame_equal(before.drop(columns="guarantee"), after.drop(columns="guarantee"))
    assert after["error"][2] == error
    assert list(after["selected"]) == [1, 1, ABSTAIN]


HEAD = "index,label,prediction,radius,status,radius_cohen,draws_certify,votes_input\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("idx,label\n1,2\n", "line 1: expected the columns of `export --format csv`, index is missing"),
        (HEAD, "at least one line of results"),
        (HEAD + "0,1,1,0.5,certified,0.5,100\n", "line 2: expected 8 values between commas"),
        (HEAD + "0,1,1,0.5,certified,0.5,100,1:9,7\n", "line 2: expected 8 values between commas"),
        (HEAD + "0,1,1,nan,certified,0.5,100,1:9\n", "line 2: radius"),
        (HEAD + "0,1,1,-1,certified,0.5,100,1:9\n", "line 2: radius"),
        (HEAD + "0,1,-1,0.5,certified,0.5,100,1:9\n", "line 2: .*an input without a prediction has radius 0"),
        (HEAD + "0,1,1,0.5,splendid,0.5,100,1:9\n", "line 2: status"),
        (HEAD + "0,1,1,0.5,certified,far,100,1:9\n", "line 2: radius_cohen: cannot be read, got 'far'"),
        (HEAD + "0,1,1,0.5,certified,0.5,100.5,1:9\n", "line 2: draws_certify: cannot be read"),
        (HEAD + "0,1,1,0.5,certified,0.5,100,9\n", "line 2: votes_input: cannot be read, got '9'"),
        (HEAD + "0,1,1,0.5,certified,0.5,100,1:9\n" * 2, "line 3: input 0 was on an earlier line"),
        (HEAD + '0,1,1,0.5,"certified,0.5,100,1:9\n', "cannot be read as CSV"),
    ],
)
def test_a_wrong_table_is_refused_by_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        import_csv(tmp_path / "bad.csv", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_imported_table_claims_nothing(tmp_path: Path) -> None:
    """Whoever edits the guarantee of a table gains nothing by it."""
    stored(tmp_path / "run")
    table = frame(read_run(tmp_path / "run")).assign(guarantee="exact")
    table.to_csv(tmp_path / "edited.csv", index=False)
    import_csv(tmp_path / "edited.csv", tmp_path / "again")
    assert set(load_run(tmp_path / "again")["guarantee"]) == {"unstated"}
