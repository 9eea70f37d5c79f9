"""A network from an ONNX file, run by onnxruntime on the CPU: a black box. May import only errors and models.

The file is data: operators that onnxruntime does not bring itself are refused by it, and nothing is imported. Weights
that lie in files beside it are read along, so that the model is known by all its bytes and can travel as one.
"""

import hashlib
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from doublebubble.errors import CheckpointError, ModelError, SettingError
from doublebubble.models.black_box import BlackBox
from doublebubble.models.calling import ModelCode
from doublebubble.models.fixed_batch import in_batches

_DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}
_ERRORS_ONLY = 3


class OnnxModel(BlackBox):
    """A session of onnxruntime. `fixed_batch` is the batch size that the file prescribes, None if it takes any."""

    def __init__(self, content: bytes, num_classes: int, classes: Sequence[str] | None = None) -> None:
        super().__init__(self._run, num_classes, classes)
        self._content = content
        self._open()

    def forward(self, x: Tensor) -> Tensor:
        """The scores of a batch, in batches of the file's size if it has one."""
        return super().forward(x) if self.fixed_batch is None else in_batches(super().forward, x, self.fixed_batch)

    def fingerprint(self) -> str:
        """That of all bytes of the file, and the version that runs them."""
        return hashlib.sha256(self._content + f"|{_module('onnxruntime').__version__}".encode()).hexdigest()

    def extra_repr(self) -> str:
        """What runs it, and the number of its classes."""
        return f"onnxruntime {_module('onnxruntime').__version__}, num_classes={self.num_classes}"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_session", "_f")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._f = self._run
        self._open()

    def _open(self) -> None:
        runtime = _module("onnxruntime")
        options = runtime.SessionOptions()
        options.log_severity_level = _ERRORS_ONLY
        options.intra_op_num_threads = torch.get_num_threads()
        self._session = runtime.InferenceSession(self._content, options, providers=["CPUExecutionProvider"])
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or inputs[0].type not in _DTYPES:
            given = ", ".join(f"{one.name}: {one.type}" for one in inputs)
            raise ValueError(f"expected one input of floating-point numbers, got {given or 'none'}")
        self._input, self._dtype = inputs[0].name, _DTYPES[inputs[0].type]
        self.input_shape = tuple(inputs[0].shape[1:])
        size = inputs[0].shape[0] if inputs[0].shape else None
        self.fixed_batch = size if isinstance(size, int) else None
        # sklearn's converters put the labels first and the scores, if they are a tensor, after them.
        outputs = [one.name for one in self._session.get_outputs() if one.type in _DTYPES]
        self._output = (outputs or [self._session.get_outputs()[0].name])[0]

    def _run(self, batch: npt.NDArray[Any]) -> Any:
        # onnxruntime reads arrays without the copy that could hide a change of the batch, and changes none.
        return self._session.run([self._output], {self._input: np.ascontiguousarray(batch, self._dtype)})[0]


def load_onnx(path: Path, num_classes: int) -> OnnxModel:
    """The network of a file, with its weights if they lie in files beside it."""
    onnx = _module("onnx")
    _module("onnxruntime")
    try:
        with ModelCode(f"{path}: cannot be opened as an ONNX file"):
            return OnnxModel(onnx.load(str(path)).SerializeToString(), num_classes)
    except ModelError as error:
        raise CheckpointError(str(error)) from error


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SettingError(f"{name} is not installed; `pip install 'doublebubble[onnx]'` brings it") from error
