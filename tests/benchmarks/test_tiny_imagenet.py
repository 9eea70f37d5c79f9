"""The code path of Tiny-ImageNet on a small generated folder of its form."""

from pathlib import Path

import pytest

from benchmarks.tiny_imagenet import FOLDER, generate, main, walk
from doublebubble.types import Guarantee


def test_a_generated_folder_is_read_and_certified_under_both_protocols(tmp_path: Path) -> None:
    generate(tmp_path / FOLDER, classes=12, train=2, test=3)
    train, test, runs = walk(tmp_path, tmp_path / "runs", "cnn", 60)
    assert (len(train), len(test)) == (24, 36)
    assert (test.info.num_classes, test.info.shape) == (12, (3, 64, 64))
    assert sorted(test.labels.tolist()) == sorted(train.labels.tolist() + list(range(12)))
    assert runs["paper"].frame["guarantee"].tolist() == [Guarantee.NONE.value]
    assert runs["sound"].frame["guarantee"].tolist() == [Guarantee.EXACT.value]
    assert [len(run.frame) for run in runs.values()] == [1, 1]


def test_the_command_keeps_a_folder_that_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--out", str(tmp_path), "--classes", "3", "--train", "1", "--test", "1", "--arch", "cnn", "--n", "20"]
    main(words)
    first = {path: path.stat().st_mtime_ns for path in (tmp_path / FOLDER).rglob("*.JPEG")}
    main(words)
    assert first == {path: path.stat().st_mtime_ns for path in (tmp_path / FOLDER).rglob("*.JPEG")}
    assert "3 and 3 images of 3 classes" in capsys.readouterr().out
