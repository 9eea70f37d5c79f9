"""What a search may say: where to put the balls and which statistics to use. A plan holds no radius, by design.

Everything in a plan is fixed before the certify draws, so that choosing it costs none of alpha.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from doublebubble.bounds import ClassPlan
from doublebubble.types import Method


@dataclass(frozen=True)
class BallPlan:
    """One ball to be certified: its centre, its share of the draws, its stream's part, its statistics."""

    part: int
    centre: Tensor
    n: int
    classes: ClassPlan


@dataclass(frozen=True)
class Plan:
    """The balls of one method, and whether the domain's box may be used to place the adversary."""

    method: Method
    balls: tuple[BallPlan, ...]
    boxed: bool
    reason: str


@dataclass(frozen=True)
class Proposal:
    """A plan for each method asked for, the one chosen among them, and what finding them cost."""

    plans: Mapping[Method, Plan]
    chosen: Method
    draws: int
    forward_equivalents: int


CENTRE = 0
"""The part of the certify stream that belongs to the input itself."""


def cohen_plan(x: Tensor, classes: ClassPlan, n: int, method: Method = "cohen", reason: str = "") -> Plan:
    """All draws at the input: what every method falls back to when it predicts no gain."""
    return Plan(method, (BallPlan(CENTRE, x, n, classes),), boxed=False, reason=reason)
