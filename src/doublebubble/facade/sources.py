"""Which inputs are there to certify? Whatever form the data have, one source: inputs by index, with their labels.

An input's index is its position in the data, so batches, shuffling and workers of a loader change nothing. May not
import the command.
"""

import hashlib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, SequentialSampler
from torch.utils.data import Dataset as TorchDataset

from doublebubble.data import DATASETS, Dataset, load_dataset
from doublebubble.errors import DoubleBubbleWarning, InputError, SettingError
from doublebubble.runs.digests import data_digest
from doublebubble.smoothing import Input

UNIT = (0.0, 1.0)
Data = Dataset | TorchDataset[Any] | DataLoader[Any] | Sequence[Any] | Tensor | np.ndarray | str | Path


class Source(Protocol):
    """Inputs by index. `num_classes` is None where the data do not say it.

    `classes` are those of a folder of images, in the order of its labels, and `numbering` says in a sentence which
    label stands for which class, where that is known.
    """

    name: str
    split: str
    num_classes: int | None
    classes: tuple[str, ...] | None
    numbering: str
    domain: tuple[float, float] | None

    def __len__(self) -> int: ...

    def input(self, index: int) -> Input:
        """One input and its label, if there is one."""

    def digest(self) -> str:
        """A fingerprint of all inputs and labels."""


class NamedSource:
    """A data set that this package knows."""

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self.name, self.split = data.info.name, str(data.split)
        self.num_classes: int | None = data.info.num_classes
        self.classes: tuple[str, ...] | None = data.info.classes if self.name.startswith("folder:") else None
        self.numbering = data.numbering
        self.domain: tuple[float, float] | None = data.info.domain

    def __len__(self) -> int:
        return len(self._data)

    def input(self, index: int) -> Input:
        """One input and its label."""
        return Input(index, self._data.inputs(slice(index, index + 1))[0], int(self._data.labels[index]))

    def digest(self) -> str:
        """That of the stored pixels and the labels."""
        return data_digest(self._data.pixels, self._data.labels)


class ArraySource:
    """Inputs, and labels if there are any, as tensors or arrays whose first axis counts the inputs."""

    num_classes: int | None = None
    classes: tuple[str, ...] | None = None
    numbering = ""

    def __init__(self, inputs: object, labels: object, domain: tuple[float, float] | None) -> None:
        self.name, self.split, self.domain = "tensors", "given", domain
        self._inputs = _floats(inputs, "inputs")
        self._labels = None if labels is None else torch.as_tensor(np.asarray(_on_cpu(labels)))
        if self._labels is not None and self._labels.shape != (len(self._inputs),):
            raise InputError(
                f"labels: expected one for each of {len(self._inputs)} inputs, got shape {tuple(self._labels.shape)}"
            )

    def __len__(self) -> int:
        return len(self._inputs)

    def input(self, index: int) -> Input:
        """One input and its label, if there is one."""
        return Input(index, self._inputs[index], None if self._labels is None else _label(self._labels[index], index))

    def digest(self) -> str:
        """That of both arrays."""
        return data_digest(self._inputs, torch.empty(0) if self._labels is None else self._labels)


class ItemSource:
    """A data set of torch, read by index, one input whenever it is needed.

    All are read once for the fingerprint. An input that reads differently later (an augmentation by chance) is an
    error: its certificate would be about an input that nobody has.
    """

    num_classes: int | None = None
    classes: tuple[str, ...] | None = None
    numbering = ""

    def __init__(self, read: Callable[[int], object], size: int, name: str, domain: tuple[float, float] | None) -> None:
        self._read, self._size, self._seen = read, size, list[bytes]()
        self.name, self.split, self.domain = name, "given", domain

    def __len__(self) -> int:
        return self._size

    def input(self, index: int) -> Input:
        """One input and its label, if there is one."""
        given = _input(self._read(index), index)
        if self._seen and self._seen[index] != _fingerprint(given):
            raise InputError(
                f"input {index}: the data set gave another input than before; expected one without random changes"
            )
        return given

    def digest(self) -> str:
        """That of all inputs and labels, each read once."""
        if not self._seen:
            self._seen = [_fingerprint(_input(self._read(index), index)) for index in range(self._size)]
        return hashlib.sha256(b"".join(self._seen)).hexdigest()


