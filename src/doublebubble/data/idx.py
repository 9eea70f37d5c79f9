"""Reads IDX files, the layout of MNIST and its relatives, plain or gzipped. May import only errors."""

import gzip
import io
import math
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from doublebubble.errors import DataError
from doublebubble.files import largest_unpacked, read_plain

_UNSIGNED_BYTE = 8


def find_idx(folder: Path, name: str) -> Path:
    """The file `name` or `name`.gz in the folder; an error names both if neither is there."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise DataError(f"{folder / name}: expected this file, or the same with .gz, found neither")


def read_idx(path: Path, dimensions: int) -> npt.NDArray[np.uint8]:
    """The whole array of unsigned bytes in an IDX file of the given number of dimensions.

    A file of another type or dimensions, or one byte too short or too long, is an error: nothing half-read is used.
    """
    try:
        content = _unpacked(read_plain(path)) if path.suffix == ".gz" else read_plain(path)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({error})") from error
    header = 4 + 4 * dimensions
    expected = bytes([0, 0, _UNSIGNED_BYTE, dimensions])
    if content[:4] != expected:
        raise DataError(
            f"{path}: expected an IDX file that begins {expected.hex()}, got {content[:4].hex() or 'nothing'}"
        )
    if len(content) < header:
        raise DataError(f"{path}: truncated within its {header}-byte header, got {len(content)} bytes")
    shape = tuple(int(n) for n in np.frombuffer(content, ">u4", count=dimensions, offset=4))
    size = header + math.prod(shape)
    if len(content) != size:
        raise DataError(f"{path}: expected {size} bytes for shape {shape}, got {len(content)}")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def _unpacked(packed: bytes) -> bytes:
    """What a gzip file holds, unless that is out of all proportion to its size."""
    limit = largest_unpacked(len(packed))
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(f"its {len(packed)} bytes would unpack to more than {limit}")
    return content


def read_idx_pair(
    folder: Path, prefix: str, image_shape: tuple[int, int], num_classes: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Images (n, 1, height, width) and labels of one split, checked against each other."""
    images_path = find_idx(folder, f"{prefix}-images-idx3-ubyte")
    labels_path = find_idx(folder, f"{prefix}-labels-idx1-ubyte")
    images, labels = read_idx(images_path, 3), read_idx(labels_path, 1)
    if images.shape[1:] != image_shape:
        raise DataError(f"{images_path}: expected images of {image_shape}, got {images.shape[1:]}")
    if len(images) != len(labels):
        raise DataError(f"{labels_path}: expected {len(images)} labels, one per image, got {len(labels)}")
    if len(labels) and labels.max() >= num_classes:
        raise DataError(f"{labels_path}: expected labels below {num_classes}, got {labels.max()}")
    return images[:, None], labels.astype(np.int64)
