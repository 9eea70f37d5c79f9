"""Opens models stored as files: TorchScript and torch.export archives, refused where they would execute code.

A torch.export archive is mostly data, but its loader would unpickle, load compiled libraries, import operators and
evaluate expressions that the archive names. What is needed for a network passes the checks here; all else is refused.
May import only errors, checkpoints, and how batches of one size are run.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram

from doublebubble.errors import CheckpointError, DoubleBubbleError, ModelError
from doublebubble.json_text import parse_json
from doublebubble.models.calling import ModelCode, bare_logits, reason
from doublebubble.models.checkpoints import require_modest_archive
from doublebubble.models.fixed_batch import in_batches

_OPERATOR = re.compile(
    r"torch\.ops\.aten\.\w+(\.\w+)?|_operator\.(getitem|add|sub|mul|floordiv|mod|neg|eq|ne|lt|le|gt|ge)"
)
_SYMBOL = re.compile(r"Symbol\('[su]\d+'(, (positive|nonnegative|integer)=(True|False))*\)")
_WORD = re.compile(r"symbol|Integer|Add|Mul|Pow|Max|Min|Mod|FloorDiv|CleanDiv|int_oo|oo")
_GUARD = re.compile(r"L(\[('\w+'|\d+)\])+\.size\(\)\[\d+\] *(==|!=|<=|>=|<|>) *\d+")
_PLAIN_MEMBER = re.compile(
    r"data/(weights/weight|constants/tensor)_\d+|archive_\w+|byteorder|version|\.data/\w+|extra/.*"
)
_CONTAINERS = {None, "builtins.tuple", "builtins.list", "builtins.dict"}


_TRAINING_FLAGS = ((torch.ops.aten.batch_norm.default, 5), (torch.ops.aten.dropout.default, 2))
"""Operators that carry the mode they were exported in, and at which argument."""


class _Exported(nn.Module):
    """An exported program as an ordinary module: its mode was fixed at export, so `eval()` changes nothing.

    `fixed_batch` is the batch size that it was exported for, None if it takes any.
    """

    def __init__(self, program: nn.Module, fixed_batch: int | None) -> None:
        super().__init__()
        self.program = program
        self.fixed_batch = fixed_batch

    def train(self, mode: bool = True) -> "_Exported":
        for module in self.modules():
            module.training = mode
        return self

    def forward(self, x: Tensor) -> Tensor:
        """The logits of a batch, in batches of the program's size if it has one."""
        return self._run(x) if self.fixed_batch is None else in_batches(self._run, x, self.fixed_batch)

    def _run(self, x: Tensor) -> Tensor:
        logits: Tensor = bare_logits(self.program(x))
        return logits


def archive_kind(path: Path) -> str:
    """`script`, `export` or `other`, by what the archive holds."""
    if not zipfile.is_zipfile(path):
        return "other"
    require_modest_archive(path, path)
    with zipfile.ZipFile(path) as archive:
        names = [name.split("/", 1)[-1] for name in archive.namelist()]
    if any(name.startswith("code/") for name in names) and "constants.pkl" in names:
        return "script"
    return "export" if "archive_format" in names else "other"


