"""Bins along a line: every draw in one bin, the right one, and a budget for rounding that holds."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from mpmath import mp

from doublebubble.errors import SettingError
from doublebubble.lines import Line
from doublebubble.types import Floats

EDGES = (-1.5, -0.5, 0.0, 0.25, 1.0)


def vector(d: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=d)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 63, 64, 65, 784])
def test_places_are_those_of_the_exact_projection(d: int) -> None:
    line = Line.along(vector(d), EDGES)
    noise = torch.randn((200, d), generator=torch.Generator().manual_seed(1)).double()
    exact = [math.fsum((line.direction * row).tolist()) for row in noise.numpy()]
    assert line.places(noise).tolist() == [sum(edge <= z for edge in EDGES) for z in exact]


def test_a_draw_on_an_edge_is_in_the_bin_above() -> None:
    line = Line.along(np.array([2.0, 0.0]), EDGES)
    rows = torch.tensor([[edge, 7.0] for edge in EDGES], dtype=torch.float64)
    assert line.places(rows).tolist() == [1, 2, 3, 4, 5]
    assert line.bins == 6
    extremes = torch.tensor([[-1e300, 0.0], [1e300, 0.0]], dtype=torch.float64)
    assert line.places(extremes).tolist() == [0, 5]


@pytest.mark.parametrize("d", [4, 300, 3072])
def test_the_projection_errs_by_less_than_the_budget_allows_for(d: int) -> None:
    """e of (N6) holds for rounding alone with room to spare, and the budget is 0.8 e for each edge and draw."""
    line = Line.along(vector(d), EDGES)
    allowed = line.misplaced(1) / (0.8 * len(EDGES)) - d * 2.0**-63
    noise = torch.randn((50, d), generator=torch.Generator().manual_seed(2)).double()
    b = math.isqrt(d - 1) + 1
    assert b * b >= d > (b - 1) ** 2
    for row in noise.numpy():
        with mp.workdps(40):
            length = mp.sqrt(sum(mp.mpf(v) ** 2 for v in line.direction.tolist()))
            exact = sum(mp.mpf(u) * mp.mpf(z) for u, z in zip(line.direction.tolist(), row.tolist(), strict=True))
            # an edge a little further away than the error allowed, on either side, is on the side it should be
            z = float(exact / length)
        for side in (-1, 1):
            moved = Line(line.direction, (z + side * allowed,))
            assert moved.places(torch.from_numpy(row[None])).tolist() == [int(side < 0)]


def test_the_budget_grows_with_draws_and_edges_and_is_small() -> None:
    line = Line.along(vector(3072), tuple(np.linspace(-2, 2, 31).tolist()))
    assert 1e-7 < line.misplaced(100_000) < 5e-6
    assert line.misplaced(200_000) == pytest.approx(2 * line.misplaced(100_000))
    few = Line(line.direction, line.edges[:10])
    assert few.misplaced(1000) == pytest.approx(10 / 31 * line.misplaced(1000), rel=1e-3)


def test_what_is_off_the_line_is_at_right_angles_to_it() -> None:
    line, g = Line.along(vector(500), EDGES), vector(500, seed=3)
    off = line.off(g)
    assert abs(float(off @ line.direction)) < 1e-14
    np.testing.assert_allclose(off + float(g @ line.direction) * line.direction, g, atol=1e-14)


def test_lines_are_equal_by_their_numbers() -> None:
    one, two = Line.along(vector(5), EDGES), Line.along(vector(5).copy(), EDGES)
    assert one == two
    assert len({one, two, Line.along(vector(5), EDGES[:2]), Line.along(vector(5, 1), EDGES)}) == 3


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e200])
def test_any_length_will_do_for_a_direction(scale: float) -> None:
    assert abs(math.fsum((Line.along(vector(50) * scale, EDGES).direction ** 2).tolist()) - 1) < 2.0**-50


def test_wrong_lines_are_refused() -> None:
    for wrong in (np.zeros(3), np.array([1.0, np.nan]), np.array([np.inf, 1.0])):
        with pytest.raises(SettingError, match="line: expected"):
            Line.along(wrong, EDGES)
    wrong_kinds: tuple[Any, ...] = (np.array([1.0, 1e-7]), np.array([[1.0]]), np.array([1.0], np.float32))
    for direction in wrong_kinds:
        with pytest.raises(SettingError, match="line: expected"):
            Line(direction, EDGES)
    with pytest.raises(SettingError, match="edges"):
        Line(np.array([1.0]), (0.0, 0.01))
    with pytest.raises(SettingError, match="rows of 1"):
        Line(np.array([1.0]), EDGES).places(torch.zeros((2, 3), dtype=torch.float64))
    with pytest.raises(SettingError, match="float64"):
        Line(np.array([1.0]), EDGES).places(torch.zeros((2, 1)))
