"""ONNX files: run as they are, at the batch they prescribe, known by all their bytes, refused if they are none."""

import copy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

import doublebubble as db
from doublebubble.data import load_dataset
from doublebubble.errors import CheckpointError, SettingError
from doublebubble.models import fixed_batch, load_classifier
from doublebubble.models.onnx_files import OnnxModel, load_onnx
from doublebubble.runs.digests import model_digest
from doublebubble.runs.spec import RunSpec
from tests.models.onnx_samples import WEIGHT, linear, save_linear

X = torch.rand(6, 1, 8, 8, generator=torch.Generator().manual_seed(1))
TRUTH = X.flatten(1).numpy() @ WEIGHT


@pytest.mark.parametrize("batch", ["N", 1, 4, 6])
@pytest.mark.parametrize("outside", [False, True])
def test_a_file_gives_its_scores_for_any_number_of_rows(tmp_path: Path, batch: int | str, outside: bool) -> None:
    save_linear(tmp_path / "m.onnx", batch, outside)
    model = load_classifier(str(tmp_path / "m.onnx"), (1, 8, 8), 10, (0.5,), (0.5,))
    assert np.allclose(model(X).numpy(), TRUTH, atol=1e-5)
    assert fixed_batch(model) == (batch if isinstance(batch, int) and batch > 1 else None)
    sent = copy.deepcopy(model)
    assert torch.equal(sent(X), model(X))
    assert model_digest(sent) == model_digest(model)


def test_weights_beside_the_file_are_part_of_the_model(tmp_path: Path) -> None:
    save_linear(tmp_path / "m.onnx", outside=True)
    before = model_digest(load_onnx(tmp_path / "m.onnx", 10))
    beside = tmp_path / "m.onnx.data"
    beside.write_bytes(np.zeros_like(WEIGHT).tobytes())
    assert model_digest(load_onnx(tmp_path / "m.onnx", 10)) != before
    beside.unlink()
    with pytest.raises(CheckpointError, match="cannot be opened as an ONNX file"):
        load_onnx(tmp_path / "m.onnx", 10)


def test_weights_outside_the_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    save_linear(tmp_path / "inner" / "m.onnx", outside=True)
    model = onnx.load(str(tmp_path / "inner" / "m.onnx"), load_external_data=False)
    (tmp_path / "m.onnx.data").write_bytes((tmp_path / "inner" / "m.onnx.data").read_bytes())
    for entry in model.graph.initializer[0].external_data:
        entry.value = "../m.onnx.data" if entry.key == "location" else entry.value
    (tmp_path / "inner" / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(CheckpointError, match="cannot be opened as an ONNX file"):
        load_onnx(tmp_path / "inner" / "m.onnx", 10)


@pytest.mark.parametrize("content", [b"", b"nonsense", linear(operator="RunMyCode").SerializeToString()])
def test_what_is_no_network_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"m\.onnx: cannot be opened as an ONNX file: \w+: .*\S$"):
        load_onnx(tmp_path / "m.onnx", 10)


def test_a_network_of_two_inputs_is_refused(tmp_path: Path) -> None:
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 10]) for name in ("a", "b")]
    answer = helper.make_tensor_value_info("c", TensorProto.FLOAT, ["N", 10])
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "two", inputs, [answer])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    with pytest.raises(CheckpointError, match=r"expected one input of floating-point numbers, got a: .*b: "):
        load_onnx(tmp_path / "m.onnx", 10)


def test_another_number_of_classes_or_shape_is_an_error(tmp_path: Path) -> None:
    save_linear(tmp_path / "m.onnx")
    with pytest.raises(db.ModelError, match=r"expected scores of shape \(6, 7\).*got float32 of shape \(6, 10\)"):
        load_onnx(tmp_path / "m.onnx", 7)(X)
    with pytest.raises(db.ModelError, match=r"the model does not take inputs of shape \(1, 9, 9\)"):
        db.certify(load_onnx(tmp_path / "m.onnx", 10), torch.rand(2, 1, 9, 9), 0.5, gradient="approximate")


def test_without_the_packages_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_linear(tmp_path / "m.onnx")
    for name in ("onnx", "onnxruntime"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            with pytest.raises(SettingError, match=rf"{name} is not installed; `pip install 'doublebubble\[onnx\]'`"):
                load_onnx(tmp_path / "m.onnx", 10)


@pytest.mark.filterwarnings("ignore:the model names .* no better than guessing")
def test_its_votes_are_those_of_the_same_network_in_torch(tmp_path: Path) -> None:
    save_linear(tmp_path / "m.onnx", batch=32)
    layer = torch.nn.Linear(64, 10, bias=False)
    layer.weight.data.copy_(torch.from_numpy(WEIGHT.T))
    twin = torch.nn.Sequential(torch.nn.Flatten(), layer).eval()
    data = load_dataset("digits", "test")
    settings: dict[str, Any] = {
        "indices": "0:3",
        "n": 300,
        "n0": 50,
        "gradient": "approximate",
        "quiet": True,
        "methods": "cohen",
    }
    one = db.certify(load_onnx(tmp_path / "m.onnx", 10), data, 0.25, **settings)
    other = db.certify(twin, data, 0.25, batch_size=32, **settings)
    assert isinstance(one.spec, RunSpec)
    assert one.spec.batch_size == 32
    for a, b in zip(one.certificates, other.certificates, strict=True):
        assert [ball.counts.tolist() for ball in a.balls] == [ball.counts.tolist() for ball in b.balls]
    assert isinstance(load_onnx(tmp_path / "m.onnx", 10), OnnxModel)
