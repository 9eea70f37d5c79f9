"""What profile certificates add to the time of the model: design, bins and sums of noise while drawing, final bound.

One input of CIFAR-10's shape at n = 10 000, one line against the nearest rival, the guesses of a plausible search.
"""

import functools
from math import sqrt

import numpy as np
import torch
from scipy.special import ndtr

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble import SmoothedClassifier
from doublebubble.geometry.profile import bin_masses
from doublebubble.lines import Line
from doublebubble.measuring import fastest_program
from doublebubble.methods.profile.statistic import ProfileStatistic, RivalProfile
from doublebubble.protocols.sound import certified_ball
from doublebubble.search.plan import BallPlan
from doublebubble.search.profile import Scene, profile_edges
from doublebubble.streams import INPUT, Stream
from doublebubble.tally import Accumulator, Request, Tally
from doublebubble.types import Floats

DRAWS, TIMED, BATCH = 10_000, 512, 256
ALPHA, SIGMA, DIMENSION, SLOPE_OFF = 0.001, 0.5, 3072, 0.15
SHARES = (0.65, 0.2, 0.1, 0.02, 0.01, 0.01, 0.01, 0.0, 0.0, 0.0)
EDGES = profile_edges(0.6)
MOST = 0.10


def run(quick: bool = False) -> list[Row]:
    """The parts in turns with the model's forward passes, each as a part of them."""
    model, x = subject("resnet18", "cifar10")
    program = fastest_program(model, x.expand(BATCH, *x.shape).clone())
    smoothed = SmoothedClassifier(model, SIGMA, len(SHARES), batch_size=BATCH, program=program)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn((TIMED, *x.shape), generator=generator)
    votes = torch.multinomial(torch.tensor(SHARES), TIMED, replacement=True, generator=generator)
    statistic = _statistic()
    ball = BallPlan(INPUT, x, DRAWS, statistic, at_input=True)
    seconds = best_seconds(
        {
            "forward": functools.partial(smoothed.counts, x, TIMED, seed=0, index=0),
            "drawing": functools.partial(_accumulate, statistic, x, votes, noise),
            "design": _statistic,
            "bound": functools.partial(certified_ball, ball, _tally(statistic, x), ALPHA, SIGMA),
        },
        rounds=1 if quick else 4,
    )
    forward, drawing = (seconds[part] * DRAWS / TIMED for part in ("forward", "drawing"))
    ratio = (drawing + seconds["design"] + seconds["bound"]) / forward
    parts = {
        "s of bins and moments": drawing,
        "s of design": seconds["design"],
        "s of final bound": seconds["bound"],
        "s of forward passes": forward,
    }
    name = "profiles over the forward passes, ResNet-18 on CIFAR-10's shape, n = 10 000"
    return [Row(name, ratio, at_most=MOST, parts=parts, note=program.name)]


def _statistic() -> ProfileStatistic:
    """One line against the nearest rival, with a test designed as the search does."""
    line = Line.along(np.random.default_rng(0).normal(size=DIMENSION), EDGES)
    f_a, f_b = _profile()
    votes = np.array([round(share * DRAWS) for share in SHARES])
    misplaced = line.misplaced(DRAWS)
    scene = Scene(votes, 0, 1, line.edges, f_a, f_b, SLOPE_OFF, DIMENSION, ALPHA, SIGMA, misplaced, seen=1235)
    test, _ = scene.design()
    return ProfileStatistic(0, len(SHARES), (RivalProfile(line, test, None, scene.control()),))


def _profile() -> tuple[Floats, Floats]:
    """The votes of the class and of the rival by bin, falling and rising along the line as networks' votes do."""
    ends = np.array([-4.0, *EDGES, 4.0])
    middles = 0.5 * (ends[1:] + ends[:-1])
    f_a = ndtr(0.5 - 0.8 * middles)  # about SHARES[0] on average
    return np.round(f_a, 4), np.round(SHARES[1] / (1 - SHARES[0]) * (1 - f_a), 4)


def _accumulate(statistic: ProfileStatistic, x: torch.Tensor, votes: torch.Tensor, noise: torch.Tensor) -> Tally:
    """The bins of the line and the sums of weight times noise, micro-batch by micro-batch, as the draws come in."""
    asked = statistic.asks(Request(x, DRAWS, Stream(0, 0, "certify")))
    request = Request(x, TIMED, asked.stream, asked.moments, TIMED // 2, lines=asked.lines, rays=asked.rays)
    sink = Accumulator(request, len(SHARES), torch.device("cpu"))
    with torch.inference_mode():
        for first in range(0, TIMED, BATCH):
            sink.add(votes[first : first + BATCH], noise[first : first + BATCH], first)
    return sink.result()


def _tally(statistic: ProfileStatistic, x: torch.Tensor) -> Tally:
    """Votes by bin as expected, and sums of noise with a common part off the line."""
    asked = statistic.asks(Request(x, DRAWS, Stream(0, 0, "certify")))
    (line,), rng = asked.lines, np.random.default_rng(1)
    f_a, f_b = _profile()
    others = (1 - f_a - f_b)[:, None] * np.array(SHARES[2:]) / sum(SHARES[2:])
    chances = bin_masses(line.edges)[:, None] * np.column_stack([f_a, f_b, others])
    table = rng.multinomial(DRAWS, chances.ravel() / chances.sum()).reshape(chances.shape)
    common = line.off(rng.normal(size=DIMENSION))
    common *= SLOPE_OFF / np.linalg.norm(common)
    half = DRAWS // 2
    (ray,) = asked.rays
    sums = half * common + 0.7 * sqrt(half) * rng.normal(size=(2, len(asked.moments), DIMENSION))
    counts = table.sum(axis=0)
    along = ray.aimed(sums[0, 0] / half).moments()._replace(square=0.3, fourth=2.0)
    return Tally(
        counts, DRAWS, (half, half), sums, None, None, asked.moments, asked.lines, (table,), asked.rays, (along,)
    )
