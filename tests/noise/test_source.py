"""What the model sees under each noise: sums on the grid, clipping, opposite draws, moments, any pieces."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch import Tensor

from doublebubble.errors import InputError, SettingError
from doublebubble.noise.lattice import Lattice, LatticeDraws
from doublebubble.noise.source import NoiseSource, noise_source
from doublebubble.streams import NormalDraws, Stream
from doublebubble.types import NOISES, NoiseName

STREAM = Stream(0, 3, "certify")
SIGMA = 0.5
GRID = Lattice.around(Fraction(1, 255), (0.0, 1.0), SIGMA)
X = torch.arange(12.0).view(1, 3, 4) * 20 / 255


def source(name: NoiseName, stream: Stream = STREAM, x: Tensor = X, grid: Lattice = GRID) -> NoiseSource:
    return noise_source(name, stream, x, SIGMA, grid if name == "lattice" else None)


def drawn(name: NoiseName, pieces: list[int], opposite: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    own = source(name)
    parts = []
    for size in pieces:
        inputs, noise = torch.full((size, *X.shape), torch.nan), torch.full((size, *X.shape), torch.nan)
        normals = torch.full((size, *X.shape), torch.nan, dtype=torch.float64)
        own.draw(inputs, noise, normals, opposite)
        parts.append((inputs, noise, normals))
    inputs, noise, normals = (torch.cat(part) for part in zip(*parts, strict=True))
    return inputs, noise, normals


@pytest.mark.parametrize("name", NOISES)
@given(pieces=st.lists(st.integers(1, 60), min_size=1, max_size=5))
@settings(max_examples=20, deadline=None)
def test_nothing_depends_on_the_pieces(name: NoiseName, pieces: list[int]) -> None:
    for part, whole in zip(drawn(name, pieces), drawn(name, [sum(pieces)]), strict=True):
        assert torch.equal(part, whole)


@pytest.mark.parametrize("name", NOISES)
def test_fill_gives_the_noise_that_draw_gives(name: NoiseName) -> None:
    out = torch.empty((40, *X.shape))
    source(name).fill(out)
    assert torch.equal(out, drawn(name, [40])[1])


def test_gaussian_is_what_normal_draws_gives() -> None:
    noise = torch.empty((40, *X.shape))
    NormalDraws(STREAM, X).fill(noise)
    inputs, same, _ = drawn("gaussian", [40])
    assert torch.equal(noise, same)
    assert torch.equal(inputs, X + SIGMA * noise)


def test_gaussian64_is_cast_once() -> None:
    inputs, noise, normals = drawn("gaussian64", [40])
    assert torch.equal(inputs, (X.double() + SIGMA * normals).float())
    assert torch.equal(noise, normals.float())


def test_the_lattice_adds_integers_clips_them_and_looks_them_up() -> None:
    grid = Lattice(Fraction(1, 255), -100, 300)
    steps = np.empty(50 * X.numel(), np.int32)
    LatticeDraws(STREAM, grid.law(SIGMA)).fill(steps)
    places = np.clip(steps.reshape(50, -1) + np.arange(12) * 20, -100, 300)
    inputs = torch.empty((50, *X.shape))
    source("lattice", grid=grid).draw(inputs)
    assert torch.equal(inputs, torch.from_numpy(places.astype(np.float32)).view_as(inputs) / 255)
    assert (places == -100).any()
    assert (places == 300).any()


def test_the_noise_of_the_lattice_is_the_mean_of_its_cell() -> None:
    inputs, noise, normals = drawn("lattice", [4000])
    steps = torch.round((inputs - X) * 255).long()  # nothing is clipped within 8 sigma
    law = GRID.law(SIGMA)
    assert torch.equal(noise, torch.from_numpy(law.means).float()[steps + law.last])
    assert ((noise - normals).abs() <= 1 / 127.5 + 1e-6).all()
    assert stats.kstest(normals.flatten().numpy(), "norm").pvalue > 1e-4


def test_what_the_model_sees_does_not_depend_on_the_rounding_of_x() -> None:
    one, two = torch.empty((20, *X.shape)), torch.empty((20, *X.shape))
    source("lattice").draw(one)
    source("lattice", x=torch.arange(12.0).view(1, 3, 4) * 20 * torch.tensor(1 / 255)).draw(two)
    assert torch.equal(one, two)


def test_the_law_seen_from_x_is_that_seen_from_zero_shifted() -> None:
    """The same stream at two centres gives the same integers: nothing of x is in the noise."""
    here, there = torch.empty((20, *X.shape), dtype=torch.float64), torch.empty((20, *X.shape), dtype=torch.float64)
    source("lattice").draw(here)
    source("lattice", x=torch.zeros_like(X)).draw(there)
    assert torch.equal(torch.round((here - X) * 255), torch.round(there * 255))


@pytest.mark.parametrize("name", NOISES)
def test_opposite_draws_are_mirrored(name: NoiseName) -> None:
    inputs, noise, normals = drawn(name, [40], opposite=True)
    assert torch.equal(noise[20:], -noise[:20])
    assert torch.equal(normals[20:], -normals[:20])
    assert torch.allclose(inputs[20:] - X, X - inputs[:20], atol=1e-6)
    assert torch.equal(noise[:20], drawn(name, [20])[1])


@pytest.mark.parametrize("name", NOISES)
def test_noise_is_not_needed_and_layouts_do_not_matter(name: NoiseName) -> None:
    image = (torch.arange(48).view(3, 4, 4) / 255).contiguous()
    plain, strided = torch.empty(8, 3, 4, 4), torch.empty(8, 3, 4, 4).to(memory_format=torch.channels_last)
    source(name, x=image).draw(plain)
    source(name, x=image).draw(strided)
    assert torch.equal(plain, strided)
    assert strided.is_contiguous(memory_format=torch.channels_last)


def test_outputs_of_several_lengths_are_refused() -> None:
    with pytest.raises(SettingError, match="one length"):
        source("lattice").draw(torch.empty(4, *X.shape), torch.empty(5, *X.shape))
    with pytest.raises(SettingError, match="even for opposite"):
        source("lattice").draw(torch.empty(5, *X.shape), opposite=True)


def test_an_input_off_the_grid_is_refused_by_the_number_of_its_stream() -> None:
    with pytest.raises(InputError, match="input 3: expected values on the grid"):
        source("lattice", x=X + 0.001)


def test_names_and_lattices_must_go_together() -> None:
    with pytest.raises(SettingError, match="expected one of gaussian, gaussian64, lattice"):
        noise_source("uniform", STREAM, X, SIGMA)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="expected a lattice"):
        noise_source("lattice", STREAM, X, SIGMA)
    with pytest.raises(SettingError, match="expected no lattice"):
        noise_source("gaussian", STREAM, X, SIGMA, GRID)
