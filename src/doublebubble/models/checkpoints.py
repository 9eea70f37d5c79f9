"""A trained model on disk: a folder with its weights as safetensors and a card that says what it is.

Nothing in such a folder can execute code. May import only errors, and the architectures.
"""

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from doublebubble.errors import CheckpointError
from doublebubble.files import largest_unpacked, read_plain, write_whole
from doublebubble.json_text import parse_json
from doublebubble.models.architectures import DENOISERS, Normalised, build, build_denoiser
from doublebubble.models.calling import reason

CARD = "model.json"
WEIGHTS = "model.safetensors"


_ENTRIES = ("state_dict", "model", "net")
"""Under which names training scripts keep the weights among other things."""

_Made = TypeVar("_Made", bound=nn.Module)
_Side = Annotated[int, Field(ge=1, le=1 << 20)]


class ModelCard(BaseModel):
    """What a trained model is: enough to build it again, and how it was trained."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    arch: str
    dataset: str
    shape: tuple[_Side, _Side, _Side]
    classes: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    sigma: float
    method: str
    epoch: int
    noisy_accuracy: float | None = None


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors as safetensors, atomically."""
    write_whole(path, save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, metadata))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, or an error that names it."""
    try:
        return load_file(path)
    except Exception as error:  # whatever its parser meets
        raise CheckpointError(f"{path}: cannot be read as safetensors ({reason(error)})") from error


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights of a safetensors file, or of one that torch saved and that holds tensors and plain values only.

    What training scripts wrap around them is taken off: a `state_dict` or `model` entry, the `module.` of parallel
    training.
    """
    return {name.removeprefix("module."): tensor for name, tensor in weights_in(read_content(path), path).items()}


def read_content(path: Path) -> object:
    """What a file of safetensors holds, or one that torch saved, if it is tensors and plain values only."""
    if path.suffix == ".safetensors":
        return read_tensors(path)
    require_modest_archive(path, path)
    try:
        content: object = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{path}: refused, since reading it could execute code; save its state_dict() as safetensors instead"
        ) from error
    except Exception as error:  # the unpickler runs a program of the file's, though a harmless one
        raise CheckpointError(f"{path}: cannot be read as weights ({reason(error)})") from error
    return content


def weights_in(content: object, path: Path) -> dict[str, Tensor]:
    """The tensors by name in what a file holds, also where it holds more than them."""
    if isinstance(content, dict):
        content = next((content[key] for key in _ENTRIES if isinstance(content.get(key), dict)), content)
    if not isinstance(content, dict) or not all(isinstance(value, Tensor) for value in content.values()):
        raise CheckpointError(f"{path}: expected a dictionary of tensors, got {type(content).__name__}")
    if not all(isinstance(name, str) for name in content):
        raise CheckpointError(f"{path}: expected a dictionary of tensors by name, got other keys")
    return content


def require_modest_archive(file: Path | io.BytesIO, path: Path) -> None:
    """An error if a zip archive would unpack to far more than it holds; its members' sizes are read, not they."""
    if not zipfile.is_zipfile(file):
        return
    try:
        with zipfile.ZipFile(file) as archive:
            packed = sum(member.compress_size for member in archive.infolist())
            unpacked = sum(member.file_size for member in archive.infolist())
    except Exception as error:  # damaged in any way
        raise CheckpointError(f"{path}: is damaged ({reason(error)})") from error
    size = file.getbuffer().nbytes if isinstance(file, io.BytesIO) else file.stat().st_size
    if unpacked > largest_unpacked(min(packed, size)):
        raise CheckpointError(f"{path}: refused, its {size} bytes would unpack to {unpacked}")


def load_weights(model: nn.Module, tensors: dict[str, Tensor], source: Path, assign: bool = False) -> None:
    """Put weights into the model; missing, unexpected or wrongly shaped names are an error that lists them.

    With `assign` their memory becomes the model's, which then need have none: one that was made on `meta`.
    """
    wanted = model.state_dict()
    missing = [f"missing {name}" for name in wanted if name not in tensors]
    unexpected = [f"unexpected {name}" for name in tensors if name not in wanted]
    otherwise = [
        f"{name} of shape {tuple(tensors[name].shape)} instead of {tuple(wanted[name].shape)}"
        for name in wanted
        if name in tensors and tensors[name].shape != wanted[name].shape
    ]
    if told := [*missing[:3], *unexpected[:3], *otherwise[:3]]:
        left = len(missing) + len(unexpected) + len(otherwise) - len(told)
        more = f" and {left} more" if left else ""
        raise CheckpointError(f"{source}: weights do not fit the model: {', '.join(told)}{more}")
    own = {name: tensor.to(wanted[name].dtype, copy=True) for name, tensor in tensors.items()} if assign else tensors
    model.load_state_dict(own, assign=assign)


def save_model(folder: Path, model: nn.Module, card: ModelCard) -> None:
    """Write weights and card into the folder, each file atomically."""
    save_tensors(folder / WEIGHTS, model.state_dict())
    write_whole(folder / CARD, card.model_dump_json(indent=2).encode())


def read_card(folder: str | Path) -> ModelCard:
    """The card of a folder that `save_model` wrote."""
    path = Path(folder) / CARD
    try:
        return ModelCard.model_validate(parse_json(read_plain(path)))
    except (OSError, ValueError) as error:
        why = f"{error.errors()[0]['loc']}: {error.errors()[0]['msg']}" if isinstance(error, ValidationError) else error
        raise CheckpointError(f"{path}: expected the card of a trained model ({why})") from error


def load_model(folder: str | Path) -> tuple[Normalised, ModelCard]:
    """The model of a folder that `save_model` wrote, in evaluation mode, and its card."""
    card = read_card(folder)
    if card.arch in DENOISERS:
        raise CheckpointError(f"{folder}: holds a denoiser, which goes before a classifier: {folder}+CLASSIFIER")
    return _filled(folder, lambda: build(card.arch, card.shape, len(card.classes), card.mean, card.std)), card


def load_denoiser(folder: str | Path) -> tuple[nn.Module, ModelCard]:
    """The denoiser of a folder that `doublebubble train --method denoiser` wrote, and its card."""
    card = read_card(folder)
    if card.arch not in DENOISERS:
        raise CheckpointError(f"{folder}: expected a denoiser, got a classifier ({card.arch})")
    return _filled(folder, lambda: build_denoiser(card.arch, card.shape)), card


def _filled(folder: str | Path, make: Callable[[], _Made]) -> _Made:
    """The model that is made, with the weights of the folder, in evaluation mode."""
    weights = Path(folder) / WEIGHTS
    tensors = read_tensors(weights)
    try:
        with torch.device("meta"):  # whatever shape the card claims, no memory is taken before the weights fit it
            model = make()
    except (RuntimeError, TypeError, OverflowError) as error:
        raise CheckpointError(
            f"{Path(folder) / CARD}: describes a model that cannot be made ({reason(error)})"
        ) from error
    load_weights(model, tensors, weights, assign=True)
    return model.eval()
