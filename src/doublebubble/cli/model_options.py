"""What commands that run a model have in common: opening it for a data set, the device, warnings as sentences."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from doublebubble.errors import DoubleBubbleWarning, SettingError
from doublebubble.terminal import Terminal
from doublebubble.types import NOISES, NoiseName

if TYPE_CHECKING:
    from torch import nn

    from doublebubble.data import Dataset

MODEL_HELP = (
    "A folder that `doublebubble train` wrote, a checkpoint, module:factory, timm:NAME, hf:FOLDER, an architecture, "
    "or a file of TorchScript, torch.export or ONNX; DENOISER+MODEL: with that folder's denoiser before it."
)
ARCH_HELP = "Architecture of a checkpoint (default: the `arch` that it names)."
GRADIENT_HELP = "full, or approximate for models without gradients (default: what the model allows)."
BATCH_HELP = "Shape of the forward pass (default: 256, or what the model's file prescribes)."
RADII_HELP = "Radii of the tables (default: those that the runs decide, else round ones from 0 to about their largest)."
DEVICE_HELP = "cpu, cuda or mps; auto takes cuda if it is there, else cpu."
NOISE_HELP = "gaussian, gaussian64, or lattice: exact noise for inputs on a grid, which rounding cannot break."
GRID_HELP = "Steps of the lattice for each unit (default: 255, 8-bit images)."
WEIGHTS_HELP = "Weights for a model that comes without: safetensors, or a file of tensors."


def load_for(model: str, weights: Path | None, data: "Dataset", arch: str | None = None) -> "nn.Module":
    """The model for the data's shape and classes."""
    from doublebubble.models.loading import load_classifier

    info = data.info
    return load_classifier(model, info.shape, info.num_classes, info.mean, info.std, weights, arch)


def chosen_device(name: str) -> str:
    """The device asked for, if it is there; `auto` is cuda if it is there, else cpu."""
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name not in there:
        raise SettingError(f"device: expected auto, cpu, cuda or mps, got {name!r}")
    if not there[name]:
        raise SettingError(f"device: {name} is not available on this machine")
    return name


def chosen_noise(name: str) -> NoiseName:
    """The noise asked for, if there is one of that name."""
    for known in NOISES:
        if name == known:
            return known
    raise SettingError(f"noise: expected one of {', '.join(NOISES)}, got {name!r}")


@contextmanager
def spoken_warnings() -> Iterator[None]:
    """Warnings of this package become single sentences on stderr; all others stay as they are."""
    console = Terminal(stderr=True)
    original = warnings.showwarning

    def speak(message: Warning | str, category: type[Warning], *rest: object, **more: object) -> None:
        if issubclass(category, DoubleBubbleWarning):
            console.print(f"warning: {message}")
        else:
            original(message, category, *rest, **more)  # type: ignore[arg-type]

    with warnings.catch_warnings():
        warnings.simplefilter("always", DoubleBubbleWarning)
        warnings.showwarning = speak
        yield
