"""Does a certificate hold as often as it says? Repetitions on an oracle, and the exact test that judges them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from scipy import stats
from torch import Tensor

from doublebubble.audit.oracles import Oracle
from doublebubble.certificate import Certificate
from doublebubble.certifier import Certifier
from doublebubble.config import CertifyConfig
from doublebubble.protocols import sound
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.types import ABSTAIN, Method

_TOLERANCE = 1e-9  # relative: oracles know their distances to about 1e-12
_TOGETHER = 100


@dataclass(frozen=True)
class Case:
    """A point of an oracle, the noise, and the domain that the adversary is confined to."""

    name: str
    oracle: Oracle
    x: Tensor
    sigma: float
    domain: tuple[float, float] | None = None

    @property
    def smoothed(self) -> SmoothedClassifier:
        """The oracle, smoothed."""
        return SmoothedClassifier(self.oracle, self.sigma, self.oracle.num_classes, self.domain, batch_size=1000)

    @property
    def truth(self) -> tuple[int, float]:
        """g(x), and the distance to the nearest point of the domain where it is not alone the likeliest class."""
        low, high = (None, None) if self.domain is None else self.domain
        x = self.x.double().numpy()
        return self.oracle.predicted(x, self.sigma), self.oracle.robust_distance(x, self.sigma, low, high)


def repetitions(
    case: Case, config: CertifyConfig, times: int | range, smoothed: SmoothedClassifier | None = None
) -> Iterator[Certificate]:
    """Certificates of one point, each with randomness of its own: so many, or those with these numbers."""
    certifier = Certifier(case.smoothed if smoothed is None else smoothed, config)
    asked = range(times) if isinstance(times, int) else times
    for first in range(0, len(asked), _TOGETHER):
        indices = asked[first : first + _TOGETHER]
        yield from certifier.certify_many([case.x] * len(indices), indices)


def repetitions_of_a_plan(case: Case, config: CertifyConfig, asked: range) -> list[Certificate]:
    """Certificates of one point by one plan: made for the first of these numbers, certified with the draws of each."""
    return sound.certify_again(case.smoothed, config, Input(asked[0], case.x), asked)


def count_misses(case: Case, certificates: Sequence[Certificate]) -> dict[Method, int]:
    """How often each method claimed too much: a radius above the true distance, or any radius for a wrong class."""
    g, distance = case.truth
    tied = distance == 0
    misses: dict[Method, int] = {}
    for certificate in certificates:
        predicted = certificate.balls[0].evidence["top"]
        for method, radius in certificate.radii.items():
            wrong = radius > 0 and (predicted != g or tied)
            misses[method] = misses.get(method, 0) + bool(wrong or radius > distance * (1 + _TOLERANCE))
    return misses


def count_wrong_predictions(
    case: Case, times: int, n: int, alpha: float, smoothed: SmoothedClassifier | None = None
) -> int:
    """How often `predict` named a class that is not alone the likeliest."""
    g, distance = case.truth
    asked = case.smoothed if smoothed is None else smoothed
    answers = asked.predictions((Input(index, case.x) for index in range(times)), n, alpha, seed=0)
    return sum(answer.label != ABSTAIN and (answer.label != g or distance == 0) for answer in answers)


def misses_allowed(times: int, alpha: float, level: float = 1e-4) -> int:
    """The most misses that an exact binomial test at `level` accepts if each happens with probability alpha."""
    return int(stats.binom.isf(level, times, alpha))


def at(values: Sequence[float]) -> Tensor:
    """A point in float32, as models take it."""
    return torch.tensor(values, dtype=torch.float32)
