"""Normal numbers in float64: the law, the tail, and the accuracy of their quantiles."""

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from doublebubble.noise.gaussian64 import Gaussian64Draws
from doublebubble.noise.words import FineUniforms, WordReader, Words
from doublebubble.streams import Stream
from doublebubble.types import Floats

STREAM = Stream(2, 9, "audit")


def drawn(pieces: list[int], stream: Stream = STREAM) -> Floats:
    source = Gaussian64Draws(stream)
    out = [np.full(size, np.nan) for size in pieces]
    for piece in out:
        source.fill(piece)
    return np.concatenate(out)


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_values_do_not_depend_on_the_pieces(pieces: list[int]) -> None:
    assert (drawn(pieces) == drawn([sum(pieces)])).all()


def test_values_are_standard_normal_and_uncorrelated() -> None:
    values = drawn([2_000_000])
    assert stats.kstest(values[:500_000], "norm").pvalue > 1e-4
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 5 / np.sqrt(len(values))
    for edge in (-4.0, -3.0, 3.0, 4.0):
        seen = int((values > edge).sum() if edge > 0 else (values < edge).sum())
        assert stats.binomtest(seen, len(values), float(stats.norm.sf(abs(edge)))).pvalue > 1e-4


def test_values_are_the_quantiles_of_the_uniform_numbers() -> None:
    """Each within 2^-48 (1 + |Z|) of the exact quantile of half its uniform number, with its sign."""
    values = drawn([300])
    uniforms, minus = FineUniforms(STREAM, "gaussian64").read(300)
    assert ((values < 0) == minus).all()
    with mpmath.workdps(50):
        for value, uniform in zip(np.abs(values).tolist(), uniforms.tolist(), strict=True):
            size = mpmath.mpf(value)
            gap = (mpmath.ncdf(-size) - mpmath.mpf(uniform) / 2) / mpmath.npdf(size)
            assert abs(gap) <= mpmath.mpf(2) ** -48 * (1 + size)


def test_values_beyond_eight_sigma_come_at_their_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the first ten bits of the binade and 30 of its next 53 fixed at zero, |Z| has a tail below 2^-41."""
    read = WordReader.read

    def reading(self: WordReader, count: int) -> Words:
        words = read(self, count)
        return words & ~np.uint64(0x7FE) if self is uniforms._words else words >> np.uint64(30)

    source = Gaussian64Draws(STREAM)
    uniforms = source._uniforms
    monkeypatch.setattr(WordReader, "read", reading)
    values = np.empty(500_000)
    source.fill(values)
    sizes = np.abs(values)
    start = float(stats.norm.isf(2.0**-41))
    assert sizes.min() > start > 6.9
    for edge in (7.5, 8.0, 8.5):
        chance = float(stats.norm.sf(edge)) * 2.0**41
        assert stats.binomtest(int((sizes > edge).sum()), len(sizes), chance).pvalue > 1e-4
    assert sizes.max() > 8.5
    assert stats.binomtest(int((values > 0).sum()), len(values)).pvalue > 1e-4


@given(st.floats(-63.9, 0.76))
@settings(max_examples=200, deadline=None)
def test_quantiles_are_as_accurate_as_the_error_bounds_take_them_to_be(exponent: float) -> None:
    """The error of the quantile function itself is at most 2^-50 (1 + |z|): a quarter of what (N5) and (N7) state."""
    tail = 0.5 * 2.0**exponent
    found = float(torch.special.ndtri(torch.tensor(tail, dtype=torch.float64)))
    with mpmath.workdps(50):
        point = mpmath.mpf(found)
        # one step of Newton's method from a point that is right to 1e-14 or so is exact to 1e-26
        truth = point - (mpmath.ncdf(point) - mpmath.mpf(tail)) / mpmath.npdf(point)
        assert abs(point - truth) <= mpmath.mpf(2) ** -50 * (1 + abs(truth))
