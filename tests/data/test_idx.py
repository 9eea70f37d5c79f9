"""IDX files written by hand from the format's definition, and every way in which one can be wrong."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from doublebubble.data.idx import read_idx, read_idx_pair
from doublebubble.errors import DataError

IMAGES = np.random.default_rng(1).integers(0, 256, size=(5, 4, 3), dtype=np.uint8)
LABELS = np.array([0, 1, 2, 1, 0], np.uint8)


def idx_bytes(array: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_pair(folder: Path, images: bytes, labels: bytes, suffix: str = "") -> None:
    (folder / f"train-images-idx3-ubyte{suffix}").write_bytes(images)
    (folder / f"train-labels-idx1-ubyte{suffix}").write_bytes(labels)


@pytest.mark.parametrize("zipped", [False, True])
def test_a_pair_reads_as_written(tmp_path: Path, zipped: bool) -> None:
    images, labels = idx_bytes(IMAGES), idx_bytes(LABELS)
    if zipped:
        write_pair(tmp_path, gzip.compress(images), gzip.compress(labels), ".gz")
    else:
        write_pair(tmp_path, images, labels)
    read, numbers = read_idx_pair(tmp_path, "train", (4, 3), 3)
    assert np.array_equal(read[:, 0], IMAGES)
    assert numbers.tolist() == [0, 1, 2, 1, 0]


def test_every_truncation_and_one_byte_too_many_are_refused_by_name(tmp_path: Path) -> None:
    whole = idx_bytes(IMAGES)
    path = tmp_path / "images"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match="images"):
            read_idx(path, 3)
    path.write_bytes(whole + b"\0")
    with pytest.raises(DataError, match="got 77"):
        read_idx(path, 3)


def test_a_truncated_gzip_is_refused_by_name(tmp_path: Path) -> None:
    whole = gzip.compress(idx_bytes(IMAGES))
    path = tmp_path / "images.gz"
    for length in (0, 5, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"images\.gz"):
            read_idx(path, 3)


def test_labels_in_place_of_images_are_refused(tmp_path: Path) -> None:
    write_pair(tmp_path, idx_bytes(LABELS), idx_bytes(LABELS))
    with pytest.raises(DataError, match="begins 00000803, got 00000801"):
        read_idx_pair(tmp_path, "train", (4, 3), 3)


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        (IMAGES, LABELS[:4], "expected 5 labels, one per image, got 4"),
        (IMAGES, LABELS + np.uint8(1), "labels below 3, got 3"),
        (IMAGES[:, :3], LABELS, r"images of \(4, 3\), got \(3, 3\)"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    tmp_path: Path,
    images: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
    labels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
    message: str,
) -> None:
    write_pair(tmp_path, idx_bytes(images), idx_bytes(labels))
    with pytest.raises(DataError, match=message):
        read_idx_pair(tmp_path, "train", (4, 3), 3)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte: expected this file"):
        read_idx_pair(tmp_path, "train", (4, 3), 3)


def test_a_gzip_that_would_unpack_out_of_all_proportion_is_refused(tmp_path: Path) -> None:
    header = struct.pack(">BBBB3I", 0, 0, 8, 3, 100_000, 60, 60)
    with gzip.open(tmp_path / "images.gz", "wb", compresslevel=1) as file:
        file.write(header)
        for _ in range(36):
            file.write(bytes(10_000_000))
    assert (tmp_path / "images.gz").stat().st_size < 2_000_000
    with pytest.raises(DataError, match=r"images.gz: cannot be read \(its \d+ bytes would unpack to more than"):
        read_idx(tmp_path / "images.gz", 3)


def test_a_shape_whose_product_overflows_is_refused(tmp_path: Path) -> None:
    """2^32 - 1 to the third, and a product that is 0 modulo 2^64, are larger than any file."""
    for shape in ((2**32 - 1,) * 3, (2**31, 2**31, 4)):
        (tmp_path / "images").write_bytes(struct.pack(">BBBB3I", 0, 0, 8, 3, *shape))
        with pytest.raises(DataError, match=r"images: expected .* bytes for shape"):
            read_idx(tmp_path / "images", 3)
