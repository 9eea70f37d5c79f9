"""Reads the pickled dictionaries of CIFAR's Python batches without executing what a pickle may name.

A pickle is a program: it names functions and calls them. Here the few names that a numpy array needs resolve to inert
stand-ins, and any other name is refused, so nothing outside this file runs. May import only errors.
"""

import io
import math
import pickle
import pickletools
from pathlib import Path

import numpy as np
import numpy.typing as npt

from doublebubble.errors import DataError
from doublebubble.files import read_plain


class _Dtype:
    """Stands for numpy.dtype; keeps only its letters, such as b"u1"."""

    def __init__(self, letters: object, *rest: object) -> None:
        self.letters = letters

    def __setstate__(self, state: object) -> None:
        """Byte order and fields: a dtype of single bytes has neither."""


class _Array:
    """Stands for numpy.ndarray; keeps shape, dtype and bytes until they are checked."""

    shape: object = None
    dtype: object = None
    fortran: object = None
    content: object = None

    def __setstate__(self, state: tuple[object, ...]) -> None:
        if not isinstance(state, tuple) or len(state) != 5:
            raise pickle.UnpicklingError("an array's state is not of five parts")
        _, self.shape, self.dtype, self.fortran, self.content = state


class _Reconstruct:
    """Stands for numpy's function that makes an empty array; an object without attributes, which no pickle can set."""

    __slots__ = ()

    def __call__(self, *arguments: object) -> _Array:
        return _Array()


class _Encode:
    """Stands for _codecs.encode, by which Python 3 writes bytes into old pickles; without attributes as well."""

    __slots__ = ()

    def __call__(self, text: object, *encoding: object) -> bytes:
        if not isinstance(text, str):
            raise pickle.UnpicklingError("bytes were expected as latin-1 text")
        return text.encode("latin1")


_STAND_INS: dict[tuple[str, str], object] = {
    ("numpy.core.multiarray", "_reconstruct"): _Reconstruct(),
    ("numpy._core.multiarray", "_reconstruct"): _Reconstruct(),
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _Encode(),
}


class _InertUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        try:
            return _STAND_INS[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which a batch of images has no use for") from None


def _require_modest(packed: bytes) -> None:
    """An error if the pickle numbers what it remembers beyond its own length: each number takes memory up to it."""
    for opcode, number, _ in pickletools.genops(packed):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and not 0 <= int(number or 0) <= len(packed):
            raise pickle.UnpicklingError(f"it remembers a value as number {number}")


def read_pickled_dict(path: Path) -> dict[str, object]:
    """The dictionary of a pickle that holds only numbers, strings, lists and arrays of bytes."""
    try:
        packed = read_plain(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error})") from error
    try:
        _require_modest(packed)
        content = _InertUnpickler(io.BytesIO(packed), encoding="bytes").load()
    except Exception as error:  # a pickle is a program, and raises whatever it likes
        raise DataError(f"{path}: not a batch of images: {error}") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected a dictionary, got {type(content).__name__}")
    return {key.decode("latin1") if isinstance(key, bytes) else str(key): value for key, value in content.items()}


def byte_array(value: object, path: Path) -> npt.NDArray[np.uint8]:
    """The array of unsigned bytes that a stand-in holds."""
    if not isinstance(value, _Array) or not isinstance(value.dtype, _Dtype):
        raise DataError(f"{path}: expected an array of bytes, got {type(value).__name__}")
    shape, letters = value.shape, value.dtype.letters
    if letters not in (b"u1", "u1") or not isinstance(value.content, bytes) or not isinstance(shape, tuple):
        raise DataError(f"{path}: expected an array of unsigned bytes, got dtype {letters!r}")
    if not all(isinstance(n, int) and n >= 0 for n in shape) or math.prod(shape) != len(value.content):
        raise DataError(f"{path}: array of shape {shape} does not hold {len(value.content)} bytes")
    return np.frombuffer(value.content, np.uint8).reshape(shape, order="F" if value.fortran else "C")
