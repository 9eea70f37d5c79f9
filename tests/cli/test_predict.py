"""The command that predicts."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doublebubble.data import load_dataset
from tests.cli.calling import call

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
