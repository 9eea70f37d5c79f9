"""CIFAR-10 batches in both layouts, equal to what was written; and pickles that would run code, which must not."""

import pickle
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from doublebubble.data import cifar
from doublebubble.data.cifar import read_binary_batch, read_cifar10, read_python_batch
from doublebubble.errors import DataError

COUNT = 50
RNG = np.random.default_rng(2)
PIXELS = RNG.integers(0, 256, size=(COUNT, 3072), dtype=np.uint8)
LABELS = RNG.integers(0, 10, size=COUNT)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cifar._PER_BATCH == 10_000
    monkeypatch.setattr(cifar, "_PER_BATCH", COUNT)


def write_binary(path: Path, labels: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = LABELS) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(np.hstack([labels.astype(np.uint8)[:, None], PIXELS]).tobytes())


def write_python(path: Path, **changes: object) -> None:
    path.parent.mkdir(exist_ok=True)
    batch = {b"batch_label": b"a batch", b"labels": LABELS.tolist(), b"data": PIXELS, b"filenames": [b"a.png"] * 3}
    batch.update({key.encode(): value for key, value in changes.items()})
    path.write_bytes(pickle.dumps(batch, protocol=2))


def test_a_binary_batch_reads_as_written(tmp_path: Path) -> None:
    write_binary(tmp_path / "batch.bin")
    images, labels = read_binary_batch(tmp_path / "batch.bin")
    assert np.array_equal(images.reshape(-1, 3072), PIXELS)
    assert np.array_equal(labels, LABELS)
    assert images[7, 2, 31, 5] == PIXELS[7, 2 * 1024 + 31 * 32 + 5]


def test_a_python_batch_reads_as_written_and_as_the_binary_one(tmp_path: Path) -> None:
    write_python(tmp_path / "cifar-10-batches-py" / "test_batch")
    images, labels = read_cifar10(tmp_path, "test")
    assert np.array_equal(images.reshape(-1, 3072), PIXELS)
    assert np.array_equal(labels, LABELS)


def test_an_array_stored_by_columns_reads_the_same(tmp_path: Path) -> None:
    write_python(tmp_path / "batch", data=np.asfortranarray(PIXELS))
    assert np.array_equal(read_python_batch(tmp_path / "batch")[0].reshape(-1, 3072), PIXELS)


def test_the_opcodes_of_the_published_files_are_enough(tmp_path: Path) -> None:
    """Python 2 wrote its strings as byte strings under the old module name; write such a pickle by hand."""
    head = (
        b"\x80\x02}q\x00(U\x06labelsq\x01]q\x02(" + b"".join(b"K" + bytes([label]) for label in LABELS.tolist()) + b"e"
    )
    array = b"U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R("
    shape = b"K\x01K\x32M\x00\x0c\x86"
    dtype = b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
    content = b"T" + len(PIXELS.tobytes()).to_bytes(4, "little") + PIXELS.tobytes()
    whole = head + array + shape + dtype + content + b"tbu."
    (tmp_path / "batch").write_bytes(whole)
    images, labels = read_python_batch(tmp_path / "batch")
    assert np.array_equal(images.reshape(-1, 3072), PIXELS)
    assert np.array_equal(labels, LABELS)


class Touches:
    """Unpickled by the book, this creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def test_a_pickle_that_would_run_code_is_refused_and_does_not(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    write_python(tmp_path / "batch", extra=Touches(victim))
    with pytest.raises(DataError, match="batch: not a batch of images: it names"):
        read_python_batch(tmp_path / "batch")
    assert not victim.exists()
    pickle.loads((tmp_path / "batch").read_bytes())  # noqa: S301
    assert victim.exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": PIXELS[:49]}, "expected a list of 49 integer labels"),
        ({"data": PIXELS[:, 1:]}, r"expected data of 3072 bytes per image, got shape \(50, 3071\)"),
        ({"data": PIXELS.astype(np.int16)}, "expected an array of unsigned bytes, got dtype"),
        ({"data": [1, 2]}, "expected an array of bytes, got list"),
        ({"labels": LABELS.tolist()[:-1]}, "expected a list of 50 integer labels"),
        ({"labels": [-1, *LABELS.tolist()[1:]]}, "expected labels from 0 to 9, got -1 at image 0"),
        ({"labels": [*LABELS.tolist()[:-1], 10]}, "got 10 at image 49"),
        ({"labels": OrderedDict()}, "it names collections.OrderedDict"),
    ],
)
def test_python_batches_that_are_wrong_are_named(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    write_python(tmp_path / "batch", **changes)
    with pytest.raises(DataError, match=message) as caught:
        read_python_batch(tmp_path / "batch")
    assert str(tmp_path / "batch") in str(caught.value)


def test_truncated_python_batches_are_named(tmp_path: Path) -> None:
    write_python(tmp_path / "batch")
    whole = (tmp_path / "batch").read_bytes()
    for length in (0, 1, 10, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "batch").write_bytes(whole[:length])
        with pytest.raises(DataError, match="batch"):
            read_python_batch(tmp_path / "batch")


def test_binary_batches_that_are_wrong_are_named(tmp_path: Path) -> None:
    path = tmp_path / "batch.bin"
    write_binary(path, np.where(np.arange(COUNT) == 17, 10, LABELS))
    with pytest.raises(DataError, match=r"batch\.bin: expected labels from 0 to 9, got 10 at image 17"):
        read_binary_batch(path)
    write_binary(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match="expected 153650 bytes, got 153649"):
        read_binary_batch(path)
    with pytest.raises(DataError, match="found none"):
        read_cifar10(tmp_path, "train")
