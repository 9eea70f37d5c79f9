"""Integers on a grid: which inputs are on it, and draws that depend on stream and place alone and follow the law."""

import bisect
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from doublebubble.errors import InputError, SettingError
from doublebubble.noise.cells import PREFIX_BITS, TOTAL, Cells, rounded_normal
from doublebubble.noise.lattice import Indices, Lattice, LatticeDraws
from doublebubble.noise.words import WordReader, Words
from doublebubble.streams import Stream

STEP = Fraction(1, 255)
GRID = Lattice.around(STEP, (0.0, 1.0), 0.5)
STREAM = Stream(3, 17, "certify")


class FixedName(Stream):
    """A stream whose digest is known, however streams come to be named."""

    def digest(self) -> bytes:
        return bytes(range(32))


def drawn(stream: Stream, pieces: list[int], law: Cells | None = None) -> Indices:
    source = LatticeDraws(stream, GRID.law(0.5) if law is None else law)
    out = [np.full(size, 10**6, np.int32) for size in pieces]
    for piece in out:
        source.fill(piece)
    return np.concatenate(out)


def chi_square(values: Indices, law: Cells, masses: list[float]) -> float:
    """The p-value of the counts, with cells of fewer than 25 expected draws added to their neighbours."""
    counts = np.bincount(values + law.last, minlength=2 * law.last + 1)
    assert len(counts) == 2 * law.last + 1
    groups: list[list[float]] = [[0.0, 0.0]]
    for count, mass in zip(counts.tolist(), masses, strict=True):
        groups[-1][0] += count
        groups[-1][1] += mass * len(values)
        if groups[-1][1] >= 25:
            groups.append([0.0, 0.0])
    rest = groups.pop()
    groups[-1] = [groups[-1][0] + rest[0], groups[-1][1] + rest[1]]
    seen, expected = np.array(groups).T
    return float(stats.chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue)


def normal_masses(law: Cells) -> list[float]:
    """Cell masses from scipy's normal law, by tails on the side where nothing cancels."""
    tails = stats.norm.sf((np.arange(law.last) + 0.5) * float(law.width))
    side = [*(tails[:-1] - tails[1:]), tails[-1]]
    return [*reversed(side), 1 - 2 * tails[0], *side]


# The draws


