"""How many draws did a run's inputs need, and why did sampling stop? For runs whose draws are not fixed beforehand."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from doublebubble.bounds.ladder import Stop
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun


@dataclass(frozen=True)
class Sampling:
    """Draws for each input over all inputs that did not fail, and how many of them stopped for which reason."""

    inputs: int
    total: int
    mean: float
    median: float
    most: int
    stops: Mapping[Stop, int]

    @property
    def decided(self) -> int:
        """How many inputs were decided before the most draws allowed were made."""
        return self.inputs - self.stops.get(Stop.CAP, 0)


def sampling(run: StoredRun) -> Sampling | None:
    """What sampling cost, or None for a run with a fixed number of draws or without records."""
    if not isinstance(run.spec, RunSpec) or not run.spec.config.sequential:
        return None
    made = [record for record in run.records if record.status != "failed"]
    if not made:
        return None
    draws = np.array([sum(record.draws.values()) for record in made])
    stops = Counter(Stop[str(record.balls[0].evidence["stop"]).upper()] for record in made)
    return Sampling(
        inputs=len(made),
        total=int(draws.sum()),
        mean=float(draws.mean()),
        median=float(np.median(draws)),
        most=int(draws.max()),
        stops={stop: stops[stop] for stop in Stop if stops[stop]},
    )
