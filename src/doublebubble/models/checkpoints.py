"""A trained model on disk: a folder with its weights as safetensors and a card that says what it is.

Nothing in such a folder can execute code. May import only errors, and the architectures.
"""

import json
import os
import pickle
from pathlib import Path

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from doublebubble.errors import CheckpointError
from doublebubble.models.architectures import Normalised, build

CARD = "model.json"
WEIGHTS = "model.safetensors"


class ModelCard(BaseModel):
    """What a trained model is: enough to build it again, and how it was trained."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    arch: str
    dataset: str
    shape: tuple[int, int, int]
    classes: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    sigma: float
    method: str
    epoch: int
    noisy_accuracy: float | None = None


def first_line(error: Exception) -> str:
    """The first line of an error's message, or its kind if it has none."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def write_atomically(path: Path, content: bytes) -> None:
    """Replace the file whole: a reader, or a crash, sees the old content or the new, never a part."""
    draft = path.with_name(path.name + ".tmp")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors as safetensors, atomically."""
    draft = path.with_name(path.name + ".tmp")
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, draft, metadata)
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, or an error that names it."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: cannot be read as safetensors ({error})") from error


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights of a safetensors file, or of one that torch saved and that holds tensors and plain values only.

    What training scripts wrap around them is taken off: a `state_dict` or `model` entry, the `module.` of parallel
    training.
    """
    if path.suffix == ".safetensors":
        return read_tensors(path)
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{path}: refused, since reading it could execute code; save its state_dict() as safetensors instead"
        ) from error
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be read as weights ({first_line(error)})") from error
    if isinstance(content, dict):
        content = next((content[key] for key in ("state_dict", "model") if isinstance(content.get(key), dict)), content)
    if not isinstance(content, dict) or not all(isinstance(value, Tensor) for value in content.values()):
        raise CheckpointError(f"{path}: expected a dictionary of tensors, got {type(content).__name__}")
    return {name.removeprefix("module."): tensor for name, tensor in content.items()}


def load_weights(model: nn.Module, tensors: dict[str, Tensor], source: Path) -> None:
    """Copy weights into the model; missing, unexpected or wrongly shaped names are an error that lists them."""
    wanted = model.state_dict()
    problems = [f"missing {name}" for name in wanted if name not in tensors]
    problems += [f"unexpected {name}" for name in tensors if name not in wanted]
    problems += [
        f"{name} of shape {tuple(tensors[name].shape)} instead of {tuple(wanted[name].shape)}"
        for name in wanted
        if name in tensors and tensors[name].shape != wanted[name].shape
    ]
    if problems:
        more = f" and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise CheckpointError(f"{source}: weights do not fit the model: {', '.join(problems[:5])}{more}")
    model.load_state_dict(tensors)


def save_model(folder: Path, model: Normalised, card: ModelCard) -> None:
    """Write weights and card into the folder, each file atomically."""
    save_tensors(folder / WEIGHTS, model.state_dict())
    write_atomically(folder / CARD, card.model_dump_json(indent=2).encode())


def read_card(folder: str | Path) -> ModelCard:
    """The card of a folder that `save_model` wrote."""
    path = Path(folder) / CARD
    try:
        return ModelCard.model_validate(json.loads(path.read_text()))
    except (OSError, ValidationError, ValueError) as error:
        raise CheckpointError(f"{path}: expected the card of a trained model ({error})") from error


def load_model(folder: str | Path) -> tuple[Normalised, ModelCard]:
    """The model of a folder that `save_model` wrote, in evaluation mode, and its card."""
    card = read_card(folder)
    model = build(card.arch, card.shape, len(card.classes), card.mean, card.std)
    weights = Path(folder) / WEIGHTS
    load_weights(model, read_tensors(weights), weights)
    return model.eval(), card
