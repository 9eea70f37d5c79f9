"""Uniform words and uniform numbers of a named stream, read in order. May import streams and types only."""

import hashlib

import numpy as np
import numpy.typing as npt

from doublebubble.streams import Stream
from doublebubble.types import Floats

Words = npt.NDArray[np.uint64]

_PLACE, _BINADE = 53, 10  # bits of a word: 53 for the place within a binade, 10 for the binade, 1 for a sign


class WordReader:
    """Uniform 64-bit words of one purpose within a stream; other purposes and other streams have words of their own."""

    def __init__(self, stream: Stream, purpose: str) -> None:
        name = hashlib.sha256(stream.digest() + b"|noise/1|" + purpose.encode()).digest()
        self._generator = np.random.SFC64(np.random.SeedSequence(np.frombuffer(name, "<u4").tolist()))

    def read(self, count: int) -> Words:
        """The next words; how many are asked for at a time does not change them."""
        words: Words = self._generator.random_raw(count)
        return words


class FineUniforms:
    """Uniform numbers in (0, 1] that are as fine near 0 as elsewhere, each with a fair sign.

    Each is within a part 2^-52 of a number that is exactly uniform, but with probability 2^-63 (N7). The binade is
    drawn with its probability, the number of leading zeros among 63 bits, and the place within it with 53 bits. One
    word serves 1023 of 1024 numbers; the others read a second one, from words of their own.
    """

    def __init__(self, stream: Stream, purpose: str) -> None:
        self._words = WordReader(stream, purpose)
        self._more = WordReader(stream, purpose + "/small")

    def read(self, count: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The next numbers, and for each whether its sign is minus."""
        words = self._words.read(count)
        halvings = _leading_zeros((words >> np.uint64(1)) & np.uint64((1 << _BINADE) - 1), _BINADE)
        small = np.flatnonzero(halvings == _BINADE)
        halvings[small] += _leading_zeros(self._more.read(len(small)) >> np.uint64(64 - _PLACE), _PLACE)
        place = (words >> np.uint64(64 - _PLACE)).astype(np.float64)
        uniforms = np.ldexp(1.0 - (place + 0.5) * 2.0 ** -(_PLACE + 1), -halvings)
        return uniforms, (words & np.uint64(1)).astype(bool)


def _leading_zeros(bits: Words, width: int) -> npt.NDArray[np.int32]:
    """How many of the first of `width` bits, at most 53, are zero; `width` for 0."""
    return (width - np.frexp(bits.astype(np.float64))[1]).astype(np.int32)
