"""The program that is certified: a model made ready to run fast, and the name it is recorded under.

Folding batch norm or changing the memory layout changes logits in their last bits, so a certificate is about the
program that ran, not about the weights alone; every result carries `Program.name`.
"""

import copy
import functools
import itertools
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

import torch
from torch import Tensor, nn
from torch.fx import GraphModule, symbolic_trace
from torch.nn.utils.fusion import fuse_conv_bn_eval

from doublebubble.errors import ModelError, SettingError
from doublebubble.models.calling import ModelCode, bare_logits

Precision = Literal["float32", "bfloat16", "float16"]
_CHOICES = ((False, True), (False, True), (False, True), get_args(Precision))
_PROBE = """
import torch
convolution, linear = torch.nn.Conv2d(64, 64, 3).to(torch.{0}), torch.nn.Linear(64, 10).to(torch.{0})
for layout in (torch.contiguous_format, torch.channels_last):
    x = torch.zeros(8, 64, 16, 16, dtype=torch.{0}).to(memory_format=layout).requires_grad_()
    linear(convolution.to(memory_format=layout)(x).mean((2, 3))).sum().backward()
"""


@dataclass(frozen=True)
class Program:
    """How a model is prepared. The default runs it as it was given.

    `fold_batch_norm` merges batch norm into the convolutions before it; `channels_last` stores images with channels
    innermost; `compile` uses torch.compile; `precision` runs the model in another dtype, noise being added before the
    cast. `measuring.fastest_program` finds out which of them help on a machine.
    """

    fold_batch_norm: bool = False
    channels_last: bool = False
    compile: bool = False
    precision: Precision = "float32"

    @property
    def name(self) -> str:
        """What records carry, for example `eager` or `folded+channels_last`."""
        parts = [
            *(["folded"] if self.fold_batch_norm else []),
            *(["channels_last"] if self.channels_last else []),
            *(["compiled"] if self.compile else []),
            *([self.precision] if self.precision != "float32" else []),
        ]
        return "+".join(parts) or "eager"

    @classmethod
    def named(cls, name: str) -> "Program":
        """The program that `name` is the name of."""
        known = {program.name: program for program in (cls(*choice) for choice in itertools.product(*_CHOICES))}
        try:
            return known[name]
        except KeyError:
            raise SettingError(
                f"program: expected eager, or parts of folded+channels_last+compiled+bfloat16 (or float16) in this "
                f"order, got {name!r}"
            ) from None

    def prepare(self, model: nn.Module) -> nn.Module:
        """A prepared copy of the model; the model itself is left as it was."""
        return self.compiled(self.uncompiled(model))

    def uncompiled(self, model: nn.Module) -> nn.Module:
        """The prepared copy before it is compiled, if it is to be."""
        if replace(self, compile=False) == Program():
            return model
        prepared = copy.deepcopy(model)
        if self.fold_batch_norm:
            prepared = _folded(prepared)
        if self.channels_last:
            prepared = prepared.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        if self.precision != "float32":
            parameter = next(model.parameters(), None)
            _require_precision(self.precision, "cpu" if parameter is None else parameter.device.type)
            prepared = _Cast(prepared, getattr(torch, self.precision))
        return prepared.eval() if not model.training else prepared

    def compiled(self, prepared: nn.Module) -> nn.Module:
        """A prepared model, compiled if this program is; weights are shared.

        Every shape is compiled by itself. What torch compiles for any number of rows may run in place of what it made
        for one shape, depending on which came first, and has other last bits.
        """
        if not self.compile:
            return prepared
        parameter = next(prepared.parameters(), None)
        _require_compiler("cpu" if parameter is None else parameter.device.type)
        return cast(nn.Module, torch.compile(prepared, dynamic=False))

    def layout(self, batch: Tensor) -> Tensor:
        """The batch in the memory layout that the prepared model wants; a copy only if it has to be one."""
        if self.channels_last and batch.dim() == 4:
            return batch.contiguous(memory_format=torch.channels_last)
        return batch


class _Cast(nn.Module):
    """Runs a model in a reduced precision and returns float32 logits."""

    def __init__(self, model: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.model = model.to(dtype)
        self.dtype = dtype

    def forward(self, batch: Tensor) -> Tensor:
        logits: Tensor = bare_logits(self.model(batch.to(self.dtype)))
        return logits.float()


def _folded(model: nn.Module) -> nn.Module:
    if any(module.training for module in model.modules()):
        raise ModelError("batch norm can be folded in evaluation mode only: call model.eval() first")
    with ModelCode("batch norm could not be folded, the model cannot be traced"):
        traced = symbolic_trace(model)
    return _fuse(traced)


def _fuse(traced: GraphModule) -> GraphModule:
    """Replace each convolution that only a batch norm reads by the two merged."""
    modules = dict(traced.named_modules())
    for node in list(traced.graph.nodes):
        if node.op != "call_module" or not isinstance(modules[str(node.target)], nn.BatchNorm2d):
            continue
        before = node.args[0]
        if before.op != "call_module" or len(before.users) > 1:
            continue
        convolution = modules[str(before.target)]
        shared = sum(other.target == before.target for other in traced.graph.nodes) > 1
        if not isinstance(convolution, nn.Conv2d) or shared:
            continue
        batch_norm = modules[str(node.target)]
        assert isinstance(batch_norm, nn.BatchNorm2d)
        traced.set_submodule(str(before.target), fuse_conv_bn_eval(convolution, batch_norm))
        node.replace_all_uses_with(before)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced


@functools.cache
def _require_compiler(device: str) -> None:
    """Refuse to compile for the CPU where there is no C++ compiler, which torch would say much later."""
    if device != "cpu":
        return
    from torch._inductor import cpp_builder, exc

    try:
        cpp_builder.get_cpp_compiler()
    except exc.InvalidCxxCompiler:
        raise ModelError(
            "compiled programs need a C++ compiler, and none was found: install g++, name one in the environment "
            "variable CXX, or choose a program without `compiled`"
        ) from None


@functools.cache
def _require_precision(precision: Precision, device: str) -> None:
    """Refuse a precision whose convolutions would kill the process: tried first in a process of its own."""
    if device != "cpu":
        return
    probe = subprocess.run(
        [sys.executable, "-c", _PROBE.format(precision)], capture_output=True, text=True, check=False
    )
    if probe.returncode:
        how = f"signal {-probe.returncode}" if probe.returncode < 0 else probe.stderr.strip().splitlines()[-1]
        raise ModelError(
            f"{precision} convolutions do not work on this CPU (a probe ended with {how}); use float32, "
            "or try the environment variable ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"
        )
