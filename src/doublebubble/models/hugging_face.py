"""Image classifiers of Hugging Face from a folder on disk: configuration, safetensors, names of the classes.

Nothing is downloaded, no code in the folder is run, and weights that are pickles are refused. May import only errors
and other modules of models.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from doublebubble.errors import CheckpointError, ModelError, SettingError
from doublebubble.files import read_plain
from doublebubble.json_text import parse_json
from doublebubble.models.architectures import Normalised, Shape
from doublebubble.models.calling import ModelCode, bare_logits

PREFIX = "hf:"
_CONFIG, _PROCESSOR = "config.json", "preprocessor_config.json"
_MOST_CLASSES, _LARGEST = 1 << 20, 1e6


@dataclass(frozen=True)
class HuggingFaceFolder:
    """What the files beside the weights say; `shape` is None where they do not say the size of the images."""

    path: Path
    shape: Shape | None
    classes: tuple[str, ...]
    mean: tuple[float, ...] | None
    std: tuple[float, ...] | None
    channels: int


class _Logits(nn.Module):
    """A network whose output holds its logits, as one that returns them."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        """The logits of a batch."""
        logits: Tensor = bare_logits(self.network(x))
        return logits


class HuggingFaceModel(Normalised):
    """A classifier of images in [0, 1] that knows the names of its classes."""

    def __init__(
        self,
        network: nn.Module,
        classes: tuple[str, ...],
        mean: tuple[float, ...],
        std: tuple[float, ...],
        repeat: int,
    ) -> None:
        super().__init__(_Logits(network), mean, std, repeat)
        self.classes = classes


def read_folder(name: str) -> HuggingFaceFolder:
    """What a folder says of its model, or an error that says what is missing or refused."""
    path = Path(name.removeprefix(PREFIX))
    if not (path / _CONFIG).is_file():
        raise SettingError(
            f"{PREFIX}{path}: expected a folder that save_pretrained() wrote, found no {_CONFIG} in it; nothing is "
            "downloaded here"
        )
    config = _json(path / _CONFIG)
    for key in ("auto_map", "quantization_config"):
        if config.get(key):
            raise CheckpointError(f"{path / _CONFIG}: refused, since its `{key}` could have code executed")
    processor = _json(path / _PROCESSOR) if (path / _PROCESSOR).is_file() else {}
    mean, std = _normalisation(processor, path / _PROCESSOR) if processor else (None, None)
    channels = _whole(config.get("num_channels", 3), f"{path / _CONFIG}: num_channels", 1 << 10)
    size = config.get("image_size")
    shape = None
    if size is not None:
        sides = size if isinstance(size, list) and len(size) == 2 else [size, size]
        height, width = (_whole(side, f"{path / _CONFIG}: image_size", 1 << 16) for side in sides)
        shape = (channels, height, width)
    return HuggingFaceFolder(path, shape, _names(config, path / _CONFIG), mean, std, channels)


def load_hugging_face(name: str, shape: Shape, mean: tuple[float, ...], std: tuple[float, ...]) -> HuggingFaceModel:
    """The model of a folder, for images of a shape in [0, 1]; `mean` and `std` are used where the folder has none.

    Grey images are repeated to three channels where the model wants three.
    """
    about = read_folder(name)
    try:
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise SettingError(
            f"{name}: transformers is not installed; `pip install 'doublebubble[hf]'` brings it"
        ) from error
    if not list(about.path.glob("*.safetensors")):
        raise CheckpointError(f"{about.path}: expected weights as safetensors, found none")
    if shape[0] not in (1, about.channels):
        raise SettingError(f"{name}: expected images of 1 or {about.channels} channels, got {shape[0]}")
    try:
        with ModelCode(f"{name}: transformers cannot open it"), _without_bars(transformers):
            network = _opened(transformers, about.path)
    except ModelError as error:
        raise CheckpointError(str(error)) from error
    if about.mean is not None and about.std is not None:
        mean, std = about.mean, about.std
    if any(len(numbers) not in (1, shape[0], about.channels) for numbers in (mean, std)):
        raise CheckpointError(f"{about.path}: normalises {len(mean)} channels, the model has {about.channels}")
    # A mean for each of the model's channels makes as many of one.
    repeat = 1 if max(len(mean), len(std)) == about.channels else about.channels // shape[0]
    return HuggingFaceModel(network, about.classes, mean, std, repeat)


@contextmanager
def _without_bars(transformers: Any) -> Iterator[None]:
    """Within, transformers draws no progress: what is printed is for this package to say."""
    bars = transformers.utils.logging
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()


def _opened(transformers: Any, path: Path) -> nn.Module:
    """The network, with plain attention: other kinds can be fetched, as code, from elsewhere."""
    network, report = transformers.AutoModelForImageClassification.from_pretrained(
        str(path),
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        attn_implementation="eager",
        output_loading_info=True,
    )
    problems = [f"missing {name}" for name in sorted(report.get("missing_keys", ()))]
    problems += [f"unexpected {name}" for name in sorted(report.get("unexpected_keys", ()))]
    if problems:
        more = f" and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise ValueError(f"weights do not fit the model: {', '.join(problems[:5])}{more}")
    if not isinstance(network, nn.Module):
        raise TypeError(f"expected a torch module, got {type(network).__name__}")
    return network.float().eval()


def _json(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(read_plain(path))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: expected JSON ({error})") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: expected a JSON object, got {type(content).__name__}")
    return content


def _whole(value: object, where: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise CheckpointError(f"{where}: expected a whole number from 1 to {most}, got {value!r:.80}")
    return value


def _names(config: dict[str, Any], where: Path) -> tuple[str, ...]:
    """The names of the classes in their order; none if the configuration has no more than a number for each."""
    names = config.get("id2label")
    if not isinstance(names, dict) or not names:
        return ()
    try:
        numbered = {int(number): str(name) for number, name in names.items()}
    except ValueError as error:
        raise CheckpointError(f"{where}: expected numbers as the keys of id2label ({error})") from error
    if sorted(numbered) != list(range(len(names))) or len(numbered) > _MOST_CLASSES:
        raise CheckpointError(f"{where}: expected id2label to name the classes 0 to {len(names) - 1}, each once")
    return tuple(numbered[number] for number in range(len(numbered)))


def _normalisation(processor: dict[str, Any], where: Path) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What makes of pixels in [0, 1] what the model takes, if it is a mean and a deviation for each channel."""
    factor = processor.get("rescale_factor", 1 / 255)
    plain = processor.get("do_rescale", True) and not processor.get("rescale_offset")
    if not plain or not isinstance(factor, int | float) or abs(255 * factor - 1) > 1e-6:
        raise CheckpointError(f"{where}: expected pixels that are divided by 255, it scales them in another way")
    if not processor.get("do_normalize", True):
        return (0.0,), (1.0,)
    return _numbers(processor, "image_mean", where), _numbers(processor, "image_std", where)


def _numbers(processor: dict[str, Any], key: str, where: Path) -> tuple[float, ...]:
    """A number for each channel, or one for all; deviations are above 0."""
    values = processor.get(key)
    given: list[object] = values if isinstance(values, list) else [values]
    found = [float(v) for v in given if isinstance(v, int | float) and -_LARGEST < v < _LARGEST]
    if not found or len(found) < len(given) or (key == "image_std" and min(found) <= 0):
        raise CheckpointError(f"{where}: expected {key} to be a number for each channel, got {values!r:.80}")
    return tuple(found)