def load_script(path: Path) -> nn.Module:
    """A TorchScript file: runs in torch's own interpreter, which unpickles nothing of Python's."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            module: nn.Module = torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
    except Exception as error:  # whatever its parser meets
        raise CheckpointError(f"{path}: cannot be loaded as TorchScript ({reason(error)})") from error
    return module


def load_export(path: Path) -> nn.Module:
    """A torch.export archive as a module, after checking that opening it executes nothing."""
    if problem := _first_danger(path):
        raise CheckpointError(f"{path}: refused, since opening it could execute code: {problem}")
    try:
        program = torch.export.load(path)
    except Exception as error:  # whatever its parser meets
        raise CheckpointError(f"{path}: cannot be loaded as an exported program ({reason(error)})") from error
    for node in program.graph.nodes:
        if any(node.target is operator and len(node.args) > at and node.args[at] for operator, at in _TRAINING_FLAGS):
            raise ModelError(f"{path}: was exported in training mode ({node.name}); call model.eval() before export")
    return _Exported(program.module(), _batch_of(program))


def _batch_of(program: ExportedProgram) -> int | None:
    """The first side of the one input, if it is a number and no symbol."""
    given = set(program.graph_signature.user_inputs)
    shapes = [node.meta["val"].shape for node in program.graph.nodes if node.name in given and "val" in node.meta]
    return shapes[0][0] if len(shapes) == 1 and shapes[0] and isinstance(shapes[0][0], int) else None


def _first_danger(path: Path) -> str | None:
    try:
        with zipfile.ZipFile(path) as archive:
            return next(_dangers(archive), None)
    except DoubleBubbleError:
        raise
    except Exception as error:  # not the archive that it seems to be
        raise CheckpointError(f"{path}: is damaged ({reason(error)})") from error


def _dangers(archive: zipfile.ZipFile) -> Iterator[str]:
    """Every member must be of a kind known to be data, and what it says must be what a network needs."""
    members = [full.split("/", 1)[-1].lower() for full in archive.namelist()]  # torch finds members whatever their case
    if len(set(members)) != len(members):
        yield "it holds two files of one name"
    for full, name in zip(archive.namelist(), members, strict=True):
        if name.endswith(".pt"):
            yield from _unsafe_pickle(name, archive.read(full))
        elif re.fullmatch(r"models/[\w-]+\.json", name):
            yield from _unsafe_program(parse_json(archive.read(full), infinite=True))
        elif re.fullmatch(r"data/(weights|constants)/[\w-]+_config\.json", name):
            yield from _unsafe_payloads(archive, full)
        elif not _PLAIN_MEMBER.fullmatch(name):
            yield f"{name} is no part of a network"


def _unsafe_pickle(name: str, content: bytes) -> Iterator[str]:
    if not content:
        return
    require_modest_archive(io.BytesIO(content), Path(name))
    try:
        with ModelCode(f"{name} is more than tensors"):
            torch.load(io.BytesIO(content), weights_only=True)
    except ModelError as error:
        yield str(error)


def _unsafe_payloads(archive: zipfile.ZipFile, config: str) -> Iterator[str]:
    """Weights and constants are raw bytes, or else pickles of tensors alone."""
    folder, there = config.rsplit("/", 1)[0], set(archive.namelist())
    described = parse_json(archive.read(config))
    if not isinstance(described, dict):
        raise ValueError(f"{config} does not describe weights")
    for payload in described["config"].values():
        path = f"{folder}/{payload['path_name']}"
        if path not in there:
            yield f"{payload['path_name']} is named but not there"
        elif payload["use_pickle"]:
            yield from _unsafe_pickle(payload["path_name"], archive.read(path))


def _unsafe_program(tree: object) -> Iterator[str]:
    """What the program's description would have its loader call, evaluate or import beyond what a network needs."""
    if isinstance(tree, list):
        for item in tree:
            yield from _unsafe_program(item)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key == "target" and isinstance(value, str) and not _OPERATOR.fullmatch(value):
                yield f"it calls {value}"
            elif key == "expr_str" and not _plain_expression(str(value)):
                yield f"it evaluates {value}"
            elif key == "guards_code" and (odd := [guard for guard in value or [] if not _GUARD.fullmatch(guard)]):
                yield f"it evaluates {odd[0]}"
            elif key in ("in_spec", "out_spec"):
                yield from _unsafe_containers(parse_json(value or "null"))
            else:
                yield from _unsafe_program(value)


def _plain_expression(text: str) -> bool:
    """Arithmetic of named sizes and integers, in the notation that torch writes."""
    plain = _SYMBOL.sub("symbol", text)
    words = re.findall(r"[A-Za-z_]\w*", plain)
    return re.fullmatch(r"[\w\s+\-*/(),]*", plain) is not None and all(_WORD.fullmatch(word) for word in words)


def _unsafe_containers(tree: object) -> Iterator[str]:
    if isinstance(tree, list):
        for item in tree:
            yield from _unsafe_containers(item)
    elif isinstance(tree, dict):
        if tree.get("type") not in _CONTAINERS:
            yield f"it makes a {tree['type']}"
        yield from _unsafe_containers(tree.get("children_spec"))
