"""What a search may say: where to put the balls and which statistics to use. A plan holds no radius, by design.

Everything in a plan is fixed before the certify draws, so that choosing it costs none of alpha.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from torch import Tensor

from doublebubble.bounds import RivalBound
from doublebubble.certificate import Evidence
from doublebubble.search.gradients import Cost
from doublebubble.streams import INPUT
from doublebubble.tally import Request, Tally
from doublebubble.types import Floats, Method


@dataclass(frozen=True)
class Finding:
    """What the draws at one centre say: a bound on the lead over every rival, and what else a verifier needs.

    `vectors` are points or directions that were fixed before the draws and that the bounds rest on.
    """

    bounds: tuple[RivalBound, ...]
    evidence: Evidence = field(default_factory=dict)
    vectors: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def radius(self) -> float:
        """The least of the bounds, signed: by Lemma I it holds at the level at which each of them does."""
        return min((bound.radius for bound in self.bounds), default=-inf)


class Statistic(Protocol):
    """How the draws at one centre become a ball on which g is the class `top`; fixed before the draws."""

    @property
    def name(self) -> str:
        """What records call it."""

    @property
    def top(self) -> int:
        """The class that the ball is for."""

    def asks(self, request: Request) -> Request:
        """The request with what is needed besides votes."""

    def finding(self, tally: Tally, alpha: float, sigma: float) -> Finding:
        """With probability at least 1 - alpha over the draws, g is `top` on the open ball of the finding's radius."""


@dataclass(frozen=True)
class BallPlan:
    """One ball to be certified: the name of its draws, its centre, its share of the draws, its statistic."""

    part: str
    centre: Tensor
    n: int
    statistic: Statistic
    at_input: bool = False


@dataclass(frozen=True)
class MethodPlan:
    """The balls of one method, and whether the domain's box may be used to place the adversary."""

    method: Method
    balls: tuple[BallPlan, ...]
    boxed: bool
    reason: str


def plan_at_input(
    method: Method, x: Tensor, n: int, statistic: Statistic, reason: str, part: str = INPUT
) -> MethodPlan:
    """All draws at the input."""
    return MethodPlan(method, (BallPlan(part, x, n, statistic, at_input=True),), False, reason)


@dataclass(frozen=True)
class Proposal:
    """A plan, and the gain over votes alone at the input that the search draws promise; no claim."""

    plan: MethodPlan
    gain: float


@dataclass(frozen=True)
class Proposals:
    """A plan for each method asked for, the one chosen among them, and what finding them cost."""

    plans: Mapping[Method, MethodPlan]
    chosen: Method
    cost: Cost


def best_of(proposals: Sequence[Proposal]) -> Proposal:
    """The proposal with the largest gain; among equals the first."""
    return max(proposals, key=lambda proposal: proposal.gain)
