"""The noise of a classifier: which settings make one, where points may lie, what it takes off alpha and off radii."""

import math
from fractions import Fraction
from typing import Any

import pytest
import torch

from doublebubble.errors import BudgetError, InputError, SettingError
from doublebubble.noise.law import NoiseLaw
from doublebubble.streams import Stream
from doublebubble.types import NOISES

UNIT = (0.0, 1.0)
EIGHT_BIT = NoiseLaw.of("lattice", 0.5, None, UNIT)


@pytest.mark.parametrize(
    ("name", "grid", "domain", "words"),
    [
        ("uniform", None, UNIT, "expected one of gaussian, gaussian64, lattice"),
        ("gaussian", 255, UNIT, "grid: expected none, since noise gaussian has no grid"),
        ("gaussian64", 16, UNIT, "grid: expected none"),
        ("lattice", 0, UNIT, "grid: expected a whole number of steps"),
        ("lattice", 2.5, UNIT, "grid: expected a whole number of steps"),
        ("lattice", True, UNIT, "grid: expected a whole number of steps"),
        ("lattice", 255, None, "expected a domain"),
        ("lattice", 10, (0.0, 0.3), "domain: expected ends on the grid of step 1/10"),
        ("lattice", 255, (0.0, 0.5), "domain: expected ends on the grid of step 1/255"),
        ("lattice", 10**5, UNIT, "expected a step of at least sigma/"),
    ],
)
def test_settings_that_make_no_noise_are_refused(name: Any, grid: Any, domain: Any, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        NoiseLaw.of(name, 0.5, grid, domain)


def test_a_step_wider_than_two_sigma_is_refused() -> None:
    assert NoiseLaw.of("lattice", 0.5, 1, UNIT).grid == 1
    with pytest.raises(SettingError, match="at most 2 sigma"):
        NoiseLaw.of("lattice", 0.4, 1, UNIT)


def test_the_grid_and_its_range_are_stated() -> None:
    assert (EIGHT_BIT.grid, EIGHT_BIT.limits) == (255, (-1020, 1275))
    coarse = NoiseLaw.of("lattice", 0.3, 16, (-1.0, 2.0))
    assert (coarse.grid, coarse.limits) == (16, (math.floor(-3.4 * 16), math.ceil(4.4 * 16)))
    assert [(law.grid, law.limits) for name in NOISES[:2] if (law := NoiseLaw.of(name, 1.0, None, None))] == [
        (None, None)
    ] * 2


def test_inputs_stand_for_grid_points_in_float64() -> None:
    steps = torch.arange(256).view(2, 8, 16)
    ideal = steps.double() / 255
    for given in ((steps / 255).float(), steps.float() * torch.tensor(1 / 255), ideal):
        assert torch.equal(EIGHT_BIT.placed(given, 7), ideal)
    with pytest.raises(InputError, match="input 7: expected values on the grid of step 1/255"):
        EIGHT_BIT.placed((steps + 0.1) / 255, 7)
    off = torch.tensor([0.1234])
    assert NoiseLaw.of("gaussian", 0.5, None, None).placed(off, 7) is off


def test_points_are_snapped_to_the_nearest_grid_point_of_the_range() -> None:
    points = torch.tensor([0.1, 0.499 / 255, 0.501 / 255, 1.0, 99.0], dtype=torch.float64)
    assert (EIGHT_BIT.snapped(points) * 255).round().tolist() == [26, 0, 1, 255, 1275]
    assert NoiseLaw.of("gaussian64", 0.5, None, None).snapped(points) is points


def test_only_the_lattice_has_a_loss_which_grows_with_draws_and_dimension() -> None:
    assert [NoiseLaw.of(name, 0.5, None, None).loss(10**9, 10**6, 0.001) for name in NOISES[:2]] == [0.0, 0.0]
    one = EIGHT_BIT.loss(1, 1, 0.001)
    assert 1e-17 < one < 2297 * 2.0**-62
    assert EIGHT_BIT.loss(100_000, 3072, 0.001) == pytest.approx(100_000 * 3072 * one, rel=1e-12, abs=0)
    with pytest.raises(BudgetError, match="at most 1/10 of alpha"):
        EIGHT_BIT.loss(10**9, 3072, 0.001)


@pytest.mark.parametrize(("grid", "domain"), [(255, UNIT), (3, (-5.0, 7.0)), (16, UNIT)])
def test_a_radius_is_shortened_by_more_than_float64_moves_a_grid_point(grid: int, domain: tuple[float, float]) -> None:
    law = NoiseLaw.of("lattice", 1.0, grid, domain)
    steps = range(int(grid * domain[0]), int(grid * domain[1]) + 1)
    farthest = max(abs(Fraction(i / grid) - Fraction(i, grid)) for i in steps)
    for radius in (0.7, 123.4):
        for dimension in (1, 3072):
            shorter = law.nearer(radius, dimension)
            # |moved| <= sqrt(d) times the farthest coordinate; squares, to stay exact
            assert (Fraction(radius) - Fraction(shorter)) ** 2 > dimension * farthest**2
            assert shorter > radius * (1 - 1e-12) - 1e-12
    assert law.nearer(1e-17, 3072) == 0.0
    assert NoiseLaw.of("gaussian", 1.0, None, domain).nearer(0.7, 3072) == 0.7


def test_noise_to_be_summed_is_kept_as_exactly_as_it_is_drawn() -> None:
    """float32 would round cell means, by more than the sums of section 6 allow for."""
    x = torch.zeros(3)
    assert [NoiseLaw.of(name, 0.5, None, UNIT).room(x, 2).dtype for name in NOISES] == [
        torch.float32,
        torch.float64,
        torch.float64,
    ]
    noise = EIGHT_BIT.room(x, 50)
    EIGHT_BIT.source(Stream(0, 0, "audit"), x).fill(noise)
    assert not torch.equal(noise, noise.float().double())
