"""One program run at one recorded micro-batch shape, its logits checked and never repaired.

Knows nothing of noise or votes.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from doublebubble.errors import FunctionError, ModelError
from doublebubble.models.calling import ModelCode, logits_of
from doublebubble.program import Program


@dataclass(frozen=True)
class Buffers:
    """The two arrays that every micro-batch is built in, allocated once for each shape and dtype."""

    noise: Tensor
    inputs: Tensor


class Forward:
    """A model prepared to run at `batch_size` rows and to return `num_classes` logits for each."""

    def __init__(self, model: nn.Module, num_classes: int, batch_size: int, program: Program) -> None:
        self.model = model
        self.num_classes = num_classes
        self.batch_size = batch_size
        self.program = program
        self.require_evaluation_mode()
        with ModelCode("the model cannot be prepared"):
            self._prepared = program.uncompiled(model)
            self._compiled = program.compiled(self._prepared)
        parameter = next(model.parameters(), None)
        self.device = torch.device("cpu") if parameter is None else parameter.device
        self._dtype = torch.float32 if parameter is None else parameter.dtype
        self._buffers: dict[tuple[tuple[int, ...], torch.dtype], Buffers] = {}
        self.takes_few = False
        """Whether the model was seen to take batches of fewer rows."""

    def require_evaluation_mode(self) -> None:
        """An error that names the modules in training mode, if there are any."""
        training = [name or "the model itself" for name, module in self.model.named_modules() if module.training]
        if training:
            some = ", ".join(training[:3]) + (", ..." if len(training) > 3 else "")
            raise FunctionError(
                f"expected a model in evaluation mode, but {some} is in training mode: call model.eval()"
            )

    def buffers(self, x: Tensor) -> Buffers:
        """The arrays for inputs shaped and typed as x, the same at every call."""
        key = (tuple(x.shape), x.dtype)
        if key not in self._buffers:
            with torch.inference_mode(False):  # the soft scores use the same buffers, with gradients
                noise = torch.zeros((self.batch_size, *x.shape), dtype=x.dtype, device=self.device)
                self._buffers[key] = Buffers(noise, self.program.layout(torch.zeros_like(noise)))
        return self._buffers[key]

    def parameters(self) -> Iterator[nn.Parameter]:
        """The weights of the prepared program."""
        return self._prepared.parameters()

    @property
    def rounding(self) -> float:
        """The largest difference of logits, as a part of their size, that rounding explains: half of its digits."""
        dtype = self._dtype if self.program.precision == "float32" else getattr(torch, self.program.precision)
        return math.sqrt(torch.finfo(dtype).eps)

    def fed(self, batch: Tensor) -> Tensor:
        """A batch in the dtype that the model takes."""
        return batch.to(self._dtype)

    def logits(self, batch: Tensor, rows: int, indices: Sequence[int]) -> Tensor:
        """The logits of a batch of which the first `rows` are real and belong to the inputs `indices`.

        Votes are taken of full micro-batches only. Fewer rows serve for gradients, which only guide, and for trying out
        what the model does with them. A compiled program is compiled for the votes alone: looks of a search have many
        shapes, and each would take longer to compile than to run.
        """
        if batch.dtype != self._dtype or not any(batch is own.inputs for own in self._buffers.values()):
            batch = self.program.layout(batch.to(self._dtype))
        where = f"input {indices[0]}"
        doing = f"{where}: the model failed on a batch of shape {tuple(batch.shape)}"
        votes = len(batch) == self.batch_size and not torch.is_grad_enabled()
        logits = logits_of(self._compiled if votes else self._prepared, batch, doing, where)
        expected = (len(batch), self.num_classes)
        if logits.shape != expected:
            raise ModelError(f"{where}: expected logits of shape {expected}, got {tuple(logits.shape)}")
        if not math.isfinite(some_rows(logits, 0, rows).detach().sum().item()):  # NaN and infinity survive in a sum
            _require_finite(logits[:rows], indices)
        return logits


def some_rows(whole: Tensor, first: int, rows: int) -> Tensor:
    """Some rows of a tensor; without a view where they are all, since views cost a small model dearly."""
    return whole if rows == whole.shape[0] else whole[first : first + rows]


def _require_finite(logits: Tensor, indices: Sequence[int]) -> None:
    finite = logits.isfinite().all(1)
    if not bool(finite.all()):
        bad, rows = int((~finite).sum()), len(finite)
        where = ", ".join(str(index) for index in sorted(set(indices)))
        raise ModelError(f"input {where}: expected finite logits, got NaN or infinity in {bad} of {rows} draws")
