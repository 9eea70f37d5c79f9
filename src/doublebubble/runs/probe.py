"""What a model says of a few fixed inputs: a fingerprint that sees what no digest of its tensors can.

Plain attributes (a tuple of means) and weights outside the module (an ONNX session) show in the logits only. Logits
differ in their last bits with the number of threads, so they are kept as numbers and compared within a tolerance: a
digest of rounded logits would change whenever one of them lies near a rounding boundary.
"""

import math

import torch
from pydantic import Field
from torch import nn

from doublebubble.config import Settings
from doublebubble.errors import ModelError
from doublebubble.models.black_box import BlackBox
from doublebubble.models.calling import ModelCode, logits_of
from doublebubble.streams import NormalDraws, Stream

_ROWS = 4
_MOST_LOGITS = 4096
"""How many logits of a black box are kept: labels say little each, so more rows are asked for."""


class Probe(Settings):
    """The logits of the fixed inputs, and by how much each may differ if the model is the same."""

    logits: tuple[float, ...]
    tolerance: float = Field(ge=0)

    def agrees(self, other: "Probe") -> bool:
        """Whether both can come from one model."""
        tolerance = max(self.tolerance, other.tolerance)
        return len(self.logits) == len(other.logits) and all(
            abs(a - b) <= tolerance for a, b in zip(self.logits, other.logits, strict=True)
        )


def probe(model: nn.Module, shape: tuple[int, ...], batch_size: int) -> Probe:
    """Ask the model, in evaluation mode and where it lies, for the logits of the fixed inputs of this shape.

    The batch has the micro-batch shape of the run, since some exported programs take no other. The tolerance is half of
    the digits of the narrowest dtype of the model's parameters, float32 if it has none, on the scale of the largest
    logit: far more than threads change, far less than another model does.
    """
    if any(module.training for module in model.modules()):
        raise ModelError("expected a model in evaluation mode, but it is in training mode: call model.eval()")
    parameters = [parameter for parameter in model.parameters() if parameter.is_floating_point()]
    dtype = parameters[0].dtype if parameters else torch.float32
    doing = f"the model failed on a batch of shape {(batch_size, *shape)}"
    rows = _rows(model)
    with ModelCode(doing), torch.inference_mode():  # also where such a batch is too large to be made
        batch = torch.zeros((batch_size, *shape))
        NormalDraws(Stream(0, 0, "audit", "probe"), batch[0]).fill(batch[:rows])
        batch[:rows].mul_(0.5).add_(0.5)  # about what the noisy inputs of the unit box look like
        given = batch.to(parameters[0].device if parameters else "cpu", dtype)
        logits = logits_of(model, given, doing, "the model")
    if logits.dim() != 2 or len(logits) != batch_size:
        got = tuple(logits.shape)
        raise ModelError(f"expected one row of logits for each of {batch_size} inputs, got {got}")
    logits = logits[:rows].cpu().double()
    if not bool(logits.isfinite().all()):
        raise ModelError("expected finite logits, got NaN or infinity for fixed inputs near the unit box")
    narrowest = max([torch.finfo(parameter.dtype).eps for parameter in parameters], default=2.0**-23)
    return Probe(
        logits=tuple(logits.reshape(-1).tolist()),
        tolerance=math.sqrt(narrowest) * float(logits.abs().max()),
    )


def _rows(model: nn.Module) -> int:
    """How many fixed inputs a model is asked about."""
    classes = [module.num_classes for module in model.modules() if isinstance(module, BlackBox)]
    return max(_ROWS, _MOST_LOGITS // max(classes)) if classes else _ROWS
