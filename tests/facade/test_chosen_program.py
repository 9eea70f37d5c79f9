"""`auto`: measured once, recorded, and never measured again by the same run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.errors import RunError, SettingError
from doublebubble.facade import chosen_program as choosing
from doublebubble.facade.chosen_program import chosen_program
from doublebubble.measuring import COMPILED, PREPARED, SIZES, Fastest
from doublebubble.program import Program
from doublebubble.runs.spec import RunSpec
from tests.cli.calling import call
from tests.engines.centroids import make

SETTINGS: dict[str, Any] = {"n": 200, "n0": 50, "quiet": True}
LAST = Program(channels_last=True)


class Measured:
    """In place of measuring: what it is asked, and one answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rate: float = 1e9) -> None:
        self.asked: list[tuple[tuple[Program, ...], tuple[int, ...]]] = []
        self.rate = rate
        monkeypatch.setattr(choosing, "fastest", self)

    def __call__(
        self, model: nn.Module, inputs: Tensor, sigma: float, programs: tuple[Program, ...], sizes: tuple[int, ...]
    ) -> Fastest:
        self.asked.append((programs, sizes))
        return Fastest(programs[-1] if programs != PREPARED else LAST, sizes[-1], self.rate)


def images() -> Tensor:
    return torch.zeros(2, 1, 8, 8)


def test_a_run_measures_once_and_goes_on_with_what_it_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    measured = Measured(monkeypatch)
    auto: dict[str, Any] = {**SETTINGS, "program": "auto", "batch_size": "auto", "out": tmp_path / "run"}
    first = db.certify(make(), "digits", 0.5, indices="0:3", **auto)
    assert measured.asked == [(PREPARED, SIZES)]
    assert isinstance(first.spec, RunSpec)
    assert (first.spec.program, first.spec.batch_size) == ("channels_last", 1024)
    assert {made.program for made in first.certificates} == {"channels_last"}
    grown = db.certify(make(), "digits", 0.5, indices="0:5", **auto)
    assert len(measured.asked) == 1, "nothing is measured again"
    named = db.certify(make(), "digits", 0.5, indices="0:5", program=LAST, batch_size=1024, **SETTINGS)
    assert [made.radius for made in grown.certificates] == [made.radius for made in named.certificates]
    by_name = {**auto, "program": "channels_last"}
    assert len(db.certify(make(), "digits", 0.5, indices="0:5", **by_name).records) == 5
    with pytest.raises(RunError, match=r"another specification \(program: 'channels_last' -> 'eager'\)"):
        db.certify(make(), "digits", 0.5, indices="0:5", **{**auto, "program": "eager"})
    assert len(measured.asked) == 1


def test_a_run_without_records_takes_any_program_so_it_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    db.certify(make(), "digits", 0.5, indices="0:1", program="folded", out=tmp_path / "run", **SETTINGS)
    assert chosen_program(make(), images, 0.5, "auto", None, tmp_path / "run")[0] == Program(fold_batch_norm=True)
    (tmp_path / "run" / "records.jsonl").write_bytes(b"")
    Measured(monkeypatch)
    assert chosen_program(make(), images, 0.5, "auto", None, tmp_path / "run")[0] == LAST


def test_one_may_be_measured_and_the_other_named(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measured(monkeypatch)
    assert chosen_program(make(), images, 0.5, "auto", 32) == (LAST, 32)
    assert chosen_program(make(), images, 0.5, LAST, "auto") == (LAST, 1024)
    assert chosen_program(make(), images, 0.5, None, None) == (Program(), 256)
    assert measured.asked == [(PREPARED, (32,)), ((LAST,), SIZES)]


def test_compiled_programs_are_tried_where_much_work_is_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measured(monkeypatch, rate=100.0)
    assert chosen_program(make(), images, 0.5, "auto", None, draws=100_000) == (LAST, 256)
    assert len(measured.asked) == 1
    assert chosen_program(make(), images, 0.5, "auto", None, draws=200_000) == (COMPILED[-1], 256)
    assert measured.asked[1:] == [(PREPARED, (256,)), ((LAST, *COMPILED), (256,))]
    assert chosen_program(make(), images, 0.5, LAST, "auto", draws=10**9)[0] == LAST, "what is named stays"


def test_black_boxes_and_fixed_batches_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measured(monkeypatch)
    box = db.black_box(lambda x: (x.reshape(len(x), -1).mean(axis=1) > 0.5).astype(np.int64), num_classes=2)
    assert chosen_program(box, images, 0.5, "auto", "auto") == (Program(), 256)
    assert measured.asked == []
    fixed = make()
    fixed.fixed_batch = 40  # type: ignore[assignment]
    assert chosen_program(fixed, images, 0.5, "auto", "auto") == (LAST, 40)
    assert measured.asked == [(PREPARED, (40,))]


def test_the_command_says_what_was_chosen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    measured = Measured(monkeypatch)
    text = f"certify --model tests.engines.centroids:make --dataset digits --sigma 0.5 --n 200 --n0 50 --indices 0:2 \
        --program auto --batch-size auto --out {tmp_path / 'run'}"
    for _ in range(2):
        code, out, err = call(capsys, *text.split())
        assert (code, err) == (0, "")
        assert "program channels_last, micro-batches of 1024" in out
    assert len(measured.asked) == 1
    code, _, err = call(capsys, *text.replace("--batch-size auto", "--batch-size fast").split())
    assert code == 2
    assert "batch-size: expected a whole number of at least 2, or auto, got 'fast'" in err


def test_another_word_than_auto_is_an_error() -> None:
    with pytest.raises(SettingError, match=r"batch_size: expected a whole number of at least 2, or auto, got 'large'"):
        db.certify(make(), "digits", 0.5, batch_size="large", **SETTINGS)  # type: ignore[arg-type]


def test_measured_for_real_the_run_has_what_was_found() -> None:
    run = db.certify(make(), "digits", 0.5, indices="0:2", program="auto", batch_size="auto", **SETTINGS)
    assert isinstance(run.spec, RunSpec)
    assert Program.named(run.spec.program) in PREPARED
    assert run.spec.batch_size in SIZES
