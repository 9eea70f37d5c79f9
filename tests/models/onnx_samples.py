"""Small networks as ONNX files, put together by hand."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WEIGHT = np.random.default_rng(4).standard_normal((64, 10)).astype(np.float32)


def linear(batch: int | str = "N", operator: str = "Identity") -> onnx.ModelProto:
    """A linear classifier of images of 8x8 pixels; `operator` is applied to its scores."""
    nodes = [
        helper.make_node("Flatten", ["image"], ["flat"], axis=1),
        helper.make_node("MatMul", ["flat", "weight"], ["product"]),
        helper.make_node(operator, ["product"], ["scores"]),
    ]
    given = helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 1, 8, 8])
    answer = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, 10])
    graph = helper.make_graph(nodes, "linear", [given], [answer], [numpy_helper.from_array(WEIGHT, "weight")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def save_linear(path: Path, batch: int | str = "N", outside: bool = False) -> None:
    """The linear classifier as a file; its weights in a file beside it if they are to lie `outside`."""
    onnx.save(linear(batch), str(path), save_as_external_data=outside, location=f"{path.name}.data", size_threshold=0)
