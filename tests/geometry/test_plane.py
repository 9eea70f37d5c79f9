"""Slices of balls and boxes by a plane, against the full space itself."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.errors import InputError
from doublebubble.geometry.plane import Plane, Window, plane_through
from doublebubble.types import Floats

seeds = st.integers(0, 10_000)


def random_plane(seed: int, shape: tuple[int, ...] = (1, 3, 4)) -> tuple[np.random.Generator, Plane]:
    rng = np.random.default_rng(seed)
    plane, _ = plane_through(rng.random(shape), [rng.normal(size=shape) for _ in range(2)])
    return rng, plane


def inside_convex(corners: Floats, points: Floats) -> Floats:
    """How far each point lies inside the polygon: the least signed distance to its edges, corners anticlockwise."""
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.linalg.norm(edges, axis=1)
    kept = lengths > 1e-12
    offset = points[:, None] - corners[None, kept]
    cross = edges[kept, 0] * offset[:, :, 1] - edges[kept, 1] * offset[:, :, 0]
    return np.asarray((cross / lengths[kept]).min(axis=1))


@given(seeds)
def test_the_axes_are_orthonormal_and_span_what_was_asked_for(seed: int) -> None:
    rng = np.random.default_rng(seed)
    origin, first, second = rng.random(12), rng.normal(size=12), rng.normal(size=12)
    plane, chosen = plane_through(origin, [np.zeros(12), first, -3 * first, second])
    assert chosen == (1, 3)
    gram = np.array([[plane.u @ plane.u, plane.u @ plane.v], [plane.v @ plane.u, plane.v @ plane.v]])
    np.testing.assert_allclose(gram, np.eye(2), atol=1e-14)
    assert plane.u @ first == pytest.approx(np.linalg.norm(first))
    for direction in (first, second):  # both lie in the plane
        disk = plane.disk(origin + direction, 1.0)
        assert disk.height < 1e-12
        np.testing.assert_allclose(plane.point(disk.a, disk.b), origin + direction, atol=1e-12)


def test_nearly_parallel_directions_still_give_orthogonal_axes() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=50)
    plane, _ = plane_through(np.zeros(50), [first, first + 1e-4 * rng.normal(size=50)])
    assert abs(plane.u @ plane.v) < 1e-14


def test_directions_are_read_only_as_far_as_needed() -> None:
    read = []

    def directions() -> Iterator[Floats]:
        for row in np.eye(4):
            read.append(row)
            yield row

    plane_through(np.zeros(4), directions())
    assert len(read) == 2


def test_no_plane_without_two_directions() -> None:
    with pytest.raises(InputError, match="two directions that are not parallel"):
        plane_through(np.zeros(3), [np.ones(3), -np.ones(3), np.zeros(3)])


@given(seeds, st.floats(0.1, 4.0))
def test_the_circle_lies_on_the_ball_s_surface(seed: int, radius: float) -> None:
    rng, plane = random_plane(seed)
    centre = plane.origin + rng.normal(size=plane.origin.shape)
    disk = plane.disk(centre, radius)
    if disk.radius == 0:  # then no point of the plane is in the ball; the foot is the nearest
        assert np.linalg.norm(plane.point(disk.a, disk.b) - centre) >= radius * (1 - 1e-12)
    for turn in np.linspace(0, 2 * math.pi, 7) if disk.radius > 0 else ():
        point = plane.point(disk.a + disk.radius * math.cos(turn), disk.b + disk.radius * math.sin(turn))
        assert np.linalg.norm(point - centre) == pytest.approx(radius)


@given(seeds, st.floats(0.05, 3.0), st.floats(-0.9, 0.9))
def test_the_polygon_is_the_domain(seed: int, reach: float, shift: float) -> None:
    rng, plane = random_plane(seed)
    window = Window(shift * reach, -shift * reach, reach)
    corners = plane.polygon(0.0, 1.0, window)
    assert len(corners) >= 3  # the origin is strictly inside the box
    grid = np.array([window.a, window.b]) + rng.uniform(-reach, reach, (300, 2))
    x = plane.origin.ravel() + grid @ np.stack([plane.u.ravel(), plane.v.ravel()])
    room = np.minimum(x, 1.0 - x).min(axis=1)
    depth = inside_convex(corners, grid)
    assert np.all(depth[room > 1e-9] > -1e-9)
    assert np.all(depth[room < -1e-9] < 1e-9)


def test_the_polygon_of_a_corner_and_of_nothing() -> None:
    across = Plane(np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    quarter = across.polygon(0.0, 1.0, Window(0.0, 0.0, 0.5))
    assert {tuple(corner) for corner in quarter.round(12).tolist()} == {(0, 0), (0.5, 0), (0.5, 0.5), (0, 0.5)}
    moved = across.polygon(0.0, 1.0, Window(0.25, 0.0, 0.5))
    assert {tuple(corner) for corner in moved.round(12).tolist()} == {(0, 0), (0.75, 0), (0.75, 0.5), (0, 0.5)}
    outside = Plane(np.array([0.0, 0, 2.0]), across.u, across.v)
    assert outside.polygon(0.0, 1.0, Window(0.0, 0.0, 0.5)).shape == (0, 2)
