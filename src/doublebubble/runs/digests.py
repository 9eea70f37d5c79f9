"""Fingerprints of what a run's numbers depend on: the model, the data, the software, the kind of device."""

import functools
import hashlib
import inspect
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.fx import GraphModule
from torch.jit import ScriptModule

from doublebubble.models.black_box import black_box_digest

_NO_NUMBERS = {"__main__.py", "audit", "cli", "sampled_slice.py", "report", "reproduce", "training"}
"""What is left out of the package's own digest: it reads certificates or makes models, and changes no record."""


def model_digest(model: nn.Module) -> str:
    """SHA-256 over the structure, every parameter and buffer, the source of users' modules, and black boxes."""
    total = hashlib.sha256(repr(model).encode())
    tensors = [*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)]
    for name, tensor in sorted(tensors, key=lambda pair: pair[0]):
        total.update(f"|{name}|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
        total.update(_bytes(tensor))
    for kind in sorted({type(module) for module in model.modules()}, key=lambda kind: kind.__qualname__):
        # The versions of these two packages are part of the specification already.
        if kind.__module__.split(".")[0] not in ("torch", "doublebubble"):
            total.update(_source(kind))
    for module in model.modules():
        # Scripted and exported modules carry their program with them.
        code = module.code if isinstance(module, ScriptModule | GraphModule) else ""
        total.update(str(code).encode())
    total.update(black_box_digest(model))
    return total.hexdigest()


def data_digest(inputs: Tensor, labels: Tensor) -> str:
    """SHA-256 over the stored inputs and labels of a whole split: shards of one data set share it."""
    total = hashlib.sha256()
    for tensor in (inputs, labels):
        total.update(f"|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
        total.update(_bytes(tensor))
    return total.hexdigest()


def software_versions() -> dict[str, str]:
    """The versions that can change a number; this package's own goes down to its source."""
    found = {name: version(name) for name in ("torch", "numpy", "scipy")}
    return {"python": ".".join(platform.python_version_tuple()[:2]), "doublebubble": _own_version(), **found}


@functools.cache
def _own_version() -> str:
    """The version and a digest of the modules that certify: two trees of one version number may still differ."""
    root = Path(__file__).parents[1]
    total = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in _NO_NUMBERS:
            total.update(f"|{name.as_posix()}|".encode() + path.read_bytes())
    try:
        number = version("doublebubble")
    except PackageNotFoundError:  # run from a source tree that was not installed
        number = "0"
    return f"{number}+{total.hexdigest()[:12]}"


def device_kind(device: torch.device) -> str:
    """The device as far as it can change a vote: the GPU's name, or the instruction set that torch uses on a CPU."""
    if device.type == "cuda":
        return f"cuda {torch.cuda.get_device_name(device)}"
    if device.type == "cpu":
        return f"cpu {platform.machine()} {torch.backends.cpu.get_cpu_capability()}"
    return device.type


def _bytes(tensor: Tensor) -> memoryview:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().data


def _source(kind: type) -> bytes:
    try:
        return inspect.getsource(kind).encode()
    except (OSError, TypeError):  # typed into an interpreter: there is no file to read
        return kind.__qualname__.encode()
