"""The command that predicts."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doublebubble.data import load_dataset
from doublebubble.smoothing import Input, Prediction, SmoothedClassifier
from tests.cli.calling import call
from tests.models.hugging_face_samples import save_vit
from tests.models.onnx_samples import WEIGHT, save_linear

MODEL = "tests.engines.centroids:make"


def test_predict_names_classes_or_abstains(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = load_dataset("digits", "test")
    paths = []
    for index in range(3):
        pixels = (data.inputs()[index, 0] * 255).round().byte().numpy()
        paths.append(str(tmp_path / f"{index}.png"))
        Image.fromarray(pixels).save(paths[-1])
    settings = ["predict", "--model", MODEL, "--dataset", "digits", "--sigma", "0.25", "--n", "400"]
    code, out, err = call(capsys, *settings, *paths)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{path}: {data.labels[index]} (class {data.labels[index]})" for index, path in enumerate(paths)
    ]
    code, out, _ = call(capsys, *settings, "--json", "--n", "2", paths[0])
    assert json.loads(out) == {"image": paths[0], "prediction": -1, "class": None, "n": 2, "alpha": 0.001, "draws": 2}
    Image.fromarray(np.zeros((9, 8), np.uint8)).save(tmp_path / "tall.png")
    code, _, err = call(capsys, *settings, str(tmp_path / "tall.png"))
    assert code == 1
    assert "tall.png: expected an image of shape (1, 8, 8)" in err
    code, _, err = call(capsys, "predict", "--model", MODEL, "--sigma", "0.25", paths[0])
    assert code == 2
    assert "does not say what shape and classes it has" in err


def test_predict_under_exact_noise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """8-bit images lie on the grid of step 1/255; not all of them lie on a coarser one."""
    data, path = load_dataset("digits", "test"), tmp_path / "0.png"
    Image.fromarray((data.inputs()[0, 0] * 255).round().byte().numpy()).save(path)
    settings = ["predict", "--model", MODEL, "--dataset", "digits", "--sigma", "0.25", "--n", "400", str(path)]
    code, out, err = call(capsys, *settings, "--noise", "lattice")
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"{path}: {data.labels[0]} (class {data.labels[0]})"]
    code, _, err = call(capsys, *settings, "--noise", "lattice", "--grid", "16")
    assert code == 1
    assert "input 0: expected values on the grid of step 1/16" in err


def test_the_level_asked_for_is_the_level_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, float, int, int]] = []

    def predictions(
        self: SmoothedClassifier, inputs: Sequence[Input], n: int, alpha: float, *, seed: int
    ) -> list[Prediction]:
        asked.extend((n, alpha, seed, one.index) for one in inputs)
        return [Prediction(3, n) for _ in inputs]

    monkeypatch.setattr(SmoothedClassifier, "predictions", predictions)
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "a.png")
    settings = ["--model", MODEL, "--dataset", "digits", "--sigma", "0.25", "--n", "70", "--seed", "5"]
    for alpha in (1e-7, 0.2):
        path = str(tmp_path / "a.png")
        code, out, _ = call(capsys, "predict", *settings, "--alpha", str(alpha), "--json", path, path)
        assert code == 0
        assert [json.loads(line)["alpha"] for line in out.splitlines()] == [alpha, alpha]
        assert asked == [(70, alpha, 5, 0), (70, alpha, 5, 1)]
        asked.clear()


def test_predict_names_the_classes_that_a_folder_of_hugging_face_names(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    save_vit(tmp_path / "vit")
    capsys.readouterr()  # transformers says that it writes
    Image.fromarray(np.full((8, 8, 3), 200, np.uint8)).save(tmp_path / "x.png")
    settings = ["predict", "--model", f"hf:{tmp_path / 'vit'}", "--sigma", "0.01", "--n", "100"]
    code, out, err = call(capsys, *settings, str(tmp_path / "x.png"))
    assert (code, err) == (0, "")
    assert re.fullmatch(r".*x\.png: digit (\d) \(class \1\)\n", out)


def test_predict_with_an_onnx_file_and_another_architecture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    save_linear(tmp_path / "m.onnx", batch=16)
    Image.fromarray(np.full((8, 8), 200, np.uint8)).save(tmp_path / "x.png")
    settings = ["predict", "--model", str(tmp_path / "m.onnx"), "--dataset", "digits", "--sigma", "0.01", "--n", "100"]
    code, out, err = call(capsys, *settings, str(tmp_path / "x.png"))
    expected = int((np.full((1, 64), 200 / 255) @ WEIGHT).argmax())
    assert (code, err, out) == (0, "", f"{tmp_path / 'x.png'}: {expected} (class {expected})\n")
    code, _, err = call(capsys, *settings, "--arch", "lenet", str(tmp_path / "x.png"))
    assert (code, "arch: only a file of weights takes one" in err) == (2, True)
