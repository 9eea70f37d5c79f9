"""The slice that a picture of one input shows: a plane through it and its balls, the smoothed class sampled on a grid.

What is sampled here is an estimate from draws of its own and certifies nothing; the radius is the record's. May import
what the certifier may, not the certifier.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from doublebubble.errors import InputError, RunError, SettingError
from doublebubble.geometry.plane import Disk, Plane, Window, plane_through
from doublebubble.geometry.way import way_point
from doublebubble.runs.profiles import StoredProfile, deciding_profile
from doublebubble.runs.record import Record
from doublebubble.search.gradients import Estimator, slopes
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request
from doublebubble.types import Counts, Floats

RESOLUTION, DRAWS = 41, 256
_SLOPE_DRAWS = 4096
_LARGEST_RESOLUTION = 1000

Seen = Callable[[int, int], None]
"""Told how many of how many points are sampled."""


@dataclass(frozen=True, eq=False)
class Slice:
    """A window of a plane through an input x1, the plane's origin, and what was found there.

    The grid covers the window evenly, its edges included; `shares[j, i, k]` is the part of `draws` draws at column i
    and row j, counted from below, that voted for class k. `meanings` say where the two axes lead. `disks` are the balls
    of the record's plan, the input's own under the name x1. `domain` holds the corners of the part of the window that
    lies in the domain, None for all of R^d. `profile` is the one that the record's radius rests on, if it rests on one;
    the first axis is then its line. All lengths are L2 distances. Nothing here is guaranteed.
    """

    plane: Plane
    meanings: tuple[str, str]
    window: Window
    shares: Floats
    draws: int
    disks: dict[str, Disk]
    domain: Floats | None
    profile: StoredProfile | None = None

    @property
    def resolution(self) -> int:
        """Points along a side."""
        return len(self.shares)

    @property
    def winners(self) -> Counts:
        """The class with most votes at each point; the lowest number among equals."""
        return np.asarray(self.shares.argmax(axis=2), np.int64)


def sample_slice(
    smoothed: SmoothedClassifier,
    x: Tensor,
    record: Record,
    centres: Floats | None,
    classes: tuple[str, ...],
    *,
    seed: int,
    resolution: int = RESOLUTION,
    draws: int = DRAWS,
    seen: Seen = lambda done, total: None,
) -> Slice:
    """Votes on a grid over the plane through x and the centres of its record's balls; the same for the same arguments.

    Where the radius rests on a profile, the first axis is its line. Where the balls span no plane, the axes lead to
    where the next classes gain most, or in random directions; both within the domain as far as the picture reaches,
    if it can be had. The smoothed classifier is asked outside the
    domain too, where noise leads anyway: the picture's border would otherwise have holes.
    """
    if not 2 <= resolution <= _LARGEST_RESOLUTION:
        raise SettingError(f"resolution: expected 2 to {_LARGEST_RESOLUTION} points per side, got {resolution}")
    if x.numel() < 2:
        raise InputError(f"input {record.index}: a plane needs inputs of at least 2 numbers, got {x.numel()}")
    start = smoothed.checked(x, record.index)
    balls = _balls(record, centres, start.cpu().double().numpy())
    reach = _reach(record, balls, smoothed.sigma)
    ways = _Ways(smoothed, start, record.index, seed, reach, classes)
    profile = deciding_profile(record, centres, smoothed.sigma)
    meanings: list[str] = []

    def directions() -> Iterator[Floats]:
        for meaning, direction in ways.candidates({name: centre for name, (centre, _) in balls.items()}, profile):
            meanings.append(meaning)
            yield direction

    plane, chosen = plane_through(ways.origin, directions())
    disks = {name: plane.disk(centre, radius) for name, (centre, radius) in balls.items()}
    window = _window(plane, reach, record.radius, disks, smoothed.domain)
    stream = Stream(seed, record.index, "picture", "grid")
    return Slice(
        plane=plane,
        meanings=(meanings[chosen[0]], meanings[chosen[1]]),
        window=window,
        shares=_shares(smoothed.unconfined(), start, _grid(plane, window, resolution), stream, draws, seen),
        draws=draws,
        disks=disks,
        domain=None if smoothed.domain is None else plane.polygon(*smoothed.domain, window),
        profile=profile,
    )


def _balls(record: Record, centres: Floats | None, x1: Floats) -> dict[str, tuple[Floats, float]]:
    """The plan's balls by name, x1 first: centre and radius; the input is there even if the plan put no ball on it."""
    if record.error is not None:
        raise RunError(f"input {record.index}: failed, there is nothing to draw ({record.error})")
    found: dict[str, tuple[Floats, float]] = {"x1": (x1, 0.0)}
    for ball in record.balls:
        if ball.centre is None:
            found["x1"] = (x1, ball.radius)
        elif centres is None:
            raise RunError(
                f"input {record.index}: its plan used {sum(b.centre is not None for b in record.balls)} further "
                "centres that were not stored (--no-centres), so there is no plane through them"
            )
        else:
            found[f"x{len(found) + 1}"] = (centres[ball.centre].reshape(x1.shape), ball.radius)
    return found


