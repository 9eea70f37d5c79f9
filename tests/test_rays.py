"""Rays: aimed by the first half alone, off the line, with eta; the second half along them, against plain numpy."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from doublebubble.bounds.ray_gradient import RayMoments
from doublebubble.errors import SettingError
from doublebubble.lines import Line
from doublebubble.rays import Ray
from doublebubble.streams import Stream
from doublebubble.tally import Accumulator, Request
from doublebubble.types import Floats
from tests.methods.known import seen_along
from tests.smoothing.subjects import SHAPE, image, slow_tally, small_net, smoothed

DIM = math.prod(SHAPE)
FIRST, SECOND = (-0.25, 1.75, 0.75, 0.75), (0.0, 2.0, 1.0, 1.0)


def made(dim: int = DIM, eta: bool = False, **changes: object) -> Ray:
    rng = np.random.default_rng(4)
    direction, blocked = rng.normal(size=dim), np.zeros(dim)
    if eta:
        direction[:3], blocked[:3] = 0.0, [0.1, 0.2, -0.1]
    line = Line.along(direction, (-1.0, -0.2, 0.1, 0.7))
    ray = Ray(FIRST, SECOND, line, (0.1, 0.2, 0.3, 0.5, 0.9), 2.5, blocked if eta else None)
    return replace(ray, **changes)  # type: ignore[arg-type]


def asked(ray: Ray, n: int, split: int, stream: Stream) -> Request:
    dim = len(ray.line.direction)
    x = image(1) if dim == DIM else torch.zeros(dim)
    return Request(x, n, stream, (ray.weights,), split, lines=(ray.line,), rays=(ray,))


@pytest.mark.parametrize("eta", [False, True])
@pytest.mark.parametrize("split", [137, 200])
def test_the_second_half_lies_along_the_first_as_by_the_obvious_computation(eta: bool, split: int) -> None:
    n, stream, ray = 400, Stream(0, 1, "certify"), made(eta=eta)
    tally = smoothed(batch_size=32).tally(asked(ray, n, split, stream))
    votes, noise = slow_tally(small_net(), image(1), n, stream, 0.5)
    z, k = noise.reshape(n, -1).double().numpy(), votes.numpy()
    mean = (np.array(FIRST)[k[:split], None] * z[:split]).mean(axis=0)
    expected = seen_along(ray, mean, z[split:], k[split:])
    assert tally.ray(ray) == pytest.approx(expected, abs=1e-9)
    assert expected.square > 0.05
    assert (expected.ahead != 0) == eta
    with pytest.raises(SettingError, match="asked for"):
        tally.ray(replace(ray, clip=3.0))


def test_the_aim_is_at_right_angles_to_the_line() -> None:
    line, mean = Line.along(np.array([3.0, 4.0, 0.0]), (0.0,)), np.array([1.0, 2.0, 3.0])
    aim = Ray(FIRST, SECOND, line, (0.0, 1.0), 4.0).aimed(mean)
    off = mean - (0.6 + 1.6) * np.array([0.6, 0.8, 0.0])
    assert aim._direction == pytest.approx(off / np.linalg.norm(off))
    assert aim._length == pytest.approx(np.linalg.norm(off))
    eta = np.array([0.0, 0.0, -0.5])
    shifted = Ray(FIRST, SECOND, line, (0.0, 1.0), 4.0, eta).aimed(mean)
    assert shifted._length == pytest.approx(np.linalg.norm(off + eta))
    assert shifted._ahead == pytest.approx((off + eta) @ eta / np.linalg.norm(off + eta))


def test_a_first_half_that_shows_nothing() -> None:
    ray = made(8)
    aim = ray.aimed(np.zeros(8))
    aim.add(
        torch.ones((3, 8), dtype=torch.float64), torch.zeros(3, dtype=torch.int64), torch.zeros(3, dtype=torch.int64)
    )
    assert aim.moments() == RayMoments(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _found(ray: Ray, ends: list[int], votes: torch.Tensor, noise: torch.Tensor, split: int) -> RayMoments:
    n = len(noise)
    request = asked(ray, n, split, Stream(0, 0, "certify"))
    accumulator, first = Accumulator(request, 4, torch.device("cpu"), block=32), 0
    for end in ends:
        accumulator.add(votes[first:end], noise[first:end], first)
        first = end
    return accumulator.result().ray(ray)


@pytest.mark.parametrize("split", [64, 101])
def test_rays_are_the_same_however_the_draws_come(split: int) -> None:
    n, dim = 200, 64
    noise = torch.randn((n, dim), generator=torch.Generator().manual_seed(0))
    votes = torch.randint(4, (n,), generator=torch.Generator().manual_seed(1))
    ways = ([32, 64, 96, 128, 160, 192, n], [1, 40, 41, 130, n], [n], [*range(3, n, 7), n])
    assert len({_found(made(dim), ends, votes, noise, split) for ends in ways}) == 1


def test_only_the_first_half_aims() -> None:
    """Other draws in the second half leave the direction and its length as they are."""
    n, dim = 200, 64
    noise = torch.randn((n, dim), generator=torch.Generator().manual_seed(0))
    votes = torch.randint(4, (n,), generator=torch.Generator().manual_seed(1))
    other = torch.cat([noise[:100], -3 * noise[100:]])
    one, two = (_found(made(dim), [n], votes, each, 100) for each in (noise, other))
    assert one.norm1 == two.norm1
    assert one.mean != two.mean


def test_rays_are_shared_like_moments() -> None:
    stream, ray = Stream(0, 0, "certify"), made()
    both = (
        asked(ray, 10, 5, stream).merged(asked(replace(ray, clip=3.0), 10, 5, stream)).merged(asked(ray, 10, 5, stream))
    )
    assert both.rays == (ray, replace(ray, clip=3.0))
    assert len(both.lines) == 1


def test_the_mean_of_the_control_variate_is_zero() -> None:
    """Off the line noise is independent of the bins, so any control variate leaves the mean where it is."""
    rng, dim, n = np.random.default_rng(0), 5, 200_000
    noise: Floats = rng.normal(size=(n, dim))
    votes = np.where(noise[:, 0] + noise[:, 1] > 1, 1, 0)
    ray = made(dim, line=Line.along(np.array([1.0, 0.3, 0, 0, 0]), (-1.0, -0.2, 0.1, 0.7)))
    mean = rng.normal(size=dim)
    plain = seen_along(replace(ray, control=(0.0,) * 5), mean, noise, votes)
    other = seen_along(replace(ray, control=(0.0, 0.0, 0.2, 0.7, 1.3)), mean, noise, votes)
    assert other.mean == pytest.approx(plain.mean, abs=5 * math.sqrt((plain.square + other.square) / n))
    assert other.square < 0.8 * plain.square


def test_wrong_rays_are_refused() -> None:
    ray, stream = made(), Stream(0, 0, "certify")
    wrong: list[dict[str, Any]] = [
        {"control": (0.1,)},
        {"control": (0.1, 0.2, 0.3, 0.4, 2.1)},
        {"second": (0.0, 2.0, 1.0, -0.1)},
    ]
    for changes in wrong:
        with pytest.raises(SettingError, match="ray"):
            replace(ray, **changes)
    lacking: list[dict[str, Any]] = [{"moments": ()}, {"lines": ()}]
    for changes in lacking:
        with pytest.raises(SettingError, match="each ray"):
            replace(asked(ray, 10, 5, stream), **changes)
