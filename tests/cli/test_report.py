import re
from pathlib import Path

import pytest

from doublebubble.config import CertifyConfig
from doublebubble.data import load_dataset
from doublebubble.runs.digests import data_digest
from doublebubble.runs.store import RunStore
from tests.cli.calling import call
from tests.runs.samples import certificate, spec


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    data = load_dataset("digits", "test")
    made = spec(
        "3,5,8",
        data_digest=data_digest(data.pixels, data.labels),
        size=len(data),
        num_classes=10,
        config=CertifyConfig(n=100, methods=("cohen", "double")),
    )
    with RunStore(tmp_path / "run", made) as store:
        for index in (3, 5, 8):
            store.append(certificate(index))
    return tmp_path / "run"


def test_report_writes_a_page_with_thumbnails(capsys: pytest.CaptureFixture[str], stored: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    code, printed, err = call(capsys, "report", str(stored), "--out", str(out))
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"{re.escape(str(out))}: [45]\.\d MB, open it in a browser\n", printed)
    assert '"indices":[3,5,8]' in out.read_text()


def test_other_data_are_not_shown_as_the_run_s(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec("0:2", num_classes=10)) as store:
        store.append(certificate(0))
    code, printed, _ = call(capsys, "report", str(tmp_path / "run"), "--out", str(tmp_path / "page.html"))
    assert code == 0
    assert "no thumbnails: the files of digits are not those that the run was made with" in printed
    text = (tmp_path / "page.html").read_text()
    assert '"thumbnails":{}' in text
    assert '"0","1","2","3"' in text  # the classes of digits have names all the same


def test_missing_data_and_imported_runs_are_no_obstacle(
    capsys: pytest.CaptureFixture[str], stored: Path, tmp_path: Path
) -> None:
    with RunStore(tmp_path / "cifar", spec("0:2", dataset="cifar10", num_classes=10)) as store:
        store.append(certificate(0))
    with RunStore(tmp_path / "own", spec("0:2", dataset=f"folder:{tmp_path}/gone", data_digest="0" * 64)) as store:
        store.append(certificate(0))
    call(capsys, "export", str(stored), "--out", str(tmp_path / "a.tsv"))
    call(capsys, "import", str(tmp_path / "a.tsv"), "--out", str(tmp_path / "imported"))
    paths = [str(tmp_path / name) for name in ("imported", "cifar", "own")]
    arguments = ["--out", str(tmp_path / "page.html"), "--data-dir", str(tmp_path / "nothing")]
    code, printed, _ = call(capsys, "report", *paths, *arguments)
    assert code == 0
    assert printed.count("no thumbnails: ") == 2
    assert "guarantee not stated" in (tmp_path / "page.html").read_text()


def test_what_is_no_run_has_no_page(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = call(capsys, "report", str(tmp_path), "--out", str(tmp_path / "page.html"))
    assert code == 1
    assert "expected a run" in err
    assert not (tmp_path / "page.html").exists()
