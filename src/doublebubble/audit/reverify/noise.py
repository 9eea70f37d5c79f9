"""Which noise a certificate says it had: do the loss, the grid and the places of its points fit it? (N1) to (N3)

The law of the integers is computed again in fifty digits. Imports nothing of what it checks.
"""

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from doublebubble.audit.reverify.balls import SEQUENCE
from doublebubble.audit.reverify.geometry import Point
from doublebubble.audit.reverify.numbers import MARGIN, Unknown, exact, mp, require
from doublebubble.certificate import Ball, Certificate
from doublebubble.types import NOISES

_PAST = 8  # standard deviations from the domain to the end of the range
_TOTAL = 2**62
_NEAR = mp.mpf(10) ** -9
_SINGLE, _DOUBLE = 2.0**-22, 2.0**-52  # how far from a grid point a number of float32 or of float64 may lie
_FARTHEST = 1 / 64  # and in steps of the grid, however far from 0 it lies


def check_noise(made: Certificate, x: Point | None, domain: tuple[float, float] | None) -> None:
    """The loss is that of the draws of the plan with most of them, on the grid and in the range that are stated.

    A sequence of votes could have gone on to its cap, so that many draws count for it (N3).
    """
    noise = made.noise
    if noise.name not in NOISES:
        raise Unknown(f"no verifier for noise {noise.name}")
    if noise.name != "lattice":
        bare = noise.loss == 0 and noise.grid is None and noise.low is None and noise.high is None
        require(bare, f"noise {noise.name} with a loss or a grid")
        return
    if domain is None:
        raise Unknown("the range of the grid rests on the domain, which is not at hand")
    grid = noise.grid
    require(type(grid) is int and grid >= 1, f"noise lattice with a grid of {grid!r}")
    assert grid is not None
    reach = _checked_reach(made, grid, domain)
    plans = [claim.balls for claim in made.claims.values()]
    draws = max(sum(_possible_draws(ball) for ball in balls) for balls in plans)
    for_each = math.prod(made.shape) * _variation(grid, made.sigma, reach)
    needed = draws * for_each
    loss = exact(noise.loss, "the loss")
    require(loss + MARGIN >= needed, f"the noise takes {float(needed):.6g} of alpha, only {noise.loss:.6g} was taken")
    # Pairs of draws, or of balls, may leave one of n unused.
    require(
        loss <= (needed + for_each) * (1 + _NEAR), f"the noise takes {float(needed):.6g} of alpha, not {noise.loss:.6g}"
    )
    require(10 * loss <= mp.mpf(made.alpha), "the noise takes more than a tenth of alpha")
    if x is not None:
        _on_grid(x, grid, _SINGLE, "the input")
    for ball in (ball for balls in plans for ball in balls):
        if ball.centre is not None:
            _on_grid(ball.centre.reshape(-1), grid, _DOUBLE, "a centre")


def _possible_draws(ball: Ball) -> int:
    """How many draws the statement about a ball is about, fixed before the first of them."""
    draws = ball.evidence["cap"] if ball.statistic == SEQUENCE else ball.n
    require(type(draws) is int and draws >= ball.n, f"{ball.n} draws of at most {draws!r}")
    return int(draws)


def _checked_reach(made: Certificate, grid: int, domain: tuple[float, float]) -> int:
    """The length of the range, which is the domain and eight sigma on either side; the domain ends at grid points."""
    ends, sigma = [grid * Fraction(end) for end in domain], grid * _PAST * Fraction(made.sigma)
    require(all(end.denominator == 1 for end in ends), f"the domain does not end on the grid of step 1/{grid}")
    limits = math.floor(ends[0] - sigma), math.ceil(ends[1] + sigma)
    stated = made.noise.low, made.noise.high
    require(stated == limits, f"the range of the grid is {limits}, not {stated}")
    return limits[1] - limits[0]


@functools.lru_cache(maxsize=64)
def _variation(grid: int, sigma: float, reach: int) -> Any:
    """(N2): how far the law of one drawn integer is from that of round(sigma Z grid), limited to +-reach."""
    width = 1 / (mp.mpf(grid) * mp.mpf(sigma))
    require(0 < width <= 2, "a step of the grid is wider than two sigma")
    total = mp.mpf(0)
    for k in range(reach):
        tail = mp.ncdf(-(k + mp.mpf(0.5)) * width)
        if 2 * _TOTAL * tail < 1:
            return total + 2 * tail
        total += 2 * abs(mp.nint(_TOTAL * tail) / _TOTAL - tail)
    return total


def _on_grid(point: Point, grid: int, near: float, what: str) -> None:
    steps = point * grid
    off = np.abs(steps - np.rint(steps))
    allowed = np.minimum(near * np.abs(steps), _FARTHEST)
    require(bool(np.all(off <= allowed)), f"{what} does not lie on the grid of step 1/{grid}")
