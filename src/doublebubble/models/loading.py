"""Anyone's model by a short text: a trained folder, an architecture, module:factory, timm:NAME, hf:FOLDER, or a file;
DENOISER+MODEL puts a trained denoiser before any of them.

Weights come from safetensors or from files that hold tensors only; what would execute code is refused. May import only
errors, and other modules of models.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from doublebubble.errors import CheckpointError, ModelError, SettingError
from doublebubble.models.architectures import ARCHITECTURES, Normalised, Shape
from doublebubble.models.calling import ModelCode
from doublebubble.models.checkpoints import CARD, load_denoiser, load_model, load_weights, read_card, read_weights
from doublebubble.models.denoised import Denoised
from doublebubble.models.exported import archive_kind, load_export, load_script
from doublebubble.models.hugging_face import PREFIX, load_hugging_face, read_folder
from doublebubble.models.onnx_files import load_onnx
from doublebubble.models.published import load_published


@dataclass(frozen=True)
class About:
    """What a model says of itself: the shape of its images, its classes, and the normalisation inside it."""

    shape: Shape
    classes: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]


def load_classifier(
    text: str,
    shape: Shape,
    num_classes: int,
    mean: tuple[float, ...],
    std: tuple[float, ...],
    weights: Path | None = None,
    arch: str | None = None,
) -> nn.Module:
    """A classifier of images in [0, 1], in evaluation mode.

    `text` is one of: a folder that `doublebubble train` wrote; a checkpoint with `arch` and `state_dict`, or weights
    alone with `arch` given; a name in ARCHITECTURES; `module:factory`, a callable that returns a module with its
    normalisation inside; `timm:NAME`; `hf:FOLDER`; a TorchScript, torch.export or ONNX file. `shape`, `num_classes`,
    `mean` and `std` are those of the data, for models that are made here. `arch` overrides that of a checkpoint.
    `DENOISER+TEXT`, the first being a folder that `doublebubble train --method denoiser` wrote, is `Denoised`.
    """
    path, data = Path(text), (shape, num_classes, mean, std)
    folder, behind = _split_denoiser(text)
    if folder is not None:
        denoiser, card = load_denoiser(folder)
        if card.shape[0] != shape[0]:
            raise SettingError(f"{folder}: expected a denoiser for {shape[0]} channels, got one for {card.shape[0]}")
        return Denoised(denoiser, load_classifier(behind, *data, weights, arch)).eval()
    if arch is not None and not (path.is_file() and _file_kind(path) == "weights"):
        raise SettingError(f"arch: only a file of weights takes one, got {arch!r} for {text}")
    if path.exists():
        if weights is not None:
            raise SettingError(f"weights: {path} brings its own, got {weights} besides")
        model = _from_folder(path) if path.is_dir() else _from_file(path, arch, *data)
    elif text in ARCHITECTURES:
        if weights is None:
            raise SettingError(f"weights: {text} is an architecture and needs a file of weights, got none")
        model = load_published(weights, text, *data)
    elif text.startswith("timm:"):
        model = _from_timm(text.removeprefix("timm:"), *data, weights)
    elif text.startswith(PREFIX):
        if weights is not None:
            raise SettingError(f"weights: {text} brings its own, got {weights} besides")
        model = load_hugging_face(text, shape, mean, std)
    elif ":" in text:
        model = _with_weights(_from_factory(text), weights)
    else:
        hint = "; of DENOISER+MODEL the first is a folder" if "+" in text else ""
        raise SettingError(
            f"model: expected a folder, a file, module:factory, timm:NAME, hf:FOLDER or one of "
            f"{', '.join(ARCHITECTURES)}, got {text!r}{hint}"
        )
    return model.eval()


def _split_denoiser(text: str) -> tuple[Path | None, str]:
    """The folder of the denoiser that stands before a model, if one does, and the model's own text."""
    before, plus, behind = text.partition("+")
    if plus and Path(before).is_dir() and not Path(text).exists():
        return Path(before), behind
    return None, text


