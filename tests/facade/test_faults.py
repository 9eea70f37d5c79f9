"""A model that fails: on one input it is that input's failure, on all the run's error; memory stops the run."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.cli import main
from doublebubble.runs.store import read_run

SETTINGS: dict[str, Any] = {"sigma": 0.05, "n": 100, "n0": 20, "batch_size": 16, "quiet": True}
BAD = 7
X = torch.full((16, 1, 2, 2), 0.1)
X[BAD] = 0.9
Y = torch.zeros(16, dtype=torch.int64)
Y[BAD] = 1


class FailsOnBright(nn.Module):
    """Says class 0, and on a batch with a bright row does something else. The probe's rows lie around 0.5."""

    def __init__(self, what: Callable[[Tensor], Tensor], above: float = 0.7) -> None:
        super().__init__()
        self.what, self.above = what, above

    def forward(self, x: Tensor) -> Tensor:
        level = x.flatten(1)
        logits = torch.stack([1 - level.mean(1), level.mean(1)], 1)
        return self.what(logits) if bool(((level > self.above).all(1) & (level < 1.2).all(1)).any()) else logits


def raises(error: BaseException) -> Callable[[Tensor], Tensor]:
    def fail(_: Tensor) -> Tensor:
        raise error

    return fail


KINDS = [KeyError("k"), AssertionError(), ZeroDivisionError(), OSError("gone"), SystemExit(3), RecursionError("deep")]


@pytest.mark.parametrize("error", KINDS, ids=lambda error: type(error).__name__)
@pytest.mark.filterwarnings("ignore:the model fails on some of the first inputs")
def test_any_exception_on_one_input_is_that_inputs_failure(error: BaseException) -> None:
    run = db.certify(FailsOnBright(raises(error)).eval(), (X, Y), num_classes=2, **SETTINGS)
    failed = [record for record in run.records if record.status == "failed"]
    assert [record.index for record in failed] == [BAD]
    assert type(error).__name__ in (failed[0].error or "")
    assert [record.status for record in run.records].count("certified") == len(X) - 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda logits: logits.to(torch.complex64), "complex64"),
        (lambda logits: logits > 0, "bool"),
        (lambda logits: logits.long(), "int64"),
    ],
)
@pytest.mark.filterwarnings("ignore:the model fails on some of the first inputs")
def test_logits_that_are_no_floats_are_a_failure(answer: Callable[[Tensor], Tensor], said: str) -> None:
    run = db.certify(FailsOnBright(answer).eval(), (X, Y), num_classes=2, **SETTINGS)
    failed = [record for record in run.records if record.status == "failed"]
    assert [record.index for record in failed] == [BAD]
    assert said in (failed[0].error or "")


@pytest.mark.parametrize("error", [*KINDS, MemoryError()], ids=lambda error: type(error).__name__)
def test_a_model_that_always_fails_is_the_runs_error(error: BaseException, tmp_path: Path) -> None:
    with pytest.raises(db.ModelError, match=type(error).__name__):
        db.certify(FailsOnBright(raises(error), above=-9.0).eval(), (X, Y), out=tmp_path / "run", **SETTINGS)
    assert not (tmp_path / "run").exists()


def test_the_warning_says_what_will_happen() -> None:
    with pytest.warns(db.DoubleBubbleWarning, match=r"fails on some of the first inputs: KeyError: 'k'; what it fails"):
        db.certify(FailsOnBright(raises(KeyError("k"))).eval(), (X, Y), num_classes=2, **SETTINGS)


def test_the_first_input_may_be_the_bad_one() -> None:
    x = X.roll(-BAD, 0)
    with pytest.warns(db.DoubleBubbleWarning, match="fails on some of the first inputs"):
        run = db.certify(FailsOnBright(raises(KeyError("k"))).eval(), (x, Y), **SETTINGS)
    assert [record.index for record in run.records if record.status == "failed"] == [0]


def test_ctrl_c_in_a_model_is_an_interruption() -> None:
    count = 0

    def later(logits: Tensor) -> Tensor:
        nonlocal count
        count += 1
        if count > 3:  # the first look runs it before, clean and under noise
            raise KeyboardInterrupt
        return logits

    with pytest.warns(db.DoubleBubbleWarning, match="interrupted: the run holds"):
        run = db.certify(FailsOnBright(later).eval(), (X, Y), num_classes=2, **SETTINGS)
    assert run.interrupted
    assert all(record.status == "certified" for record in run.records)


@pytest.mark.parametrize(
    "what",
    [raises(MemoryError()), lambda _: torch.empty(2**60), raises(torch.OutOfMemoryError("CUDA out of memory"))],
    ids=["python", "cpu", "device"],
)
def test_memory_that_runs_out_stops_the_run_and_records_nothing_for_that_input(
    what: Callable[[Tensor], Tensor], tmp_path: Path
) -> None:
    switch = [False]

    def sometimes(logits: Tensor) -> Tensor:
        return what(logits) if switch[0] else logits

    model = FailsOnBright(sometimes).eval()
    assert len(db.certify(model, (X, Y), indices=[0, 1], out=tmp_path / "run", **SETTINGS).records) == 2
    switch[0] = True
    with pytest.raises(db.RunError, match=r"out of memory on the device: free some there and resume with the same"):
        db.certify(model, (X, Y), indices=[BAD], out=tmp_path / "run", **SETTINGS)
    assert [record.index for record in read_run(tmp_path / "run").records] == [0, 1]
    switch[0] = False
    run = db.certify(model, (X, Y), indices=[BAD], out=tmp_path / "run", **SETTINGS)
    assert [record.index for record in run.records] == [0, 1, BAD]


def test_memory_that_our_own_buffers_lack_is_the_runs_error_too() -> None:
    model = FailsOnBright(lambda logits: logits).eval()
    with pytest.raises(db.ModelError, match="memory ran out: a smaller batch size needs less"):
        db.certify(model, (X, Y), **{**SETTINGS, "batch_size": 2**50})


def test_a_model_that_cannot_even_be_looked_at_is_an_error() -> None:
    class Mute(nn.Module):
        def extra_repr(self) -> str:
            raise KeyError("no name")

    with pytest.raises(db.ModelError, match=r"the model cannot be looked at: KeyError: 'no name'"):
        db.certify(Mute().eval(), (X, Y), **SETTINGS)


def test_the_command_says_one_sentence_whatever_a_factory_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("leaves.py").write_text("raise SystemExit(0)\n")
    Path("breaks.py").write_text("def make():\n    assert False, 'no'\ndef net():\n    raise SystemExit(0)\n")
    for model, code in (("leaves:make", 2), ("breaks:make", 1), ("breaks:net", 1), ("breaks:nothing", 2)):
        with pytest.raises(SystemExit) as exit_:
            main(["certify", "--model", model, "--dataset", "digits", "--sigma", "0.5", "--out", "run"])
        err = capsys.readouterr().err
        assert exit_.value.code == code, (model, err)
        assert err.startswith(f"error: model {model}: cannot be ")
        assert len(err.splitlines()) == 1
    assert not Path("run").exists()


def test_a_command_whose_model_exits_does_not_exit_with_its_code(tmp_path: Path) -> None:
    (tmp_path / "leaving.py").write_text(
        "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        raise SystemExit(0)\n"
    )
    command = [sys.executable, "-m", "doublebubble", "certify", "--model", "leaving:Net", "--dataset", "digits"]
    done = subprocess.run(
        [*command, "--sigma", "0.5", "--out", "run"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "SystemExit: 0" in done.stderr
    assert "Traceback" not in done.stderr
