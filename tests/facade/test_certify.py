"""`db.certify`: the same records whatever the data come as, wherever they are kept, and whatever stops it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.data import load_dataset
from doublebubble.errors import DoubleBubbleWarning, InputError, ModelError, RunError, SettingError
from doublebubble.runs.spec import RunSpec
from tests.cli.calling import call
from tests.engines.centroids import make

DATA = load_dataset("digits", "test")
X, Y = DATA.inputs(), DATA.labels
SETTINGS: dict[str, Any] = {"sigma": 0.5, "n": 200, "n0": 50, "batch_size": 32, "quiet": True}
METHODS = "cohen,boundary"


def records(run: db.Run) -> dict[int, dict[str, object]]:
    return {record.index: record.without_time() for record in run.records}


def test_the_command_and_every_form_of_data_give_the_same_records(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "certify --model tests.engines.centroids:make --dataset digits --sigma 0.5 --n 200 --n0 50 --batch-size 32"
    code, _, err = call(capsys, *text.split(), "--indices", "0:6", "--methods", METHODS, "--out", str(tmp_path / "run"))
    assert (code, err) == (0, "")
    command = db.open_run(tmp_path / "run")
    assert len(command.records) == 6
    forms = (
        (X, Y),
        (X.numpy(), Y.numpy()),
        TensorDataset(X, Y),
        DataLoader(TensorDataset(X, Y), batch_size=50),
        "digits",
        DATA,
    )
    for data in forms:
        run = db.certify(make(), data, indices="0:6", methods=METHODS, **SETTINGS)
        assert records(run) == records(command)
        assert run.certificates == command.certificates
    assert db.certify(make(), "digits", indices="0:6", methods=METHODS, **SETTINGS).spec == command.spec


@pytest.mark.parametrize("protocol", ["sound", "paper"])
def test_a_run_in_memory_is_the_run_on_disk(tmp_path: Path, protocol: str) -> None:
    settings = {**SETTINGS, "indices": range(0, 9, 3), "methods": METHODS, "protocol": protocol}
    memory = db.certify(make(), (X, Y), **settings)
    disk = db.certify(make(), (X, Y), out=tmp_path / "run", **settings)
    assert memory.spec == disk.spec
    assert records(memory) == records(disk)
    assert memory.certificates == disk.certificates
    centres = [ball.centre is not None for certificate in disk.certificates for ball in certificate.balls]
    assert any(centres) is (protocol == "paper")
    timeless = [column for column in memory.frame.columns if not column.startswith("seconds")]
    assert memory.frame[timeless].equals(disk.frame[timeless])
    assert records(db.open_run(tmp_path / "run")) == records(memory)


def test_certificates_are_those_of_the_certifier() -> None:
    run = db.certify(make(), (X, Y), indices=[3, 5], methods=METHODS, **SETTINGS)
    smoothed = db.SmoothedClassifier(make(), 0.5, 10, batch_size=32)
    certifier = db.Certifier(smoothed, db.CertifyConfig(n=200, n0=50, methods=("cohen", "boundary")))
    for found in run.certificates:
        own = certifier.certify(X[found.index], index=found.index, label=int(Y[found.index]))
        assert own.radius - 1e-6 <= found.radius <= own.radius
        assert [ball.radius for ball in found.balls] == [ball.radius for ball in own.balls]
        for mine, theirs in zip(found.balls, own.balls, strict=True):
            assert np.array_equal(mine.counts, theirs.counts)
            assert (mine.centre is None) == (theirs.centre is None)
            assert mine.centre is None or theirs.centre is None or np.array_equal(mine.centre, theirs.centre)


SCRIPT = """
import sys, torch
from torch.utils.data import DataLoader, TensorDataset
import doublebubble as db
from doublebubble.data import load_dataset
from tests.engines.centroids import make
torch.set_num_threads(1)
data = load_dataset("digits", "test")
loader = DataLoader(TensorDataset(data.inputs(), data.labels), batch_size=50)
db.certify(make(), loader, sigma=0.5, n=2000, n0=50, batch_size=32, indices="0:60", out=sys.argv[1], quiet=True)
"""


def test_a_loader_killed_and_resumed_gives_the_records_of_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    lines = out / "records.jsonl"
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(out)]) as process:
        while process.poll() is None and not (lines.exists() and lines.read_bytes().count(b"\n") >= 5):
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
    before = db.open_run(out)
    assert 5 <= len(before.records) < 60
    loader = DataLoader(TensorDataset(X, Y), batch_size=50)
    run = db.certify(make(), loader, 0.5, n=2000, n0=50, batch_size=32, indices="0:60", out=out, quiet=True)
    assert run.records[: len(before.records)] == before.records
    text = "certify --model tests.engines.centroids:make --dataset digits --sigma 0.5 --n 2000 --n0 50 --batch-size 32"
    code, _, _ = call(capsys, *text.split(), "--indices", "0:60", "--quiet", "--out", str(tmp_path / "command"))
    assert code == 0
    assert records(run) == records(db.open_run(tmp_path / "command"))
    assert len(run.records) == 60


class Interrupting(nn.Module):
    """Presses Ctrl-C after so many forward passes."""

    def __init__(self, passes: int) -> None:
        super().__init__()
        self.model, self.left = make(), passes

    def forward(self, x: Tensor) -> Tensor:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        logits: Tensor = self.model(x)
        return logits


@pytest.mark.parametrize("stored", [False, True])
def test_an_interrupted_run_holds_what_is_done_and_says_so(tmp_path: Path, stored: bool) -> None:
    settings = {**SETTINGS, "n": 20_000, "batch_size": 256}
    out = tmp_path / "run" if stored else None
    with pytest.warns(DoubleBubbleWarning, match=r"interrupted: the run holds \d+ of 20 inputs") as told:
        run = db.certify(Interrupting(400).eval(), (X, Y), indices="0:20", out=out, **settings)
    assert ("the same call resumes it" in str(told[0].message)) is stored
    assert run.interrupted
    assert 0 < len(run.records) < 20
    assert len(run.missing) == 20 - len(run.records)
    assert "interrupted" in repr(run)
    if stored:
        again = db.certify(Interrupting(-1).eval(), (X, Y), indices="0:20", out=out, **settings)
        assert not again.interrupted
        assert again.records[: len(run.records)] == run.records
        assert again.missing == ()


def test_a_run_grows_by_further_inputs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first = db.certify(make(), "digits", indices="0:5", out=tmp_path / "run", **SETTINGS)
    grown = db.certify(make(), "digits", indices="0:8", out=tmp_path / "run", **SETTINGS)
    assert grown.records[:5] == first.records
    assert records(grown) == records(db.certify(make(), "digits", indices="0:8", **SETTINGS))
    text = "certify --model tests.engines.centroids:make --dataset digits --sigma 0.5 --n 200 --n0 50 --batch-size 32"
    code, out, _ = call(capsys, *text.split(), "--indices", "0:10", "--out", str(tmp_path / "run"))
    assert code == 0
    assert "8 of 10 inputs are done" in out
    smaller = db.certify(make(), "digits", indices="0:3", out=tmp_path / "run", **SETTINGS)
    assert smaller.spec.indices == "0:10"
    assert len(smaller.records) == 10


def test_a_model_that_fails_its_first_look_leaves_no_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the model: expected logits of shape"):
        db.certify(nn.Sequential(nn.Flatten(), nn.Linear(64, 7)).eval(), "digits", out=tmp_path / "run", **SETTINGS)
    assert not (tmp_path / "run").exists()
    (tmp_path / "seven.py").write_text(
        "from torch import nn\ndef make(): return nn.Sequential(nn.Flatten(), nn.Linear(64, 7)).eval()\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        text = "certify --model seven:make --dataset digits --sigma 0.5"
        code, _, _ = call(capsys, *text.split(), "--out", str(tmp_path / "run"))
    finally:
        sys.path.remove(str(tmp_path))
    assert code == 1
    assert not (tmp_path / "run").exists()


def test_inputs_that_all_fail_do_not_block_the_folder(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the first 5 inputs all failed, nothing was recorded"):
        db.certify(make(), (16 * X, Y), indices="0:6", out=tmp_path / "run", **SETTINGS)
    assert len(db.certify(make(), (X, Y), indices="0:6", out=tmp_path / "run", **SETTINGS).records) == 6


class Centred(nn.Module):
    """Logits less their mean over the batch: every row depends on its neighbours."""

    def forward(self, batch: Tensor) -> Tensor:
        logits = batch.flatten(1)[:, :2]
        return logits - logits.mean(0)


@pytest.mark.filterwarnings("ignore::doublebubble.errors.DoubleBubbleWarning")
@pytest.mark.parametrize("settings", [{"n": 100, "n0": 50}, {"radii": [0.1]}])
def test_rows_that_influence_each_other_stop_even_a_run_of_one_input(tmp_path: Path, settings: dict[str, Any]) -> None:
    data = torch.rand(1, 4, generator=torch.Generator().manual_seed(0)), torch.tensor([0])
    with pytest.raises(RunError, match=r"not a function of one row of its input.*The run stops"):
        db.certify(Centred().eval(), data, sigma=0.5, num_classes=2, out=tmp_path / "run", **settings)
    assert not (tmp_path / "run" / "records.jsonl").read_text()


def test_the_first_look_warns_in_python_too() -> None:
    class Renumbered(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = make()

        def forward(self, x: Tensor) -> Tensor:
            logits: Tensor = self.model(x).roll(1, 1)
            return logits

    with pytest.warns(DoubleBubbleWarning, match="numbered in another order than the labels"):
        db.certify(Renumbered().eval(), (X, Y), indices="0:2", **SETTINGS)
    blind = nn.Sequential(nn.Flatten(), nn.Linear(64, 10)).eval()
    with pytest.warns(DoubleBubbleWarning, match="no better than guessing"):
        db.certify(blind, (X, Y), indices="0:2", **SETTINGS)


def test_classes_are_inferred_and_labels_checked() -> None:
    run = db.certify(make(), X[:3], **SETTINGS)
    assert isinstance(run.spec, RunSpec)
    assert (run.spec.num_classes, run.spec.shape) == (10, (1, 8, 8))
    assert all(record.label is None for record in run.records)
    with pytest.raises(InputError, match="input 1: expected a label from 0 to 9, got 10"):
        db.certify(make(), (X[:3], torch.tensor([1, 10, 2])), **SETTINGS)
    with pytest.raises(ModelError, match=r"call model\.eval"):
        db.certify(make().train(), X[:3], **SETTINGS)
    with pytest.raises(SettingError, match="draws"):
        db.certify(make(), X[:3], draws=7, **SETTINGS)
    with pytest.raises(SettingError, match=r"model: expected a torch\.nn\.Module, got str"):
        db.certify("resnet", X[:3], **SETTINGS)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="data: expected at least one input, got none"):
        db.certify(make(), X[:0], **SETTINGS)


# Noise


def test_exact_noise_is_asked_for_by_name_and_stored(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n": 300, "n0": 50, "quiet": True, "noise": "lattice", "grid": 16}
    run = db.certify(make(), "digits", 0.5, indices="0:4", out=tmp_path / "run", **settings)
    assert isinstance(run.spec, RunSpec)
    assert (run.spec.noise, run.spec.grid) == ("lattice", 16)
    smoothed = db.SmoothedClassifier(make(), 0.5, 10, noise="lattice", grid=16)
    certifier = db.Certifier(smoothed, db.CertifyConfig(n=300, n0=50))
    for made in db.open_run(tmp_path / "run").certificates:
        assert str(made.noise) == "lattice of step 1/16, range -64 to 80"
        assert made.noise.loss > 0
        alone = certifier.certify(X[made.index], index=made.index)
        assert [ball.counts.tolist() for ball in alone.balls] == [ball.counts.tolist() for ball in made.balls]
        assert alone.noise == made.noise
    assert all(verdict.confirmed for verdict in run.reverify())


def test_a_run_resumes_under_its_own_noise_alone(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n": 200, "n0": 50, "quiet": True}
    whole = db.certify(make(), "digits", 0.5, indices="0:4", noise="lattice", grid=16, **settings)
    first: dict[str, Any] = {"out": tmp_path / "run", "noise": "lattice", "grid": 16}
    db.certify(make(), "digits", 0.5, indices="0:2", **first, **settings)
    resumed = db.certify(make(), "digits", 0.5, indices="0:4", **first, **settings)
    assert [one.without_time() for one in resumed.records] == [one.without_time() for one in whole.records]
    others: list[tuple[dict[str, Any], str]] = [
        ({"noise": "gaussian"}, "noise: 'lattice' -> 'gaussian'"),
        ({"noise": "lattice", "grid": 32}, "grid: 16 -> 32"),
    ]
    for other, words in others:
        with pytest.raises(RunError, match=words):
            db.certify(make(), "digits", 0.5, indices="0:4", out=tmp_path / "run", **other, **settings)


def test_data_off_the_grid_are_refused_before_the_run_begins(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="input 0: expected values on the grid of step 1/255"):
        db.certify(make(), "digits", 0.5, indices="0:4", out=tmp_path / "run", noise="lattice", quiet=True)
    assert not (tmp_path / "run").exists()


def test_one_input_off_the_grid_fails_alone() -> None:
    x = X[:3].clone()
    x[1, 0, 4, 4] += 0.01
    run = db.certify(make(), x, 0.5, n=100, n0=20, noise="lattice", grid=16, quiet=True)
    assert [record.status == "failed" for record in run.records] == [False, True, False]
    assert "input 1: expected values on the grid of step 1/16" in (run.records[1].error or "")


@pytest.mark.parametrize(
    "noise", [{}, {"noise": "lattice", "grid": 16, "domain": (-2.0, 2.0)}], ids=["gaussian", "lattice"]
)
def test_a_run_that_decides_radii_goes_on_where_it_stopped(tmp_path: Path, noise: dict[str, Any]) -> None:
    """Begun, then enlarged: the records are those of a run in one piece, decided in whatever order."""
    model, data = HalfSpace(np.array([1.0, 0.0]), 0.0), torch.stack([torch.arange(-15, 15) / 16, torch.zeros(30)], 1)
    settings: dict[str, Any] = {"domain": None, "num_classes": 2, "radii": (0.25, 0.5), "quiet": True, "batch_size": 16}
    settings |= noise
    db.certify(model, data, 0.5, indices="0:30:2", out=tmp_path / "run", **settings)
    resumed = db.certify(model, data, 0.5, out=tmp_path / "run", **settings)
    whole = db.certify(model, data, 0.5, **settings)
    assert resumed.certificates == whole.certificates
    assert len(whole.certificates) == 30
