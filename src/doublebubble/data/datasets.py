"""A data set in memory: integer pixels, labels, and inputs as the models take them. May import only errors."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from doublebubble.data.cifar import read_cifar10
from doublebubble.data.folders import named_classes, read_class_folders, read_tiny_imagenet
from doublebubble.data.idx import read_idx_pair
from doublebubble.data.registry import DatasetInfo, dataset_info
from doublebubble.errors import DataError, SettingError

Split = Literal["train", "test"]


@dataclass(frozen=True)
class Dataset:
    """One split: `pixels` are uint8 of shape (n, channels, height, width), `labels` int64 below `info.num_classes`."""

    info: DatasetInfo
    split: Split
    pixels: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def inputs(self, indices: Tensor | slice = slice(None)) -> Tensor:
        """The chosen images as float32 in [0, 1]."""
        return to_unit(self.pixels[indices], self.info.top)

    @property
    def numbering(self) -> str:
        """Which label stands for which class and, for folders, how they were numbered."""
        how = f" ({self.info.layout})" if self.info.name.startswith("folder:") else ""
        return f"the labels are {named_classes(self.info.classes)}{how}"


def to_unit(pixels: Tensor, top: int) -> Tensor:
    """Integer pixels as float32 in [0, 1], `top` standing for 1."""
    return pixels.to(torch.float32) / top


def data_root(data_dir: Path | None = None) -> Path:
    """Where data sets lie: the argument, else DOUBLEBUBBLE_DATA, else the user's cache folder."""
    if data_dir is not None:
        return data_dir
    if named := os.environ.get("DOUBLEBUBBLE_DATA"):
        return Path(named)
    import pooch

    return Path(pooch.os_cache("doublebubble"))


def load_dataset(
    name: str,
    split: Split,
    data_dir: Path | None = None,
    size: int | None = None,
    classes: Sequence[str] | None = None,
    model_classes: Sequence[str] = (),
) -> Dataset:
    """One split of a data set, every file read whole and checked, or an error that names the file and what is wrong.

    How many images there are is for the files to say; `check_complete` asks for as many as were published.
    `folder:PATH` reads anyone's images: the folders PATH/train and PATH/test (or val) with one folder for each class in
    them, or PATH itself with one folder for each class, then the test split. Such folders are numbered as in `classes`,
    else as in `model_classes` if all of them are there, else in alphabetical order; `info.layout` says which. `size`
    resizes images that come as image files.
    """
    if split not in get_args(Split):
        raise SettingError(f"split: expected train or test, got {split!r}")
    if name.startswith("folder:"):
        return _load_folder(name, split, size, classes, model_classes)
    if classes is not None:
        raise SettingError(f"classes: {name} has its own, a list of classes is for folder:PATH")
    info = dataset_info(name)
    if size is not None and name != "tiny-imagenet":
        raise SettingError(f"size: {name} has one size, {info.shape[1]}x{info.shape[2]}; got {size}")
    if name == "tiny-imagenet":
        found = read_tiny_imagenet(_existing(info, data_root(data_dir)), split, size)
        info = replace(info, classes=found.classes, shape=_shape(found.images))
        images, labels = found.images, found.labels
    else:
        images, labels = _read(info, split, data_root(data_dir))
    return Dataset(info, split, torch.from_numpy(np.array(images)), torch.from_numpy(np.array(labels)))


def check_complete(data: Dataset) -> None:
    """An error unless the split has the published number of images and classes."""
    registered = dataset_info(data.info.name)
    expected = registered.sizes[data.split == "test"]
    if len(data) != expected:
        raise DataError(f"{data.info.name}: expected {expected} images in its {data.split} split, got {len(data)}")
    if data.info.num_classes != registered.num_classes:
        raise DataError(f"{data.info.name}: expected {registered.num_classes} classes, got {data.info.num_classes}")


def _load_folder(
    name: str, split: Split, size: int | None, classes: Sequence[str] | None, model_classes: Sequence[str]
) -> Dataset:
    root = Path(name.removeprefix("folder:"))
    inner = [root / name for name in ((split,) if split == "train" else ("test", "val"))]
    chosen = next((path for path in inner if path.is_dir()), None)
    if chosen is None and (split == "train" or (root / "train").is_dir()):
        raise DataError(f"{root}: expected a folder {inner[0].name} with one folder for each class in it, found none")
    found = read_class_folders(chosen or root, size, classes, model_classes)
    half = (0.5,) * found.images.shape[1]
    info = DatasetInfo(
        name,
        _shape(found.images),
        found.classes,
        mean=half,
        std=half,
        sizes=(0, 0),
        layout=f"one folder for each class, numbered {found.order}",
    )
    return Dataset(info, split, torch.from_numpy(found.images), torch.from_numpy(found.labels))


def _shape(images: npt.NDArray[np.uint8]) -> tuple[int, int, int]:
    _, channels, height, width = images.shape
    return channels, height, width


def _existing(info: DatasetInfo, root: Path) -> Path:
    """The folder of a data set's files, or an error that says how to get them."""
    if not any((root / folder).is_dir() for folder in info.folders):
        raise DataError(
            f"{info.name}: no files under {root}; run `doublebubble data download {info.name}`, "
            f"or put there {info.layout}"
        )
    return root / info.folders[0]


def _read(info: DatasetInfo, split: Split, root: Path) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    if info.name == "digits":
        return _read_digits(split)
    folder = _existing(info, root)
    if info.name == "cifar10":
        return read_cifar10(root, split)
    return read_idx_pair(folder, "train" if split == "train" else "t10k", info.shape[1:], info.num_classes)


def _read_digits(split: Split) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Every fifth image is the test split, so that all writers are in both."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    chosen = (np.arange(len(bunch.target)) % 5 == 4) == (split == "test")
    images = bunch.images[chosen].astype(np.uint8)
    return images[:, None], bunch.target[chosen].astype(np.int64)
