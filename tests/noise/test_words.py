"""Uniform numbers that are fine near zero."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from doublebubble.noise.words import FineUniforms, WordReader, Words, _leading_zeros
from doublebubble.streams import Stream

STREAM = Stream(0, 5, "audit")


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_numbers_do_not_depend_on_the_pieces(pieces: list[int]) -> None:
    source = FineUniforms(STREAM, "test")
    parts = [source.read(size) for size in pieces]
    whole = FineUniforms(STREAM, "test").read(sum(pieces))
    assert (np.concatenate([part[0] for part in parts]) == whole[0]).all()
    assert (np.concatenate([part[1] for part in parts]) == whole[1]).all()


def test_purposes_and_streams_have_words_of_their_own() -> None:
    readers = [(STREAM, "one"), (STREAM, "two"), (Stream(0, 6, "audit"), "one"), (Stream(1, 5, "audit"), "one")]
    assert len({WordReader(stream, purpose).read(4).tobytes() for stream, purpose in readers}) == len(readers)


def test_numbers_are_uniform_and_signs_fair_and_independent_of_them() -> None:
    uniforms, minus = FineUniforms(STREAM, "test").read(2_000_000)
    assert 0 < uniforms.min() < uniforms.max() <= 1
    assert stats.kstest(uniforms[:200_000], "uniform").pvalue > 1e-4
    assert stats.binomtest(int(minus.sum()), len(minus)).pvalue > 1e-4
    assert stats.kstest(uniforms[:200_000][minus[:200_000]], "uniform").pvalue > 1e-4
    small = uniforms[uniforms < 2.0**-9] * 2**9
    assert stats.binomtest(int(minus[uniforms < 2.0**-9].sum()), len(small)).pvalue > 1e-4
    assert stats.binomtest(int(minus[uniforms < 2.0**-10].sum()), int((uniforms < 2.0**-10).sum())).pvalue > 1e-4
    assert stats.binomtest(len(small), len(uniforms), 2.0**-9).pvalue > 1e-4
    assert stats.kstest(small, "uniform").pvalue > 1e-4


def test_the_second_word_goes_on_where_the_first_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the bits of the binade all zero the numbers are uniform below 2^-10, and as fine as above."""
    read = WordReader.read

    def reading(self: WordReader, count: int) -> Words:
        words = read(self, count)
        return words & ~np.uint64(0x7FE) if self is source._words else words

    source = FineUniforms(STREAM, "test")
    monkeypatch.setattr(WordReader, "read", reading)
    uniforms, _ = source.read(1_000_000)
    assert stats.kstest(uniforms[:200_000] * 2**10, "uniform").pvalue > 1e-4
    tiny = uniforms[uniforms < 2.0**-20] * 2**20
    assert stats.binomtest(len(tiny), len(uniforms), 2.0**-10).pvalue > 1e-4
    assert len(np.unique(tiny)) == len(tiny)


def test_leading_zeros_are_counted_in_the_width_given() -> None:
    bits = np.array([0, 1, 2, 3, 1 << 51, 1 << 52, (1 << 53) - 1], np.uint64)
    assert _leading_zeros(bits, 53).tolist() == [53, 52, 51, 51, 1, 0, 0]
    assert _leading_zeros(np.array([0, 1, 511, 512, 1023], np.uint64), 10).tolist() == [10, 9, 1, 0, 0]