def model_classes(text: str) -> tuple[str, ...]:
    """The classes that a trained folder or one of Hugging Face names, in the model's order; none for other models."""
    text = _split_denoiser(text)[1]
    path = Path(text)
    if text.startswith(PREFIX) and not path.exists():
        return read_folder(text).classes
    return read_card(path).classes if path.is_dir() and (path / CARD).is_file() else ()


def about_model(text: str) -> About | None:
    """What a folder says of the model in it; None for a model that does not say what images it takes."""
    text = _split_denoiser(text)[1]
    path = Path(text)
    if text.startswith(PREFIX) and not path.exists():
        found = read_folder(text)
        if found.shape is None or not found.classes:
            return None
        none = ((0.0,), (1.0,))
        return About(found.shape, found.classes, found.mean or none[0], found.std or none[1])
    if not path.is_dir():
        return None
    card = load_model(path)[1]
    return About(card.shape, card.classes, card.mean, card.std)


def _from_folder(path: Path) -> nn.Module:
    if not (path / CARD).is_file():
        hint = f"; {PREFIX}{path} opens one of Hugging Face" if (path / "config.json").is_file() else ""
        raise CheckpointError(f"{path}: expected a folder that `doublebubble train` wrote, found no {CARD} in it{hint}")
    model, card = load_model(path)
    model.classes = card.classes
    return model


def _file_kind(path: Path) -> str:
    """`onnx`, `script`, `export` or `weights`, by the file's name or by what it holds."""
    if path.suffix == ".onnx":
        return "onnx"
    kind = archive_kind(path)
    return "weights" if kind == "other" else kind


def _from_file(
    path: Path, arch: str | None, shape: Shape, num_classes: int, mean: tuple[float, ...], std: tuple[float, ...]
) -> nn.Module:
    kind = _file_kind(path)
    if kind == "onnx":
        return load_onnx(path, num_classes)
    if kind == "script":
        return load_script(path)
    if kind == "export":
        return load_export(path)
    try:
        return load_published(path, arch, shape, num_classes, mean, std)
    except CheckpointError as error:
        if arch is not None or "weights do not fit" in str(error):
            raise
        raise CheckpointError(
            f"{error}; expected a TorchScript, torch.export or ONNX file, or a checkpoint with `arch` and "
            "`state_dict`; a file of weights alone needs an architecture to go with"
        ) from error


def _with_weights(model: nn.Module, weights: Path | None) -> nn.Module:
    if weights is None:
        return model
    tensors = read_weights(weights)
    plain = isinstance(model, Normalised) and not any(name.startswith("network.") for name in tensors)
    load_weights(model.get_submodule("network") if plain else model, tensors, weights)
    return model


def _from_timm(
    name: str, shape: Shape, num_classes: int, mean: tuple[float, ...], std: tuple[float, ...], weights: Path | None
) -> nn.Module:
    try:
        timm = importlib.import_module("timm")
    except ImportError as error:
        raise SettingError(f"timm:{name}: timm is not installed; `pip install timm` brings it") from error
    with _setting(), ModelCode(f"timm:{name}: timm cannot make it"):
        network = timm.create_model(name, pretrained=weights is None, num_classes=num_classes, in_chans=shape[0])
    return _with_weights(Normalised(network, mean, std), weights)


def _from_factory(text: str) -> nn.Module:
    module_name, _, name = text.partition(":")
    with _setting(), ModelCode(f"model {text}: cannot be imported"), _here_importable():
        factory = getattr(importlib.import_module(module_name), name)
    with ModelCode(f"model {text}: cannot be made"):
        model = factory() if callable(factory) and not isinstance(factory, nn.Module) else factory
    if not isinstance(model, nn.Module):
        raise ModelError(f"model {text}: expected a torch module, got {type(model).__name__}")
    return model


@contextmanager
def _setting() -> Iterator[None]:
    """A model that cannot be had by its name is a name that cannot be meant."""
    try:
        yield
    except ModelError as error:
        raise SettingError(str(error)) from error


@contextmanager
def _here_importable() -> Iterator[None]:
    """Modules in the current folder can be imported within."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        yield
    finally:
        sys.path.remove(str(Path.cwd()))
