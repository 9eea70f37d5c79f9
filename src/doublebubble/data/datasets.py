"""A data set in memory: integer pixels, labels, and inputs as the models take them. May import only errors."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from doublebubble.data.cifar import read_cifar10
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


def load_dataset(name: str, split: Split, data_dir: Path | None = None) -> Dataset:
    """One split of a data set, complete and checked, or an error that names the file and what is wrong with it."""
    if split not in get_args(Split):
        raise SettingError(f"split: expected train or test, got {split!r}")
    info = dataset_info(name)
    images, labels = _read(info, split, data_root(data_dir))
    expected = info.sizes[split == "test"]
    if len(images) != expected:
        raise DataError(f"{name}: expected {expected} images in its {split} split, got {len(images)}")
    return Dataset(info, split, torch.from_numpy(np.array(images)), torch.from_numpy(np.array(labels)))


def _read(info: DatasetInfo, split: Split, root: Path) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    if info.name == "digits":
        return _read_digits(split)
    if not (root / info.folder).exists() and info.name != "cifar10":
        raise DataError(f"{info.name}: no files under {root}; run `doublebubble data download {info.name}`")
    if info.name == "cifar10":
        return read_cifar10(root, split)
    prefix = "train" if split == "train" else "t10k"
    return read_idx_pair(root / info.folder, prefix, info.shape[1:], info.num_classes)


def _read_digits(split: Split) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Every fifth image is the test split, so that all writers are in both."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    chosen = (np.arange(len(bunch.target)) % 5 == 4) == (split == "test")
    images = bunch.images[chosen].astype(np.uint8)
    return images[:, None], bunch.target[chosen].astype(np.int64)
