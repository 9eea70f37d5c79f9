"""What will a certification cost, and what will come of it? A forecast from a few draws on some of the inputs.

Nothing here is a guarantee about an input. The draws are of a stream of their own, so they decide nothing later.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta as beta_law
from scipy.stats import binom

from doublebubble.bounds.planning import fewest_draws, radius_means, vote_law
from doublebubble.errors import SettingError
from doublebubble.facade.job import Job
from doublebubble.geometry import cohen_ceiling
from doublebubble.streams import Stream
from doublebubble.tally import Request
from doublebubble.types import Counts, Floats

RADII = (0.25, 0.5, 0.75, 1.0)
_QUANTILES = (np.arange(64) + 0.5) / 64


@dataclass(frozen=True)
class Expected:
    """One radius: the fewest draws that can certify it, and what to expect of sampling until it is decided, or of n.

    `certified` are shares of all inputs, correct ones that are certified; `error` is the standard error of the first.
    """

    radius: float
    fewest: int
    certified: float
    error: float
    draws: float
    certified_at_n: float


@dataclass(frozen=True)
class Plan:
    """A forecast for `size` inputs from `pilot` draws on `inputs` of them, at `rate` draws per second.

    `ceiling` is the largest radius that n draws can certify at alpha, if all of them agree. `draws` are the mean for
    each input until all radii are decided: for each input those of its slowest radius, so a little too few.
    """

    size: int
    inputs: int
    pilot: int
    rate: float
    accuracy: float
    n: int
    alpha: float
    ceiling: float
    radii: tuple[Expected, ...]
    draws: float

    @property
    def seconds(self) -> float:
        """How long sampling until all radii are decided takes for all inputs."""
        return self.size * self.draws / self.rate

    @property
    def seconds_at_n(self) -> float:
        """How long n draws for each input take."""
        return self.size * self.n / self.rate

    def __repr__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> list[str]:
        """The forecast in words, the most important first."""
        return [
            f"{self.size} inputs at {self.rate:,.0f} draws per second, from {self.pilot} draws on {self.inputs} of "
            f"them; {self.accuracy:.1%} of these have most votes for their label",
            f"all radii decided: {self.draws:,.0f} draws for each input, {_duration(self.seconds)} in all; "
            f"{self.n:,} draws for each input: {_duration(self.seconds_at_n)}",
            *(
                f"radius {one.radius:g}: certified accuracy {one.certified:.1%} (+- {one.error:.1%}), {one.draws:,.0f} "
                f"draws for each input; with n = {self.n} {one.certified_at_n:.1%}; no fewer than {one.fewest} draws "
                "certify it"
                for one in self.radii
            ),
            f"n = {self.n} draws at alpha = {self.alpha:g} certify a Cohen radius of at most {self.ceiling:.3f}",
        ]


def forecast(job: Job, inputs: int = 100, pilot: int = 100) -> Plan:
    """The forecast for a job that was put together; at its radii, or at the usual ones."""
    if inputs < 1 or pilot < 2:
        raise SettingError(f"plan: expected at least 1 input and 2 draws, got {inputs} and {pilot}")
    config, sigma = job.recipe.config, job.recipe.sigma
    asked = config.radii or RADII
    hits, correct, rate = _sampled(job, inputs, pilot)
    expected, slowest = [], np.zeros(len(hits))
    for radius in asked:
        law = vote_law(radius / sigma, config.alpha, config.beta, config.max_draws)
        each = {count: radius_means(law, [count], pilot) for count in set(hits.tolist())}
        power = {count: _power_at_n(law.p0, config.n, config.alpha, count, pilot) for count in each}
        certified = np.array([each[count].certified for count in hits.tolist()]) * correct
        draws = np.array([each[count].draws for count in hits.tolist()])
        slowest = np.maximum(slowest, draws)
        expected.append(
            Expected(
                radius=radius,
                fewest=fewest_draws(radius, sigma, config.alpha),
                certified=float(certified.mean()),
                error=float(certified.std(ddof=1)) / math.sqrt(len(hits)) if len(hits) > 1 else math.inf,
                draws=float(draws.mean()),
                certified_at_n=float((np.array([power[count] for count in hits.tolist()]) * correct).mean()),
            )
        )
    return Plan(
        size=len(job.spec.index_list),
        inputs=len(hits),
        pilot=pilot,
        rate=rate,
        accuracy=float(correct.mean()),
        n=config.n,
        alpha=config.alpha,
        ceiling=cohen_ceiling(config.n, config.alpha, sigma),
        radii=tuple(expected),
        draws=float(slowest.mean()),
    )


def _sampled(job: Job, inputs: int, pilot: int) -> tuple[Counts, Floats, float]:
    """Votes for the leader and whether it is the label, on inputs spread over those asked for; and draws per second."""
    indices = job.spec.index_list
    some = [job.source.input(index) for index in indices[:: max(1, len(indices) // inputs)][:inputs]]
    smoothed = job.recipe.smoothed()
    streams = [Stream(job.recipe.config.seed, given.index, "audit", "plan") for given in some]
    smoothed.tally(Request(some[0].x, job.recipe.batch_size, streams[0].child("first")))  # what is done once
    start = time.perf_counter()
    tallies = smoothed.tallies([Request(one.x, pilot, stream) for one, stream in zip(some, streams, strict=True)])
    rate = pilot * len(some) / (time.perf_counter() - start)
    tops = [int(tally.counts.argmax()) for tally in tallies]
    right = [one.label is None or one.label == top for one, top in zip(some, tops, strict=True)]
    return np.array([int(tally.counts.max()) for tally in tallies]), np.array(right, np.float64), rate


def _power_at_n(p0: float, n: int, alpha: float, hits: int, pilot: int) -> float:
    """How often n draws prove p > p0 at level alpha, p averaged over what `hits` of `pilot` votes leave open."""
    needed = int(binom.isf(alpha, n, p0)) + 1
    ps = beta_law.ppf(_QUANTILES, hits + 0.5, pilot - hits + 0.5)
    return float(np.mean(binom.sf(needed - 1, n, ps)))


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
