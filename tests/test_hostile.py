"""Runs, models and names from strangers, through everything that writes or prints: nothing is followed or obeyed."""

import functools
import io
import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

import doublebubble as db
from doublebubble.certificate import Certificate
from doublebubble.data import load_dataset
from doublebubble.errors import RunError, SettingError
from doublebubble.models import ModelCard, build, save_model
from doublebubble.report.figure import save
from doublebubble.report.page import write_page
from doublebubble.report.tables import Table, save_table
from doublebubble.runs.picture_files import store_picture, stored_pictures
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, StoredRun, read_run
from doublebubble.runs.tables import EXPORT_FORMATS, export_file
from doublebubble.training import preset, train
from doublebubble.training.metrics import EpochMetrics, append_metrics
from tests.cli.calling import call
from tests.runs.samples import certificate, spec

ESCAPE = "\x1b[2J\x07[/x]\u202e"
TABLE = Table("title", ("column",), (("cell",),))
SHOWN = r"\x1b[2J\x07[/x]\u202e"


def stored(path: Path, *outcomes: Certificate | Record, **changes: Any) -> StoredRun:
    with RunStore(path, spec(**changes)) as store:
        for outcome in outcomes or (certificate(0, centres=1),):
            store.append(outcome)
    return read_run(path)


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return stored(tmp_path / "run")


def card(classes: tuple[str, ...] = ("cat", "dog")) -> ModelCard:
    about = {"arch": "cnn", "dataset": "folder", "shape": (1, 8, 8), "classes": classes, "mean": (0.5,), "std": (0.25,)}
    return ModelCard.model_validate({**about, "sigma": 0.5, "method": "gaussian", "epoch": 1})


class Silent:
    def started(self, epochs_done: int, steps_per_epoch: int) -> None: ...
    def stepped(self, epoch: int, loss: float) -> None: ...
    def finished_epoch(self, metrics: EpochMetrics) -> None: ...


def write_everything(folder: Path) -> None:
    """Every kind of file that this package writes for itself, below one folder."""
    run = stored(folder / "run")
    picture = io.BytesIO()
    Image.new("L", (8, 8)).save(picture, "PNG")
    store_picture(run.path, 0, picture.getvalue())
    for kind in EXPORT_FORMATS:
        export_file(run, kind, folder / f"run.{kind}")
    write_page([run], folder / "page.html")
    save(db.Run.of(run).plot(), folder / "figure")
    save_table(TABLE, folder / "table")
    settings = preset("digits", "gaussian", 0.5, epochs=1, holdout=10)
    digits = load_dataset("digits", "train")
    train(
        settings, type(digits)(digits.info, "train", digits.pixels[:64], digits.labels[:64]), folder / "model", Silent()
    )


