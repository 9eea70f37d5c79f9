"""The state of a training run on disk, written whole after each epoch: weights, optimiser, progress.

One safetensors file, so that a crash leaves the old state or the new, and reading it executes nothing.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import TypeAdapter
from safetensors import safe_open
from torch import nn

from doublebubble.errors import CheckpointError
from doublebubble.json_text import parse_json
from doublebubble.models.checkpoints import load_weights, read_tensors, save_tensors

STATE = "state.safetensors"
_OPTIMISER = re.compile(r"optimiser\.(\d{1,6})\.(\w+)", re.ASCII)


@dataclass(frozen=True)
class Progress:
    """Epochs finished, and the best of them by accuracy on the images held out."""

    epochs_done: int = 0
    best_epoch: int = 0
    best_accuracy: float = -1.0


def save_state(folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
    """Write everything that the next epoch depends on."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for number, parameter in enumerate(_parameters(optimiser)):
        for name, value in optimiser.state[parameter].items():
            if value is not None:
                tensors[f"optimiser.{number}.{name}"] = torch.as_tensor(value)
    save_tensors(folder / STATE, tensors, {"progress": json.dumps(vars(progress))})


def load_state(folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer) -> Progress:
    """Put model and optimiser where `save_state` left them; a fresh `Progress` if the folder holds no state."""
    path = folder / STATE
    if not path.exists():
        return Progress()
    tensors = read_tensors(path)
    weights = {n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")}
    load_weights(model, weights, path)
    parameters = _parameters(optimiser)
    for name, tensor in tensors.items():
        if name.startswith("model."):
            continue
        part = _OPTIMISER.fullmatch(name)
        if part is None or int(part[1]) >= len(parameters):
            raise CheckpointError(f"{path}: holds a state of another optimiser ({name})")
        parameter, key = parameters[int(part[1])], part[2]
        # Same strides as the running optimiser would have: the arithmetic then takes the same path, bit for bit.
        value = torch.empty_like(parameter).copy_(tensor) if tensor.shape == parameter.shape else tensor
        optimiser.state[parameter][key] = value.detach()
    try:
        with safe_open(path, "pt") as file:
            return TypeAdapter(Progress).validate_python(parse_json((file.metadata() or {})["progress"]))
    except (KeyError, ValueError) as error:
        raise CheckpointError(f"{path}: holds no progress of a training run ({error})") from error


def _parameters(optimiser: torch.optim.Optimizer) -> list[nn.Parameter]:
    return [parameter for group in optimiser.param_groups for parameter in group["params"]]