def _reach(record: Record, balls: dict[str, tuple[Floats, float]], sigma: float) -> float:
    """Half the side of the picture: around all balls, well beyond the certified circle, and at least sigma."""
    x1 = balls["x1"][0]
    far = max(float(np.linalg.norm(centre - x1)) + radius for centre, radius in balls.values())
    return max(1.2 * far, 1.8 * record.radius, sigma)


def _window(
    plane: Plane, reach: float, radius: float, disks: dict[str, Disk], domain: tuple[float, float] | None
) -> Window:
    """The window moved towards the middle of the domain, as far as all circles stay in it."""
    if domain is None:
        return Window(0.0, 0.0, reach)
    corners = plane.polygon(*domain, Window(0.0, 0.0, 2.0 * reach))
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2 if len(corners) else np.zeros(2)
    circles = [(0.0, 0.0, radius), *((disk.a, disk.b, disk.radius) for disk in disks.values())]
    least = [max(circle[axis] + circle[2] for circle in circles) + 0.08 * reach - reach for axis in (0, 1)]
    most = [min(circle[axis] - circle[2] for circle in circles) - 0.08 * reach + reach for axis in (0, 1)]
    a, b = (float(np.clip(middle[axis], least[axis], most[axis])) for axis in (0, 1))
    return Window(a, b, reach)


@dataclass(frozen=True, eq=False)
class _Ways:
    """Directions worth looking along from an input, the best first; what they need is drawn only when asked for."""

    smoothed: SmoothedClassifier
    x: Tensor
    index: int
    seed: int
    reach: float
    classes: tuple[str, ...]

    @property
    def origin(self) -> Floats:
        return self.x.cpu().double().numpy()

    def candidates(self, centres: dict[str, Floats], profile: StoredProfile | None) -> Iterator[tuple[str, Floats]]:
        """Along a profile's line; to the further centres; to where rivals gain; anywhere within the domain; anywhere.

        The line is drawn as it is, even where it leaves the domain: the bound speaks of this direction.
        """
        if profile is not None:
            yield (
                f"along the line against class {self.classes[profile.rival]}",
                profile.direction.reshape(self.origin.shape),
            )
        for name, centre in centres.items():
            yield f"towards {name}", centre - self.origin
        yield from self._to_rivals()
        free = [self._random(part) for part in range(4)]
        for direction in free:
            yield "in a random direction", self._within(direction)
        for direction in free:
            yield "in a random direction", direction

    def _to_rivals(self) -> Iterator[tuple[str, Floats]]:
        """Where the two next classes gain on the leading one most (E1), for each that got a vote."""
        rivals: list[int] = []

        def weights(counts: Counts) -> Floats:
            top, *others = np.argsort(-counts, kind="stable")
            rivals.extend(int(k) for k in others[:2] if counts[k] > 0)
            rows = np.ones((len(rivals), len(counts)))  # less the leading class's weight, which only adds noise
            rows[:, top] = 0.0
            rows[range(len(rivals)), rivals] = 2.0
            return rows

        stream = Stream(self.seed, self.index, "picture", "slope")
        found = slopes(self.smoothed, Estimator.APPROXIMATE, self.x, _SLOPE_DRAWS, stream, weights)
        gradients = found.gradients.numpy()
        if len(gradients) == 2:  # what the first direction does not gain already
            first = gradients[0] / max(float(np.linalg.norm(gradients[0])), 1e-300)
            gradients[1] -= float(np.vdot(gradients[1], first)) * first
        for rival, gradient in zip(rivals, gradients, strict=True):
            yield f"towards class {self.classes[rival]}", self._within(gradient)

    def _random(self, number: int) -> Floats:
        stream = Stream(self.seed, self.index, "picture", f"direction/{number}")
        return stream.generator().standard_normal(self.origin.shape)

    def _within(self, direction: Floats) -> Floats:
        """A way like the direction that stays in the domain over the picture's reach, or as far as there is room.

        The domain is convex, so it holds the whole way to the point that this leads to.
        """
        if self.smoothed.domain is None:
            return direction
        return way_point(self.origin, direction, self.reach, self.smoothed.domain) - self.origin


def _grid(plane: Plane, window: Window, resolution: int) -> list[list[Floats]]:
    """The points of the grid, row by row from below."""
    steps = np.linspace(-window.reach, window.reach, resolution)
    return [[plane.point(window.a + float(a), window.b + float(b)) for a in steps] for b in steps]


def _shares(
    smoothed: SmoothedClassifier, x: Tensor, grid: list[list[Floats]], stream: Stream, draws: int, seen: Seen
) -> Floats:
    """The vote shares at each point of the grid, each from a stream of its own."""
    side = len(grid)
    shares = np.empty((side, side, smoothed.num_classes))
    for j, row in enumerate(grid):
        requests = [Request(torch.from_numpy(point).to(x), draws, stream.child(j, i)) for i, point in enumerate(row)]
        for i, tally in enumerate(smoothed.tallies(requests)):
            shares[j, i] = tally.counts / draws
        seen((j + 1) * side, side * side)
    return shares
