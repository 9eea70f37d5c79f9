"""`doublebubble picture`: drawn into the run, from the run's own model and data or not at all."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from torch import nn

from doublebubble.cli.demo import telling
from doublebubble.runs.picture_files import stored_pictures
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, read_run
from doublebubble.types import ABSTAIN
from tests.cli.calling import call
from tests.engines.centroids import Centroids, make
from tests.runs.samples import certificate, spec

MODEL = "tests.engines.centroids:make"
SMALL = ("--resolution", "5", "--draws", "16")


def other_model() -> nn.Module:
    model = make()
    assert isinstance(model, Centroids)
    model.linear.bias.data[0] += 0.5
    return model


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    text = f"certify --model {MODEL} --dataset digits --sigma 0.5 --n 400 --n0 50 --indices 0:6 --quiet"
    code, _, _ = call(capsys, *text.split(), "--methods", "boundary", "--out", str(tmp_path / "run"))
    assert code == 0
    return tmp_path / "run"


def draw(capsys: pytest.CaptureFixture[str], run: Path, index: int, *more: str) -> tuple[int, str, str]:
    return call(capsys, "picture", str(run), str(index), "--model", MODEL, *SMALL, *more)


def test_the_picture_is_stored_in_the_run_and_written_where_asked(
    capsys: pytest.CaptureFixture[str], run: Path, tmp_path: Path
) -> None:
    before = (run / "records.jsonl").read_bytes()
    index = next(
        (record.index for record in read_run(run).records if any(ball.centre is not None for ball in record.balls)), 0
    )
    code, out, err = draw(capsys, run, index, "--out", str(tmp_path / "one.png"))
    assert (code, err) == (0, "")
    assert f"picture: {run / 'pictures' / f'{index}.png'}" in out
    (stored,) = stored_pictures(run).values()
    assert stored.read_bytes() == (tmp_path / "one.png").read_bytes()
    assert np.asarray(Image.open(stored)).std() > 10
    assert sorted(path.name for path in (run / "pictures").iterdir()) == [f"{index}.png"]
    assert (run / "records.jsonl").read_bytes() == before
    draw(capsys, run, index)
    assert stored.read_bytes() == (tmp_path / "one.png").read_bytes()
    assert len(read_run(run).records) == 6


def test_another_model_is_refused_with_both_digests(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    made = read_run(run).spec.model_dump()["model_digest"]
    code, _, err = call(capsys, "picture", str(run), "0", "--model", "tests.cli.test_picture:other_model", *SMALL)
    assert code == 1
    assert f"the run was made with another model: expected digest {made[:12]}, got " in err
    assert stored_pictures(run) == {}


def test_other_data_are_refused_with_both_digests(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec("0:2")) as store:
        store.append(certificate(0))
    code, _, err = draw(capsys, tmp_path / "run", 0)
    assert code == 1
    assert "the run was made with other data: expected digest cdcdcdcdcdcd, got " in err


def test_what_cannot_be_drawn_is_said(capsys: pytest.CaptureFixture[str], run: Path, tmp_path: Path) -> None:
    code, _, err = draw(capsys, run, 77)
    assert (code, err) == (2, "error: index: expected one of the run's inputs (0:6), got 77\n")
    code, _, err = draw(capsys, run, 0, "--out", str(tmp_path / "nowhere" / "one.png"))
    assert code == 2
    assert "cannot be written" in err
    assert "the picture is at" in err
    code, _, err = draw(capsys, run, 0, "--resolution", "1")
    assert (code, err) == (2, "error: resolution: expected 2 to 1000 points per side, got 1\n")
    with RunStore(tmp_path / "half", read_run(run).spec) as store:
        store.append(Record.failed(1, 1, "the model broke"))
    code, _, err = draw(capsys, tmp_path / "half", 0)
    assert code == 1
    assert "input 0 is not certified yet" in err
    code, _, err = draw(capsys, tmp_path / "half", 1)
    assert (code, err) == (1, "error: input 1: failed, there is nothing to draw (the model broke)\n")
    (tmp_path / "theirs.tsv").write_text("idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t1\t1\t0.5\t1\t0:00:01\n")
    call(capsys, "import", str(tmp_path / "theirs.tsv"), "--out", str(tmp_path / "theirs"))
    code, _, err = draw(capsys, tmp_path / "theirs", 0)
    assert code == 1
    assert "was imported" in err


def test_the_demo_draws_the_largest_one_with_balls_and_a_doubtful_one() -> None:
    certain = [Record.of(certificate(index, radius=0.1 * index)) for index in range(1, 5)]
    with_balls = [Record.of(certificate(index, radius=0.01 * index, centres=1), "digest") for index in (11, 12)]
    wrong = Record.of(certificate(20, radius=0.3, label=0))
    abstained = Record.of(certificate(21, radius=0.0, prediction=ABSTAIN))
    failed = Record.failed(22, 1, "it broke")

    def chosen(*records: Record) -> list[int]:
        return [record.index for record in telling(records)]

    assert chosen(failed, *certain, *with_balls, wrong, abstained) == [4, 12, 20]
    assert chosen(*certain, abstained, *with_balls) == [4, 12, 21]
    assert chosen(*certain) == [4, 1]
    assert chosen(certain[0]) == [1]
    assert chosen(failed) == []
