"""Z within its cell: normal again, in its cell, independent of the pieces; and the rounding of u.Z."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from doublebubble.errors import SettingError
from doublebubble.noise.cells import Cells, rounded_normal
from doublebubble.noise.lattice import LatticeDraws
from doublebubble.noise.remainder import ERROR, Remainders, edge_loss, line_coordinates, line_error
from doublebubble.noise.words import FineUniforms
from doublebubble.streams import Stream
from doublebubble.types import Floats

STREAM = Stream(1, 4, "certify")
WIDE, NARROW, SHORT = (
    rounded_normal(Fraction(3, 2), 100),
    rounded_normal(Fraction(1, 127), 9999),
    rounded_normal(Fraction(1), 2),
)


def drawn(law: Cells, pieces: list[int], stream: Stream = STREAM) -> tuple[np.ndarray, Floats]:
    source, remainders = LatticeDraws(stream, law), Remainders(stream, law)
    steps, normals = [], []
    for size in pieces:
        step, normal = np.empty(size, np.int32), np.full(size, np.nan)
        source.fill(step)
        remainders.fill(step, normal)
        steps.append(step)
        normals.append(normal)
    return np.concatenate(steps), np.concatenate(normals)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=5))
@settings(max_examples=30, deadline=None)
def test_values_do_not_depend_on_the_pieces(pieces: list[int]) -> None:
    assert (drawn(NARROW, pieces)[1] == drawn(NARROW, [sum(pieces)])[1]).all()


@pytest.mark.parametrize("law", [WIDE, NARROW, SHORT])
def test_z_is_normal_and_in_its_cell(law: Cells) -> None:
    steps, normals = drawn(law, [400_000])
    assert stats.kstest(normals, "norm").pvalue > 1e-4
    width = float(law.width)
    assert (np.clip(np.rint(normals / width), -law.last, law.last) == steps).mean() > 1 - 1e-5  # ties of float rounding
    assert (np.abs(normals - steps * width)[np.abs(steps) < law.last] <= width * (0.5 + 1e-12)).all()


@pytest.mark.parametrize(
    ("law", "step"), [(WIDE, 0), (WIDE, 1), (WIDE, -2), (NARROW, 0), (NARROW, 200), (SHORT, -2), (SHORT, 2)]
)
def test_z_given_its_cell_has_the_law_of_the_cell(law: Cells, step: int) -> None:
    normals = np.empty(200_000)
    Remainders(STREAM, law).fill(np.full(len(normals), step, np.int32), normals)
    width, sign = float(law.width), -1 if step < 0 else 1
    low = (abs(step) - 0.5) * width
    high = np.inf if abs(step) == law.last else low + width
    assert stats.kstest(sign * normals, stats.truncnorm(low, high).cdf).pvalue > 1e-4
    mean = law.means[law.last + step]
    assert abs(normals.mean() - mean) < 5 * normals.std() / np.sqrt(len(normals))


@pytest.mark.parametrize(("law", "width"), [(WIDE, Fraction(3, 2)), (NARROW, Fraction(1, 127)), (SHORT, Fraction(1))])
def test_z_is_the_quantile_within_its_cell(law: Cells, width: Fraction) -> None:
    """Each within 2^-48 (1 + |Z|) of the exact quantile (N5), from edges and masses computed here."""
    steps, normals = drawn(law, [200])
    uniforms, _ = FineUniforms(STREAM, "lattice/remainder").read(200)
    with mpmath.workdps(50):
        w = mpmath.mpf(width.numerator) / width.denominator
        half = mpmath.mpf(1) / 2
        for step, normal, uniform in zip(steps.tolist(), normals.tolist(), uniforms.tolist(), strict=True):
            near = mpmath.ncdf(-(abs(step) - half) * w)
            far = mpmath.ncdf(-(abs(step) + half) * w) if abs(step) < law.last else 0
            size = mpmath.mpf(-normal if step < 0 else normal)
            gap = (mpmath.ncdf(-size) - far - uniform * (near - far)) / mpmath.npdf(size)
            assert abs(gap) <= mpmath.mpf(2) ** -48 * (1 + abs(size))


def test_noise_of_two_streams_differs() -> None:
    assert not np.isin(drawn(NARROW, [100])[1], drawn(NARROW, [100], Stream(1, 5, "certify"))[1]).any()


@pytest.mark.parametrize("dimension", [1, 2, 63, 64, 784, 3072])
def test_line_coordinates_are_within_their_error(dimension: int) -> None:
    """Against sums in exact arithmetic, for normals taken as they are; the error bound covers more than that."""
    generator = np.random.default_rng(dimension)
    direction = generator.standard_normal(dimension)
    direction /= np.linalg.norm(direction)
    normals = generator.standard_normal((5, dimension))
    found = line_coordinates(direction, normals)
    for row, value in zip(normals, found, strict=True):
        truth = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(direction, row, strict=True))
        assert abs(Fraction(float(value)) - truth) <= Fraction(line_error(direction))
    assert line_error(direction) < 1e-11


def test_the_line_error_adds_up_what_it_should() -> None:
    """For d = 100 by hand: quantiles, 23 roundings of the sum, and a length that is off by 1e-10."""
    direction = np.full(100, 0.1) * (1 + 1e-10)
    least = 2.0**-48 * (10 + 24) + 20 * 2.0**-53 * 24 + 1.9e-10 * 24
    assert ERROR == 2.0**-48
    assert least < line_error(direction) < 1.2 * least
    unit = np.zeros(100)
    unit[0] = 1
    assert 2.0**-48 * 34 + 20 * 2.0**-53 * 24 < line_error(unit) < 1.1 * (2.0**-48 * 34 + 24 * 2.0**-53 * 24)


def test_the_edge_loss_is_the_chance_to_be_near_an_edge() -> None:
    direction = np.zeros(9)
    direction[3] = 1
    error = line_error(direction)
    with mpmath.workdps(50):
        chance = mpmath.erf(mpmath.mpf(error) / mpmath.sqrt(2))  # of |z - 0| <= error, the worst edge
        assert 10**5 * 7 * chance <= edge_loss(direction, 7, 10**5) <= 1.01 * 10**5 * 7 * chance
    assert edge_loss(direction, 0, 10**5) < 1e-12
    assert edge_loss(direction, 0, 10**5) >= 10**5 * 9 * 2.0**-63


@pytest.mark.parametrize("length", [0.0, 0.99, 1.001, float("nan")])
def test_a_direction_must_be_a_unit_vector(length: float) -> None:
    with pytest.raises(SettingError, match="unit vector"):
        line_error(np.array([0.6, 0.8]) * length)


def test_counts_of_edges_and_draws_must_not_be_negative() -> None:
    for edges, draws in ((-1, 5), (5, -1)):
        with pytest.raises(SettingError, match="edges"):
            edge_loss(np.array([1.0]), edges, draws)