@pytest.mark.parametrize("umask", [0o077, 0o002])
def test_all_files_have_the_modes_of_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_everything(tmp_path)
    finally:
        os.umask(before)
    found = {path.relative_to(tmp_path).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert {"run/records.jsonl", "run/.lock", "run/centres/0.npy", "model/model.safetensors", "run.parquet"} <= set(
        found
    )
    folders = {name for name in found if (tmp_path / name).is_dir()}
    assert {found[name] for name in folders} == {0o777 & ~umask}
    assert {found[name] for name in set(found) - folders} == {0o666 & ~umask}


def writers(run: StoredRun) -> dict[str, Callable[[Path], object]]:
    model = build("cnn", (1, 8, 8), 2, (0.5,), (0.25,))
    return {
        "page.html": lambda path: write_page([run], path),
        **{f"x.{kind}": functools.partial(export_file, run, kind) for kind in EXPORT_FORMATS},
        "figure.png": lambda path: save(db.Run.of(run).plot(), path.with_suffix("")),
        "table.tex": lambda path: save_table(TABLE, path.with_suffix("")),
        "model.json": lambda path: save_model(path.parent, model, card()),
        "model.safetensors": lambda path: save_model(path.parent, model, card()),
    }


def test_a_link_where_a_file_goes_is_replaced(run: StoredRun, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    for name, write in writers(run).items():
        for linked in (name, f"{name}.tmp"):
            victim.write_text("precious")
            folder = tmp_path / f"at-{linked}"
            folder.mkdir()
            (folder / linked).symlink_to(victim)
            write(folder / name)
            assert victim.read_text() == "precious", linked
            assert (folder / name).stat().st_size > 0
            assert not any(path.is_symlink() for path in folder.iterdir()), linked


@pytest.mark.parametrize("name", ["records.jsonl", ".lock"])
def test_a_run_appends_to_no_link(run: StoredRun, name: str, tmp_path: Path) -> None:
    moved = (run.path / name).rename(tmp_path / "moved")
    (run.path / name).symlink_to(moved)
    before = moved.read_bytes()
    with (
        pytest.raises(RunError, match=r"link or no ordinary file, and such are not written to"),
        RunStore(run.path, spec()),
    ):
        pass
    assert moved.read_bytes() == before


def test_folders_inside_a_run_are_no_links(run: StoredRun, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (run.path / "pictures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="cannot be written"):
        store_picture(run.path, 3, b"picture")
    (run.path / "centres").rename(tmp_path / "centres")
    (run.path / "centres").symlink_to(tmp_path / "elsewhere")
    with RunStore(run.path, spec()) as store, pytest.raises(RunError, match="link or no ordinary file"):
        store.append(certificate(1, centres=1))
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert len(read_run(run.path).records) == 1


def test_metrics_are_appended_to_no_link_and_linked_pictures_are_not_shown(run: StoredRun, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "metrics.jsonl").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="link or no ordinary file"):
        append_metrics(tmp_path, EpochMetrics(1, 0.0, 0.0, None, 0.0, 0.0))
    assert (tmp_path / "victim").read_text() == "precious"
    store_picture(run.path, 1, b"picture")
    (run.path / "pictures" / "0.png").symlink_to(tmp_path / "victim")
    (run.path / "pictures" / f"{'9' * 5000}.png"[:200]).write_bytes(b"")
    assert list(stored_pictures(run.path)) == [1]


def test_a_folder_that_is_named_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    assert len(stored(tmp_path / "run").records) == 1
    assert (tmp_path / "disk" / "records.jsonl").exists()


# What is refused is left as it was


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_folder_of_somebody_else_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("chapter one")
    before = contents(tmp_path)
    with pytest.raises(RunError, match="is not a run"), RunStore(tmp_path, spec()):
        pass
    assert contents(tmp_path) == before


def test_a_run_of_other_settings_is_left_as_it_was(run: StoredRun) -> None:
    (run.path / ".lock").unlink()
    before = contents(run.path)
    with pytest.raises(RunError, match="another specification"), RunStore(run.path, spec(sigma=0.7)):
        pass
    assert contents(run.path) == before


def test_a_folder_that_could_not_be_begun_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("doublebubble.runs.store.write_whole", full)
    with pytest.raises(RunError, match="no space left"), RunStore(tmp_path / "run", spec()):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_training_that_cannot_be_leaves_nothing(tmp_path: Path) -> None:
    settings = preset("digits", "gaussian", 0.5, arch="lenet")
    with pytest.raises(SettingError, match="at least 16x16"):
        train(settings, load_dataset("digits", "train"), tmp_path / "model", Silent())
    assert not (tmp_path / "model").exists()


# What others wrote is shown, not obeyed


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A run whose every text field would steer a terminal."""
    failure = Record.failed(2, 1, f"the model said {ESCAPE}")
    made = Record.of(certificate(0)).model_copy(update={"method": ESCAPE, "reason": ESCAPE, "radii": {ESCAPE: 0.4}})
    path = tmp_path / f"run{ESCAPE.replace('/', '')}"
    stored(path, made, failure, dataset=ESCAPE, split=ESCAPE, device=ESCAPE, program=ESCAPE)
    return path


@pytest.mark.parametrize("arguments", [("runs",), ("runs", "--json"), ("audit",), ("audit", "--json"), ("report",)])
def test_commands_show_what_a_strange_run_says(
    strange: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    more = ("--out", str(tmp_path / "page.html")) if arguments == ("report",) else ()
    code, out, err = call(capsys, *arguments, str(strange), *more)
    assert code in (0, 1)
    for steering in ("\x1b", "\x07", "\u202e"):
        assert steering not in out + err
    assert "x1b" in out + err or "u001b" in out + err


def test_a_terminal_gets_an_export_that_does_not_steer_it_and_a_file_gets_all(
    strange: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, _ = call(capsys, "export", str(strange), "--format", "csv")
    assert "\u202e" in out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    _, out, _ = call(capsys, "export", str(strange), "--format", "csv")
    assert "\x1b" not in out
    assert SHOWN in out


def test_python_shows_them_too(strange: Path) -> None:
    run = db.open_run(strange)
    assert "\x1b" not in repr(run)
    assert SHOWN in repr(run)
    assert "\x1b" not in repr(run.certificates)


def test_names_of_classes_and_files_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(0)
    model = build("cnn", (1, 8, 8), 2, (0.5,), (0.25,))
    with torch.no_grad():
        model.network.get_submodule("8").get_parameter("bias").copy_(torch.tensor([9.0, -9.0]))
    save_model(tmp_path, model, card((f"cat{ESCAPE}", "dog")))
    image = tmp_path / "an\x1bimage.png"
    Image.new("L", (8, 8)).save(image)
    code, out, err = call(capsys, "predict", "--model", str(tmp_path), "--sigma", "0.5", str(image))
    assert (code, err) == (0, "")
    assert f"an\\x1bimage.png: cat{SHOWN} (class 0)" in out
    code, out, err = call(capsys, "predict", "--model", f"no{ESCAPE}", "--sigma", "0.5", str(image))
    assert code == 2
    assert SHOWN in err


def test_errors_and_their_traces_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert str(db.ModelError(f"it said {ESCAPE}\nerror: none")) == rf"it said {SHOWN}\nerror: none"
    code, _, err = call(capsys, "--debug", "runs", f"no{ESCAPE}where")
    assert code == 1
    assert "Traceback" in err
    assert "\x1b" not in err


def test_an_empty_run_is_reported_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RunStore(tmp_path / "run", spec()):
        pass
    code, _, err = call(capsys, "report", str(tmp_path / "run"), "--out", str(tmp_path / "page.html"))
    assert (code, err) == (1, f"error: {tmp_path / 'run'}: the run holds no record yet\n")
    assert not (tmp_path / "page.html").exists()
    for command in (("runs",), ("runs", "--json"), ("audit",), ("export",)):
        assert call(capsys, *command, str(tmp_path / "run"))[0] == 0


def test_json_for_programs_is_plain_ascii(strange: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "runs", "--json", str(strange))
    assert json.loads(out)[0]["spec"]["dataset"] == ESCAPE
    assert out.isascii()
