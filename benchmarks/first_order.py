"""What first-order certificates add to the time of the model: sums of noise over votes, forecast, bound and solver.

One input of CIFAR-10's shape at n = 10 000, the rivals that decide with a bound on the gradient of the lead over each.
"""

import functools

import numpy as np
import torch

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble import SmoothedClassifier
from doublebubble.measuring import fastest_program
from doublebubble.methods.first_order import Design, FirstOrderStatistic, GuessedGradient, Outset
from doublebubble.protocols.sound import certified_ball
from doublebubble.search.plan import BallPlan
from doublebubble.streams import INPUT, Stream
from doublebubble.tally import Accumulator, Request, Tally

DRAWS, TIMED, BATCH = 10_000, 512, 256
ALPHA, SIGMA, DIMENSION = 0.001, 0.5, 3072
SHARES = (0.45, 0.2, 0.19, 0.1, 0.03, 0.02, 0.01, 0.0, 0.0, 0.0)


def run(quick: bool = False) -> list[Row]:
    """The parts in turns with the model's forward passes, each as a part of them."""
    model, x = subject("resnet18", "cifar10")
    program = fastest_program(model, x.expand(BATCH, *x.shape).clone())
    smoothed = SmoothedClassifier(model, SIGMA, len(SHARES), batch_size=BATCH, program=program)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn((TIMED, *x.shape), generator=generator)
    votes = torch.multinomial(torch.tensor(SHARES), TIMED, replacement=True, generator=generator)
    statistic = _design().statistic
    ball = BallPlan(INPUT, x, DRAWS, statistic, at_input=True)
    seconds = best_seconds(
        {
            "forward": functools.partial(smoothed.counts, x, TIMED, seed=0, index=0),
            "moments": functools.partial(_accumulate, statistic, x, votes, noise),
            "forecast": _design,
            "ball": functools.partial(certified_ball, ball, _tally(statistic, x), ALPHA, SIGMA),
        },
        rounds=1 if quick else 4,
    )
    forward, moments = (seconds[part] * DRAWS / TIMED for part in ("forward", "moments"))
    ratio = (moments + seconds["forecast"] + seconds["ball"]) / forward
    parts = {
        "s of moments": moments,
        "s of forecast": seconds["forecast"],
        "s of bound and solver": seconds["ball"],
        "tests": len(statistic.tests),
        "s of forward passes": forward,
    }
    name = "first order over the forward passes, ResNet-18 on CIFAR-10's shape, n = 10 000"
    return [Row(name, ratio, at_most=0.10, parts=parts, note=program.name)]


def _design() -> Design:
    """A plausible input: a leading class, two rivals that may decide, gradients as networks show them."""
    counts = np.array([round(share * 500) for share in SHARES])
    outset = Outset(counts, 0, DRAWS, DIMENSION, ALPHA, SIGMA)
    return outset.design({asked.rival: GuessedGradient(asked.usual) for asked in outset.lead_tests(735)})


def _accumulate(statistic: FirstOrderStatistic, x: torch.Tensor, votes: torch.Tensor, noise: torch.Tensor) -> Tally:
    """The sums of weight times noise of all tests, micro-batch by micro-batch, as the draws come in."""
    request = Request(x, TIMED, Stream(0, 0, "certify"), _rows(statistic, x), split=TIMED // 2)
    sink = Accumulator(request, len(SHARES), torch.device("cpu"))
    with torch.inference_mode():
        for first in range(0, TIMED, BATCH):
            sink.add(votes[first : first + BATCH], noise[first : first + BATCH], first)
    return sink.result()


def _rows(statistic: FirstOrderStatistic, x: torch.Tensor) -> tuple[tuple[float, ...], ...]:
    return statistic.asks(Request(x, DRAWS, Stream(0, 0, "certify"))).moments


def _tally(statistic: FirstOrderStatistic, x: torch.Tensor) -> Tally:
    """Counts as expected, and sums of noise with a common part."""
    rows = _rows(statistic, x)
    rng = np.random.default_rng(0)
    common = rng.normal(size=DIMENSION)
    common *= 0.4 * DRAWS / 2 / np.linalg.norm(common)
    sums = common + 0.6 * np.sqrt(DRAWS / 2) * rng.normal(size=(2, len(rows), DIMENSION))
    counts = np.array([round(share * DRAWS) for share in SHARES])
    return Tally(counts, DRAWS, (DRAWS // 2, DRAWS // 2), sums, None, moments=rows)
