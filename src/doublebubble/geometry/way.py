"""How far does a direction lead within the domain? The point at a given distance, clipped to the box on the way."""

import math

import numpy as np

from doublebubble.types import Floats


def way_point(x: Floats, direction: Floats, distance: float, domain: tuple[float, float] | None) -> Floats:
    """clip(x + t direction) for the t >= 0 at which it lies `distance` from x, or as far as the box lets it.

    Of all points of the box no farther from x than that it is the one where the inner product with the direction is
    largest (the conditions of Kuhn and Tucker). x lies in the box; a direction of 0 leads nowhere.
    """
    size = np.abs(direction).ravel()
    if domain is None:
        length = float(np.linalg.norm(size))
        return x + direction * (distance / length) if length else x.copy()
    low, high = domain
    room = np.where(direction > 0, high - x, x - low).ravel()
    moving = size > 0
    stop = room[moving] / size[moving]  # the t at which each coordinate reaches the box
    order = np.argsort(stop)
    stop, squares, rooms = stop[order], (size[moving] ** 2)[order], (room[moving] ** 2)[order]
    free = np.append(np.cumsum(squares[::-1])[::-1], 0.0)  # growth per t^2 while coordinates i, i + 1, ... still move
    gone = np.insert(np.cumsum(rooms), 0, 0.0)  # what those before contribute
    piece = int(np.searchsorted(gone[:-1] + free[:-1] * stop**2, distance**2))
    if piece == len(stop):
        return np.clip(x + direction * (float(stop[-1]) if len(stop) else 0.0), low, high)
    t = math.sqrt(max(0.0, distance**2 - float(gone[piece])) / float(free[piece]))
    return np.clip(x + t * direction, low, high)
