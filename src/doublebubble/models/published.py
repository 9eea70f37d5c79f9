"""Checkpoints as the public smoothing repositories and torchvision write them, read as they are.

Such a file is a dictionary with `arch`, `state_dict` and whatever training kept, or the weights alone. The names of the
weights tell what was wrapped around the network: `module.` is parallel training, `0.` and `1.` are a normalisation and
the network after it. May import only errors, checkpoints and architectures.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor, nn

from doublebubble.errors import CheckpointError, SettingError
from doublebubble.models.architectures import ARCHITECTURES, Normalised, Shape, build
from doublebubble.models.checkpoints import load_weights, read_content, weights_in

_LENET = {"conv1": "0", "conv2": "3", "fc1": "7", "fc2": "9"}
"""The names of LeNet's layers in MACER and Consistency, and the places that they have here."""
_CIFAR = ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010))
_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))

Normalisation = tuple[tuple[float, ...], tuple[float, ...]]
"""The mean and the deviation of each channel."""


@dataclass(frozen=True)
class Published:
    """A checkpoint without its wrapping. `arch` is what the file calls it, None if it names none.

    `layered` says that a normalisation came first in the network, `normalisation` what it was, where the file says it;
    `bare` that its trainer normalised nothing.
    """

    arch: str | None
    tensors: dict[str, Tensor]
    layered: bool
    normalisation: Normalisation | None
    bare: bool


def arch_of(name: str) -> str:
    """Our name of an architecture that a repository calls so."""
    known = name.lower().removeprefix("cifar_")
    if known not in ARCHITECTURES:
        raise SettingError(f"arch: expected one of {', '.join(ARCHITECTURES)}, got {name!r:.80}; --arch names another")
    return known


def read_published(path: Path) -> Published:
    """The checkpoint in a file of tensors and plain values, or an error that says what is wrong with it."""
    content = read_content(path)
    named = content.get("arch") if isinstance(content, dict) else None
    bare = isinstance(content, dict) and isinstance(content.get("net"), dict) and "state_dict" not in content
    tensors, first = _unwrapped(weights_in(content, path), path)
    normalisation = None if not first else _stored_normalisation(first, path)
    return Published(named if isinstance(named, str) else None, tensors, first is not None, normalisation, bare)


def load_published(
    path: Path, arch: str | None, shape: Shape, num_classes: int, mean: tuple[float, ...], std: tuple[float, ...]
) -> Normalised:
    """The network of a checkpoint, `arch` in place of the one that the file names if it is given.

    It is normalised as the file says. A normalisation layer without numbers has those that the public repositories
    use: none for one channel, CIFAR-10's for 32x32, else ImageNet's. MACER's files have none. In all other files the
    data set's own mean and std, `mean` and `std`, are what images were normalised with before they came to the network.
    """
    found = read_published(path)
    named = found.arch if arch is None else arch
    if named is None:
        raise SettingError(
            f"{path}: names no `arch`, and a file of weights needs an architecture to go with: give --arch, one of "
            f"{', '.join(ARCHITECTURES)}"
        )
    chosen = arch_of(named)
    mean, std = _normalisation(found, shape, (mean, std))
    if len(mean) not in (1, shape[0]) or len(std) != len(mean):
        raise CheckpointError(f"{path}: normalises {len(mean)} channels, the images have {shape[0]}")
    model = build(chosen, shape, num_classes, mean, std)
    own = any(name.startswith("network.") for name in found.tensors)
    network = model if own else model.get_submodule("network")
    tensors = found.tensors if own else _renamed(chosen, found.tensors)
    load_weights(network, {**_untracked(network, tensors), **tensors}, path)
    return model


def _normalisation(found: Published, shape: Shape, data: Normalisation) -> Normalisation:
    none = ((0.0,) * shape[0], (1.0,) * shape[0])
    if found.normalisation is not None:
        return found.normalisation
    if found.bare or (found.layered and shape[0] == 1):
        return none
    if found.layered:
        return _CIFAR if shape[1:] == (32, 32) else _IMAGENET
    return data


def _unwrapped(tensors: dict[str, Tensor], path: Path) -> tuple[dict[str, Tensor], dict[str, Tensor] | None]:
    """The network's weights under its own names, and those of the layer before it; None if there was no such layer."""
    first: dict[str, Tensor] | None = None
    while tensors:
        if all(name.startswith("module.") for name in tensors):
            tensors = {name.removeprefix("module."): tensor for name, tensor in tensors.items()}
        elif first is None and _layered(tensors):
            first = {name.removeprefix("0."): tensor for name, tensor in tensors.items() if name.startswith("0.")}
            tensors = {name.removeprefix("1."): tensor for name, tensor in tensors.items() if name.startswith("1.")}
        else:
            return tensors, first
    raise CheckpointError(f"{path}: holds no weights of a network")


def _layered(tensors: dict[str, Tensor]) -> bool:
    """Whether the names are those of a normalisation, perhaps without numbers, and one network of several layers."""
    return all(re.match(r"0\.|1\.\w+\.\w", name) for name in tensors) and any(n.startswith("1.") for n in tensors)


def _stored_normalisation(first: dict[str, Tensor], path: Path) -> Normalisation:
    means = [tensor for name, tensor in first.items() if re.fullmatch(r"means?|mu", name)]
    deviations = [tensor for name, tensor in first.items() if re.fullmatch(r"stds?|sds?|sigma", name)]
    if len(first) != 2 or len(means) != 1 or len(deviations) != 1:
        raise CheckpointError(
            f"{path}: expected the first layer to be a normalisation with a mean and a std, got {', '.join(first)}"
        )
    mean, std = (tuple(float(value) for value in tensor.flatten()) for tensor in (means[0], deviations[0]))
    if not all(value > 0 for value in std):
        raise CheckpointError(f"{path}: expected deviations above 0 in its normalisation, got {std}")
    return mean, std


def _renamed(arch: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    if arch != "lenet":
        return tensors
    parts = {name: name.partition(".") for name in tensors}
    return {f"{_LENET.get(layer, layer)}.{rest}": tensors[name] for name, (layer, _, rest) in parts.items()}


def _untracked(network: nn.Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Counters of batch norm that evaluation does not use, and that files from before torch 0.4.1 lack."""
    state = network.state_dict()
    return {name: state[name] for name in state if name.endswith("num_batches_tracked") and name not in tensors}
