"""A model is somebody else's code: whatever it raises becomes an error of ours, and what it returns is looked at.

May import only errors.
"""

from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn

from doublebubble.errors import DoubleBubbleError, ModelError

_ALLOCATOR = ("DefaultCPUAllocator: ", "out of memory")
"""What torch says in a plain RuntimeError where the CPU, or a device without an error of its own, has none left."""
_LOGITS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class ModelCode:
    """Inside, whatever is raised becomes a ModelError that begins with `doing`: also SystemExit, but not Ctrl-C.

    Errors of this package stay as they are.
    """

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, DoubleBubbleError | KeyboardInterrupt):
            less = "; memory ran out: a smaller batch size needs less" if out_of_memory(error) else ""
            raise ModelError(f"{self._doing}: {reason(error)}{less}") from error


def reason(error: BaseException) -> str:
    """The kind of an error and the first line of its message, if it has one."""
    try:
        lines = str(error).strip().splitlines()
    except Exception as second:  # noqa: BLE001  # an error whose message cannot be made is still an error
        lines = [f"its message cannot be made ({type(second).__name__})"]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def out_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or what caused it, says that memory ran out: the machine's fault, not that of an input.

    A MemoryError that the model's own code raises on purpose cannot be told from one that Python raises, and counts.
    """
    while error is not None:
        if isinstance(error, MemoryError | torch.OutOfMemoryError):
            return True
        if type(error) is RuntimeError and any(words in str(error) for words in _ALLOCATOR):
            return True
        error = error.__cause__
    return False


def bare_logits(output: Any) -> Any:
    """What a model returned, or the logits inside it: some wrap them, as Hugging Face's `ModelOutput.logits` does."""
    wrapped = None if isinstance(output, Tensor) else getattr(output, "logits", None)
    return output if wrapped is None else wrapped


def logits_of(model: nn.Module, batch: Tensor, doing: str, where: str) -> Tensor:
    """What the model says of a batch: a plain tensor of floating-point numbers, or a ModelError.

    `doing` opens the message if the model raises, `where` if what it returns is something else.
    """
    with ModelCode(doing):
        logits = bare_logits(model(batch))
    if not isinstance(logits, Tensor):
        raise ModelError(f"{where}: expected logits as a tensor, got {type(logits).__name__}")
    if logits.is_nested or logits.layout is not torch.strided or logits.is_meta or logits.dtype not in _LOGITS:
        kind = f"{logits.dtype} ({'nested' if logits.is_nested else logits.layout}, {logits.device})"
        raise ModelError(f"{where}: expected logits as a dense tensor of floating-point numbers, got {kind}")
    return logits
