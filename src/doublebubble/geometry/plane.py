"""A plane through high-dimensional space: where balls and the box meet it. For pictures; it certifies nothing."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from doublebubble.errors import InputError
from doublebubble.types import Floats

_PARALLEL = 1e-6  # what is left of a direction across the others, as a part of it, below which it adds none


@dataclass(frozen=True)
class Disk:
    """Where a ball meets a plane: the foot (a, b) of its centre, `height` away from it, and the circle about the foot.

    `radius` is 0 where the ball does not reach the plane.
    """

    a: float
    b: float
    height: float
    radius: float


@dataclass(frozen=True)
class Window:
    """A square of a plane: its middle (a, b) and half its side."""

    a: float
    b: float
    reach: float

    @property
    def corners(self) -> Floats:
        """Anticlockwise from the lower left, (4, 2)."""
        unit = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        return np.array([self.a, self.b]) + self.reach * unit


@dataclass(frozen=True, eq=False)
class Plane:
    """The points origin + a u + b v; u and v are orthonormal and shaped like the origin."""

    origin: Floats
    u: Floats
    v: Floats

    def point(self, a: float, b: float) -> Floats:
        """One point, shaped like the origin."""
        return self.origin + a * self.u + b * self.v

    def disk(self, centre: Floats, radius: float) -> Disk:
        """Where the ball about a point of the whole space meets the plane (Pythagoras)."""
        offset = centre - self.origin
        a, b = float(np.vdot(offset, self.u)), float(np.vdot(offset, self.v))
        height = float(np.linalg.norm(offset - a * self.u - b * self.v))
        return Disk(a, b, height, math.sqrt(max(0.0, radius**2 - height**2)))

    def polygon(self, low: float, high: float, window: Window) -> Floats:
        """The corners (m, 2), in order, of the part of the window that lies in the box [low, high]^d.

        The window is cut by one half-plane after another (Sutherland and Hodgman); m = 0 if nothing is left.
        """
        corners = window.corners
        x, u, v = self.origin.ravel(), self.u.ravel(), self.v.ravel()
        normals = np.concatenate([np.stack([u, v], axis=1), -np.stack([u, v], axis=1)])
        rooms = np.concatenate([x - low, high - x])  # a point is inside where room + normal.(a, b) >= 0
        cutting = (rooms + (corners @ normals.T)).min(axis=0) < 0.0
        for normal, room in zip(normals[cutting], rooms[cutting], strict=True):
            corners = _cut(corners, room + corners @ normal)
        return corners


def plane_through(origin: Floats, directions: Iterable[Floats]) -> tuple[Plane, tuple[int, int]]:
    """The plane spanned by the first two directions that are not parallel, and which two they were.

    The first unit vector points along the first of them, the second along what the other has across it. Directions are
    read only as far as needed.
    """
    found: list[Floats] = []
    numbers: list[int] = []
    for number, direction in enumerate(directions):
        length = float(np.linalg.norm(direction))
        across = direction
        for unit in [*found, *found]:  # the second round removes the rounding of the first
            across = across - float(np.vdot(across, unit)) * unit
        left = float(np.linalg.norm(across))
        if length > 0.0 and left > _PARALLEL * length:
            found.append(across / left)
            numbers.append(number)
        if len(found) == 2:
            return Plane(origin, *found), (numbers[0], numbers[1])
    raise InputError(f"expected two directions that are not parallel, among {origin.size} numbers there are none")


def _cut(corners: Floats, inside: Floats) -> Floats:
    """The polygon's part where `inside`, linear in the plane and given at the corners, is not negative."""
    kept: list[Floats] = []
    for number, corner in enumerate(corners):
        before, here = inside[number - 1], inside[number]
        if (before < 0.0) != (here < 0.0):
            kept.append(corners[number - 1] + before / (before - here) * (corner - corners[number - 1]))
        if here >= 0.0:
            kept.append(corner)
    return np.array(kept).reshape(-1, 2)
