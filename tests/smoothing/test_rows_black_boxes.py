"""Functions and ONNX files whose rows see each other, or that throw dice."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

import doublebubble as db
from doublebubble.errors import ModelError
from doublebubble.models.onnx_files import load_onnx
from doublebubble.smoothing import SmoothedClassifier
from tests.models.onnx_samples import linear
from tests.smoothing.strange_models import counted


def in_place(x: Any) -> Any:
    x *= 2.0
    return x.reshape(len(x), -1)[:, :4]


def of_the_batch(x: Any) -> Any:
    flat = x.reshape(len(x), -1)[:, :4]
    return flat - flat.mean(axis=0)


class Remembering:
    """Its scores depend on what it was asked before."""

    def __init__(self) -> None:
        self.last: Any = 0.0

    def __call__(self, x: Any) -> Any:
        found = x.reshape(len(x), -1)[:, :4] + self.last
        self.last = float(found.mean())
        return found


def by_chance(x: Any) -> Any:
    return np.random.default_rng().integers(0, 4, len(x))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (in_place, "changes its input in place"),
        (of_the_batch, "the same row, in a smaller batch"),
        (Remembering(), "run twice in a row"),
        (by_chance, "run twice in a row, .* on chance"),
    ],
)
def test_black_boxes_that_are_no_function_of_one_row(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        counted(db.black_box(f, 4))


@pytest.mark.parametrize("batch", ["N", 16])
def test_an_onnx_file_whose_rows_see_each_other(tmp_path: Path, batch: int | str) -> None:
    model = linear(batch)
    model.graph.node[2].CopyFrom(onnx.helper.make_node("Softmax", ["product"], ["scores"], axis=0))
    onnx.save(model, tmp_path / "m.onnx")
    classifier = SmoothedClassifier(load_onnx(tmp_path / "m.onnx", 10), 0.5, 10, batch_size=16)
    with pytest.raises(ModelError, match="the same row, in a smaller batch"):
        classifier.counts(torch.full((1, 8, 8), 0.5), 20, seed=0, index=0)


def test_an_onnx_file_that_throws_dice(tmp_path: Path) -> None:
    model = linear()
    model.graph.node[2].CopyFrom(onnx.helper.make_node("RandomNormalLike", ["product"], ["scores"]))
    onnx.save(model, tmp_path / "m.onnx")
    classifier = SmoothedClassifier(load_onnx(tmp_path / "m.onnx", 10), 0.5, 10, batch_size=16)
    with pytest.raises(ModelError, match="run twice in a row"):
        classifier.counts(torch.full((1, 8, 8), 0.5), 20, seed=0, index=0)