def source_of(
    data: Data,
    domain: tuple[float, float] | None = UNIT,
    data_dir: Path | None = None,
    classes: Sequence[str] | None = None,
    model_classes: Sequence[str] = (),
) -> Source:
    """The source of any form of data; one with a domain of its own keeps it.

    `classes` number the folders of one, else `model_classes` do, if all of its folders are among them.
    """
    if isinstance(data, str | Path):
        name = _dataset_name(data)
        return NamedSource(load_dataset(name, "test", data_dir, classes=classes, model_classes=model_classes))
    if classes is not None:
        raise SettingError("classes: these data have labels of their own, a list of classes is for a folder of images")
    if isinstance(data, Dataset):
        return NamedSource(data)
    if isinstance(data, DataLoader):
        return _of_loader(data, domain)
    if isinstance(data, IterableDataset):
        return _collected([_input(item, index) for index, item in enumerate(data)], type(data).__name__, domain)
    if isinstance(data, TorchDataset):
        return ItemSource(data.__getitem__, _length(data), type(data).__name__, domain)
    if isinstance(data, Tensor | np.ndarray):
        return ArraySource(data, None, domain)
    if isinstance(data, list | tuple) and len(data) == 2:
        return ArraySource(data[0], data[1], domain)
    raise SettingError(
        "data: expected a pair (inputs, labels), a torch Dataset or DataLoader, or the name or folder of a data set, "
        f"got {type(data).__name__}"
    )


def _dataset_name(data: str | Path) -> str:
    name = str(data)
    return f"folder:{name}" if name not in DATASETS and Path(name).is_dir() else name


def _of_loader(loader: DataLoader[Any], domain: tuple[float, float] | None) -> Source:
    data, name = loader.dataset, type(loader.dataset).__name__
    if isinstance(data, IterableDataset):
        whole = loader.batch_size is None and loader.batch_sampler is None
        items = loader if whole else (item for batch in loader for item in _unpacked(batch))
        return _collected([_input(item, index) for index, item in enumerate(items)], name, domain)
    if not isinstance(loader.sampler, SequentialSampler | RandomSampler):
        kind = type(loader.sampler).__name__
        raise SettingError(f"data: {kind} does not say which input is which; pass the loader's data set, and indices")
    if isinstance(loader.sampler, RandomSampler):
        message = "the loader shuffles; inputs are numbered and read in the order of its data set instead"
        warnings.warn(message, DoubleBubbleWarning, stacklevel=5)
    if loader.batch_sampler is None:
        return ItemSource(lambda index: loader.collate_fn(data[index]), _length(data), name, domain)
    return ItemSource(lambda index: _unpacked(loader.collate_fn([data[index]]))[0], _length(data), name, domain)


def _unpacked(batch: object) -> list[object]:
    """The items of a batch: of a tensor its rows, of (inputs, labels) pairs of rows."""
    if isinstance(batch, Tensor | np.ndarray):
        return list(batch)
    if isinstance(batch, list | tuple) and len(batch) == 1:
        return list(batch[0])
    if isinstance(batch, list | tuple) and len(batch) >= 2:
        return list(zip(batch[0], batch[1], strict=True))
    raise InputError(f"data: expected batches (inputs, labels), got {_described(batch)}")


def _collected(inputs: list[Input], name: str, domain: tuple[float, float] | None) -> Source:
    """A source of inputs that can be read only once, and so are held."""
    return ItemSource(lambda index: (inputs[index].x, inputs[index].label), len(inputs), name, domain)


def _input(item: object, index: int) -> Input:
    if isinstance(item, list | tuple) and len(item) >= 2:
        return Input(index, _floats(item[0], f"input {index}"), _label(item[1], index))
    if isinstance(item, list | tuple) and len(item) == 1:
        item = item[0]
    return Input(index, _floats(item, f"input {index}"), None)


def _label(label: object, index: int) -> int | None:
    if label is None:
        return None
    value = np.asarray(_on_cpu(label))
    if value.shape != () or not np.issubdtype(value.dtype, np.integer):
        raise InputError(f"input {index}: expected a whole number as its label, got {_described(label)}")
    return int(value)


def _floats(values: object, what: str) -> Tensor:
    """A tensor of floating-point numbers, or an error that says what to do."""
    if not isinstance(values, Tensor | np.ndarray):
        raise InputError(f"{what}: expected a tensor or an array, got {_described(values)}")
    found = torch.as_tensor(values)
    if not found.is_floating_point():
        raise InputError(
            f"{what}: expected floating-point numbers in the domain's units, got {found.dtype}; "
            "pixels of 0 to 255 are to be divided by 255"
        )
    return found.detach().cpu()


def _on_cpu(values: object) -> object:
    return values.detach().cpu() if isinstance(values, Tensor) else values


def _described(value: object) -> str:
    return f"a dict of {', '.join(map(str, value))}" if isinstance(value, dict) else type(value).__name__


def _fingerprint(given: Input) -> bytes:
    label = torch.tensor([] if given.label is None else [given.label])
    return bytes.fromhex(data_digest(given.x, label))


def _length(data: TorchDataset[Any]) -> int:
    try:
        return len(cast("Any", data))
    except TypeError:
        raise SettingError(f"data: expected a data set with a length, {type(data).__name__} has none") from None
