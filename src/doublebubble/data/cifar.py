"""Reads CIFAR-10's batches, binary or Python, without executing anything they hold. May import only errors."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from doublebubble.data.pickles import byte_array, read_pickled_dict
from doublebubble.errors import DataError

Batch = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]

_IMAGE = (3, 32, 32)
_PIXELS = 3 * 32 * 32
_BATCHES = {"train": tuple(f"data_batch_{i}" for i in range(1, 6)), "test": ("test_batch",)}
_PER_BATCH = 10_000


def read_cifar10(root: Path, split: str) -> Batch:
    """Images (n, 3, 32, 32) and labels of a split, from the binary batches if they are there, else the Python ones."""
    binary, python = root / "cifar-10-batches-bin", root / "cifar-10-batches-py"
    if binary.is_dir() or not python.is_dir():
        batches = [read_binary_batch(binary / f"{name}.bin") for name in _BATCHES[split]]
    else:
        batches = [read_python_batch(python / name) for name in _BATCHES[split]]
    return np.concatenate([images for images, _ in batches]), np.concatenate([labels for _, labels in batches])


def read_binary_batch(path: Path) -> Batch:
    """One binary batch: 10 000 records of a label byte and 3072 pixel bytes, channel after channel."""
    if not path.is_file():
        raise DataError(f"{path}: expected this file, found none")
    expected, found = _PER_BATCH * (1 + _PIXELS), path.stat().st_size
    if found != expected:
        raise DataError(f"{path}: expected {expected} bytes, got {found}")
    content = path.read_bytes()
    records = np.frombuffer(content, np.uint8).reshape(_PER_BATCH, 1 + _PIXELS)
    return _checked(path, records[:, 1:], records[:, 0])


def read_python_batch(path: Path) -> Batch:
    """One Python batch: a pickled dictionary with `data`, one row of 3072 bytes per image, and `labels`."""
    if not path.is_file():
        raise DataError(f"{path}: expected this file, found none")
    batch = read_pickled_dict(path)
    if missing := [key for key in ("data", "labels") if key not in batch]:
        raise DataError(f"{path}: expected a batch with data and labels, found no {' and no '.join(missing)}")
    pixels, labels = byte_array(batch["data"], path), batch["labels"]
    if pixels.ndim != 2 or len(pixels) == 0 or pixels.shape[1] != _PIXELS:
        raise DataError(f"{path}: expected data of {_PIXELS} bytes per image, got shape {pixels.shape}")
    if not isinstance(labels, list) or len(labels) != len(pixels) or not all(type(label) is int for label in labels):
        raise DataError(f"{path}: expected a list of {len(pixels)} integer labels, one per image")
    return _checked(path, pixels, np.array(labels))


def _checked(path: Path, pixels: npt.NDArray[np.uint8], labels: npt.NDArray[np.integer]) -> Batch:
    if labels.max() >= 10 or labels.min() < 0:
        wrong = int(np.argmax((labels < 0) | (labels >= 10)))
        raise DataError(f"{path}: expected labels from 0 to 9, got {labels[wrong]} at image {wrong}")
    return pixels.reshape(-1, *_IMAGE), labels.astype(np.int64)