@given(pieces=st.lists(st.one_of(st.integers(1, 300), st.integers(32_000, 70_000)), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_values_do_not_depend_on_the_pieces(pieces: list[int]) -> None:
    assert (drawn(STREAM, pieces) == drawn(STREAM, [sum(pieces)])).all()


def test_a_restart_gives_the_same_integers() -> None:
    whole = drawn(STREAM, [100_000])
    assert (drawn(STREAM, [40_000]) == whole[:40_000]).all()
    assert (drawn(STREAM, [100_000]) == whole).all()


def test_every_name_has_integers_of_its_own() -> None:
    names = [Stream(seed, index, "certify") for seed in (0, 1) for index in (0, 1, 10)]
    names += [Stream(0, 0, "select"), Stream(0, 0, "certify").named("gumbel")]
    assert len({drawn(stream, [64]).tobytes() for stream in names}) == len(names)
    one, two = drawn(names[0], [200_000]), drawn(names[1], [200_000])
    assert abs(np.corrcoef(one, two)[0, 1]) < 5 / np.sqrt(len(one))


def test_the_integers_of_a_stream_never_change() -> None:
    """A change here breaks the resuming of every run made before."""
    assert drawn(FixedName(0, 17, "certify"), [8]).tolist() == [45, -156, 66, 12, 29, -5, -65, -7]


def test_draws_are_the_words_of_the_stream_looked_up_one_by_one() -> None:
    """A second implementation: 16 bits from one sequence of words, 46 from another where the 16 do not decide."""
    law, count = GRID.law(0.5), 100_000
    prefixes, rest = WordReader(STREAM, "lattice/prefix"), WordReader(STREAM, "lattice/rest")
    more = iter(rest.read(count).tolist())
    thresholds = law.thresholds.tolist()
    expected = []
    for number, word in enumerate(np.repeat(prefixes.read(count // 4), 4).tolist()):
        first = ((word >> (16 * (number % 4))) & 0xFFFF) << 46
        low, high = bisect.bisect_right(thresholds, first), bisect.bisect_right(thresholds, first + (1 << 46) - 1)
        if low != high:
            low = bisect.bisect_right(thresholds, first + (next(more) >> 18))
        expected.append(low - law.last)
    assert drawn(STREAM, [count]).tolist() == expected


@pytest.mark.parametrize(("sigma", "seed"), [(0.5, 0), (0.12, 1), (1.0, 2)])
def test_ten_million_draws_follow_the_normal_law(sigma: float, seed: int) -> None:
    law = Lattice.around(STEP, (0.0, 1.0), sigma).law(sigma)
    values = drawn(Stream(seed, 0, "audit"), [10_000_000], law)
    assert chi_square(values, law, normal_masses(law)) > 1e-4
    assert chi_square(values[::4], law, normal_masses(law)) > 1e-4  # one of the four places within a word


def test_neighbours_and_coordinates_are_uncorrelated() -> None:
    values = drawn(Stream(0, 0, "audit"), [1_000_000]).astype(float)
    for lag in (1, 2, 3, 4, 64, 32_768):
        assert abs(np.corrcoef(values[:-lag], values[lag:])[0, 1]) < 5 / np.sqrt(len(values) - lag)


@pytest.mark.parametrize("prefix", [0, (1 << PREFIX_BITS) - 1])
def test_the_far_tail_is_drawn_by_its_law(prefix: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2^16 prefixes the first and the last lead beyond 4.1 sigma; given one, the tail must have its masses."""
    read = WordReader.read
    fixed = np.uint64(sum(prefix << (16 * place) for place in range(4)))

    def reading(self: WordReader, count: int) -> Words:
        return np.full(count, fixed) if self is source._prefixes else read(self, count)

    law = GRID.law(0.5)
    source = LatticeDraws(STREAM, law)
    monkeypatch.setattr(WordReader, "read", reading)
    values = np.empty(4_000_000, np.int32)
    source.fill(values)
    tail = stats.norm.sf((np.arange(law.last) + 0.5) * float(law.width)) * 2.0**PREFIX_BITS
    side = [*(np.minimum(tail[:-1], 1) - np.minimum(tail[1:], 1)), tail[-1]]
    masses = [*([0.0] * (law.last + 1)), *side] if prefix else [*reversed(side), *([0.0] * (law.last + 1))]
    assert chi_square(values, law, masses) > 1e-4
    edge = int(6 / float(law.width))
    seen, chance = int((np.abs(values) > edge).sum()), float(tail[edge])
    assert seen > 100
    assert stats.binomtest(seen, len(values), chance).pvalue > 1e-4


def test_a_narrow_reach_puts_the_tail_into_the_end_cells() -> None:
    law = rounded_normal(Fraction(1, 2), 3)
    values = drawn(STREAM, [1_000_000], law)
    assert chi_square(values, law, normal_masses(law)) > 1e-4
    assert int(law.thresholds[0]) / TOTAL == pytest.approx(stats.norm.sf(1.25), rel=1e-14)


# The grid


def test_the_table_is_the_floats_that_eight_bit_images_have() -> None:
    levels = GRID.table(torch.float32)[-GRID.low : 256 - GRID.low]
    assert torch.equal(levels, torch.arange(256) / 255)
    assert GRID.table(torch.float64)[GRID.high - GRID.low] == pytest.approx(GRID.high / 255, rel=1e-15)
    assert len(GRID.values) == GRID.high - GRID.low + 1


def test_the_range_reaches_eight_sigma_past_the_domain() -> None:
    grid = Lattice.around(Fraction(1, 16), (-0.5, 1.0), 0.3)
    assert grid.low * grid.step <= Fraction(-0.5) - 8 * Fraction(0.3) < (grid.low + 1) * grid.step
    assert (grid.high - 1) * grid.step < 1 + 8 * Fraction(0.3) <= grid.high * grid.step


def test_the_noise_reaches_past_the_range_from_every_input() -> None:
    """Either the table ends at the width of the range, and all beyond is clipped alike, or for want of mass."""
    near = Lattice(STEP, 0, 255)
    assert near.law(1.0).last == 255
    assert near.law(0.1).last < 255
    assert int(near.law(0.1).thresholds[0]) >= 1


@given(
    st.lists(st.integers(GRID.low, GRID.high), min_size=1, max_size=20), st.sampled_from([torch.float32, torch.float64])
)
@settings(max_examples=50, deadline=None)
def test_grid_points_are_recognised_however_they_were_rounded(points: list[int], dtype: torch.dtype) -> None:
    integers = torch.tensor(points, dtype=dtype)
    for x in (integers / 255, integers * (torch.ones((), dtype=dtype) / 255)):
        assert GRID.indices(x, 0).tolist() == points
        assert GRID.snap(x).double().numpy() == pytest.approx(np.array(points) / 255, rel=1e-6)


@pytest.mark.parametrize("off", [0.5 / 255, 1e-5, -1e-6, float("nan")])
def test_an_input_off_the_grid_is_refused(off: float) -> None:
    x = torch.arange(12.0).view(3, 4) / 255 + 100 / 255
    x[1, 2] += off
    with pytest.raises(
        InputError, match=r"input 17: expected values on the grid of step 1/255, got .* at \(1, 2\) and 1 in"
    ):
        GRID.indices(x, 17)


@pytest.mark.parametrize("i", [1 << 16, 1 << 20, 4_000_000])
def test_far_from_zero_an_input_must_still_lie_near_its_grid_point(i: int) -> None:
    """A part of the value alone would take any number there for a grid point."""
    wide = Lattice(STEP, -i, i + 10)
    assert wide.indices(torch.tensor([i / 255, -i / 255], dtype=torch.float64), 0).tolist() == [i, -i]
    for off in (0.4, -0.4, 0.02):
        with pytest.raises(InputError, match="input 3: expected values on the grid"):
            wide.indices(torch.tensor([(i + off) / 255], dtype=torch.float64), 3)


@pytest.mark.parametrize("point", [GRID.low - 1, GRID.high + 1])
def test_an_input_outside_the_range_is_refused(point: int) -> None:
    with pytest.raises(InputError, match=r"input 4: expected grid points -1020 to 1275"):
        GRID.indices(torch.tensor([0.0, point / 255]), 4)


def test_a_centre_is_moved_to_the_nearest_grid_point() -> None:
    x = torch.tensor([0.4 / 255, 0.6 / 255, -2.0, 100.0, -100.0])
    moved = GRID.snap(x)
    assert moved.tolist() == pytest.approx([0, 1 / 255, -2.0, GRID.high / 255, GRID.low / 255])
    assert GRID.indices(moved, 0).tolist() == [0, 1, -510, GRID.high, GRID.low]


@pytest.mark.parametrize(
    ("step", "low", "high"),
    [(Fraction(0), 0, 1), (Fraction(-1, 2), 0, 1), (0.5, 0, 1), (STEP, 1, 1), (STEP, 2, 1), (STEP, 0, 1 << 25)],
)
def test_a_lattice_that_cannot_be_meant_is_refused(step: Fraction, low: int, high: int) -> None:
    with pytest.raises(SettingError, match="grid"):
        Lattice(step, low, high)


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("nan"), float("inf")])
def test_sigma_must_be_a_positive_number(sigma: float) -> None:
    with pytest.raises(SettingError, match="sigma"):
        GRID.law(sigma)
