"""Pickles of plain data and arrays of bytes are read, and nothing that a pickle names is called."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from doublebubble.data.pickles import byte_array, read_pickled_dict
from doublebubble.errors import DataError

ARRAY = np.arange(24, dtype=np.uint8).reshape(4, 6)


def write(path: Path, content: object, protocol: int = 2) -> Path:
    path.write_bytes(pickle.dumps(content, protocol))
    return path


class Touches:
    """Unpickled by the book, this creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("array", [ARRAY, np.asfortranarray(ARRAY)], ids=["rows", "columns"])
def test_arrays_of_bytes_come_back(
    tmp_path: Path, array: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], protocol: int
) -> None:
    path = write(tmp_path / "p", {b"data": array, "name": [1, "two"]}, protocol)
    found = read_pickled_dict(path)
    assert np.array_equal(byte_array(found["data"], path), array)
    assert found["name"] == [1, "two"]


def test_what_a_pickle_names_is_never_called(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    with pytest.raises(DataError, match=r"it names .*, which a batch of images has no use for"):
        read_pickled_dict(write(tmp_path / "p", {"a": Touches(victim)}))
    assert not victim.exists()


def test_what_is_no_dictionary_of_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="p: expected a dictionary, got list"):
        read_pickled_dict(write(tmp_path / "p", [1]))
    with pytest.raises(DataError, match="nowhere: cannot be read"):
        read_pickled_dict(tmp_path / "nowhere")
    whole = write(tmp_path / "p", {"data": ARRAY}).read_bytes()
    for length in range(len(whole)):
        (tmp_path / "p").write_bytes(whole[:length])
        with pytest.raises(DataError, match="not a batch of images"):
            read_pickled_dict(tmp_path / "p")


@pytest.mark.parametrize("wrong", [ARRAY.astype(np.int16), ARRAY.astype(np.int8), ARRAY.astype(np.float32)])
def test_arrays_of_anything_else_are_refused(
    tmp_path: Path, wrong: np.ndarray[tuple[int, ...], np.dtype[np.generic]]
) -> None:
    path = write(tmp_path / "p", {"data": wrong})
    with pytest.raises(DataError, match="expected an array of unsigned bytes, got dtype"):
        byte_array(read_pickled_dict(path)["data"], path)
    with pytest.raises(DataError, match="expected an array of bytes, got int"):
        byte_array(3, path)


def test_numbers_that_would_take_all_memory_are_refused(tmp_path: Path) -> None:
    """The unpickler makes room for everything up to the number under which a value is remembered."""
    for put in (b"r\xff\xff\xff\x7f", b"p2000000000\n"):
        (tmp_path / "p").write_bytes(b"\x80\x02}" + put + b".")
        with pytest.raises(DataError, match="p: not a batch of images: it remembers a value as number"):
            read_pickled_dict(tmp_path / "p")


def test_a_pickle_cannot_change_what_stands_in(tmp_path: Path) -> None:
    """BUILD would set attributes of a function, and they would stay."""
    for name in (b"c_codecs\nencode\n", b"cnumpy.core.multiarray\n_reconstruct\n"):
        (tmp_path / "p").write_bytes(b"\x80\x02" + name + b"}X\x04\x00\x00\x00evilK\x01sb0}.")
        with pytest.raises(DataError, match="not a batch of images"):
            read_pickled_dict(tmp_path / "p")
    (tmp_path / "p").write_bytes(b"\x80\x02cnumpy\nndarray\n}X\x05\x00\x00\x00shapeK\x01sb0}.")
    with pytest.raises(DataError, match="not a batch of images"):
        read_pickled_dict(tmp_path / "p")
    path = write(tmp_path / "p", {"data": ARRAY})
    assert np.array_equal(byte_array(read_pickled_dict(path)["data"], path), ARRAY)


def test_a_shape_that_overflows_is_no_array(tmp_path: Path) -> None:
    whole = pickle.dumps({"data": np.zeros((0, 6), np.uint8)}, 3)
    before, after = b"K\x00K\x06\x86", b"\x8a\x05\x00\x00\x00\x00\x01\x8a\x05\x00\x00\x00\x00\x01\x86"
    assert whole.count(before) == 1  # (0, 6) becomes (2^32, 2^32), whose product is 0 modulo 2^64
    (tmp_path / "p").write_bytes(whole.replace(before, after))
    with pytest.raises(DataError, match="does not hold 0 bytes"):
        byte_array(read_pickled_dict(tmp_path / "p")["data"], tmp_path / "p")
