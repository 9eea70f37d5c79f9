"""Anyone's model by a short text: a trained folder, an architecture, module:factory, timm:NAME, or a file.

Weights come from safetensors or from files that hold tensors only; what would execute code is refused. May import only
errors, and other modules of models.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torch import nn

from doublebubble.errors import CheckpointError, ModelError, SettingError
from doublebubble.models.architectures import ARCHITECTURES, Normalised, Shape, build
from doublebubble.models.calling import ModelCode
from doublebubble.models.checkpoints import CARD, load_model, load_weights, read_card, read_weights
from doublebubble.models.exported import archive_kind, load_export, load_script


def load_classifier(
    text: str,
    shape: Shape,
    num_classes: int,
    mean: tuple[float, ...],
    std: tuple[float, ...],
    weights: Path | None = None,
) -> nn.Module:
    """A classifier of images in [0, 1], in evaluation mode.

    `text` is one of: a folder that `doublebubble train` wrote; a name in ARCHITECTURES; `module:factory`, a callable
    that returns a module with its normalisation inside; `timm:NAME`; a TorchScript or torch.export file. `shape`,
    `num_classes`, `mean` and `std` are those of the data, for models that are made here.
    """
    path = Path(text)
    if path.exists():
        model = _from_path(path, weights)
    elif text in ARCHITECTURES:
        model = _with_weights(build(text, shape, num_classes, mean, std), weights, required=text)
    elif text.startswith("timm:"):
        model = _from_timm(text.removeprefix("timm:"), shape, num_classes, mean, std, weights)
    elif ":" in text:
        model = _with_weights(_from_factory(text), weights)
    else:
        raise SettingError(
            f"model: expected a folder, a file, module:factory, timm:NAME or one of {', '.join(ARCHITECTURES)}, "
            f"got {text!r}"
        )
    return model.eval()


def model_classes(text: str) -> tuple[str, ...]:
    """The classes that a trained folder names on its card, in the model's order; none for other kinds of model."""
    path = Path(text)
    return read_card(path).classes if path.is_dir() and (path / CARD).is_file() else ()


def _from_path(path: Path, weights: Path | None) -> nn.Module:
    if weights is not None:
        raise SettingError(f"weights: {path} brings its own, got {weights} besides")
    if path.is_dir():
        if not (path / CARD).is_file():
            raise CheckpointError(f"{path}: expected a folder that `doublebubble train` wrote, found no {CARD} in it")
        return load_model(path)[0]
    kind = archive_kind(path)
    if kind == "script":
        return load_script(path)
    if kind == "export":
        return load_export(path)
    raise CheckpointError(
        f"{path}: expected a TorchScript or torch.export file; a file of weights needs an architecture to go with"
    )


def _with_weights(model: nn.Module, weights: Path | None, required: str | None = None) -> nn.Module:
    if weights is None:
        if required is not None:
            raise SettingError(f"weights: {required} is an architecture and needs a file of weights, got none")
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
