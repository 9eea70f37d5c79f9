"""What first-order certificates add to the time of the model: sums of noise over votes, forecast, bound and solver.

One input of CIFAR-10's shape at n = 10 000, three rivals with a bound on the gradient of the lead over each.
"""

import functools

import numpy as np
import torch
from doublebubble.bounds.forecast import Forecast
from doublebubble.protocols.ball import certified_ball

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble import SmoothedClassifier
from doublebubble.bounds import ClassPlan, Partition, RivalGuess, predict_first_order
from doublebubble.program import fastest_program
from doublebubble.search.plan import CENTRE, BallPlan, GradientPlan
from doublebubble.streams import Stream
from doublebubble.tally import Accumulator, Request, Tally

DRAWS, TIMED, BATCH = 10_000, 1024, 256
ALPHA, SIGMA, DIMENSION = 0.001, 0.5, 3072
SHARES = (0.55, 0.2, 0.1, 0.05, 0.04, 0.03, 0.02, 0.01, 0.0, 0.0)


def run() -> list[Row]:
    """The parts in turns with the model's forward passes, each as a part of them."""
    model, x = subject("resnet18", "cifar10")
    program = fastest_program(model, x.expand(BATCH, *x.shape).clone())
    smoothed = SmoothedClassifier(model, SIGMA, len(SHARES), batch_size=BATCH, program=program)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn((TIMED, *x.shape), generator=generator)
    votes = torch.multinomial(torch.tensor(SHARES), TIMED, replacement=True, generator=generator)
    ball = BallPlan(CENTRE, x, DRAWS, ClassPlan(Partition(0, (1, 2, 3), 10), binary=False), _gradient_plan(_forecast()))
    seconds = best_seconds(
        {
            "forward": functools.partial(smoothed.counts, x, TIMED, seed=0, index=0),
            "moments": functools.partial(_accumulate, ball, votes, noise),
            "forecast": _forecast,
            "ball": functools.partial(certified_ball, ball, _tally(ball), ALPHA, SIGMA),
        }
    )
    forward, moments = (seconds[part] * DRAWS / TIMED for part in ("forward", "moments"))
    ratio = (moments + seconds["forecast"] + seconds["ball"]) / forward
    parts = f"moments {moments:.2f} s, forecast {seconds['forecast']:.2f} s, bound and solver {seconds['ball']:.2f} s"
    measured = f"{ratio:.3f} ({parts}; forward passes {forward:.1f} s, {program.name})"
    name = "first order over the forward passes, ResNet-18 on CIFAR-10's shape, n = 10 000"
    return [Row(name, measured, "at most 0.10", ratio <= 0.10)]


def _forecast() -> Forecast:
    """A plausible input: a leading class, three rivals and a group of the rest, gradients of networks."""
    rivals = [RivalGuess(p, gamma) for p, gamma in ((0.2, 0.45), (0.1, 0.4), (0.05, 0.35), (0.1, 0.4))]
    return predict_first_order(SHARES[0], rivals, DRAWS, DIMENSION, ALPHA, SIGMA)


def _gradient_plan(forecast: Forecast) -> GradientPlan:
    """Three tests, whatever the forecast would spend on them: the dearest case."""
    tests = (forecast.tests * 3)[:3]
    return GradientPlan(tests, 0.1)


def _accumulate(ball: BallPlan, votes: torch.Tensor, noise: torch.Tensor) -> Tally:
    """The sums of weight times noise of all tests, micro-batch by micro-batch, as the draws come in."""
    request = Request(ball.centre, TIMED, Stream(0, 0, "certify"), ball.moments, split=TIMED // 2)
    sink = Accumulator(request, len(SHARES), torch.device("cpu"))
    with torch.inference_mode():
        for first in range(0, TIMED, BATCH):
            sink.add(votes[first : first + BATCH], noise[first : first + BATCH], first)
    return sink.result()


def _tally(ball: BallPlan) -> Tally:
    """Counts as expected, and sums of noise with a common part."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=DIMENSION)
    common *= 0.4 * DRAWS / 2 / np.linalg.norm(common)
    sums = common + 0.6 * np.sqrt(DRAWS / 2) * rng.normal(size=(2, len(ball.moments), DIMENSION))
    counts = np.array([round(share * DRAWS) for share in SHARES])
    return Tally(counts, DRAWS, (DRAWS // 2, DRAWS // 2), sums, None)
