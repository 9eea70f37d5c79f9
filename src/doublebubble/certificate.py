"""What a certification says: a prediction, a radius, the guarantee behind it, and the evidence to check it again."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import numpy as np

from doublebubble.types import ABSTAIN, Counts, Floats, Guarantee, Method, Protocol

Norm = Literal["l2", "l1", "linf"]
Evidence = Mapping[str, Any]
"""Numbers, texts, lists and mappings of them: what JSON can hold."""


class Status(Enum):
    """How a certification ended; the value is a sentence for a person."""

    CERTIFIED = "no point of the domain nearer than the radius gets another class"
    NOT_SEPARATED = "abstained: the draws do not tell the leading class from the others at this level"
    NOT_COVERED = "abstained: no ball of the plan covers the input"
    WRONG_CLASS = "the class under test is not the one that most draws vote for"


@dataclass(frozen=True)
class Ball:
    """The claim that g is the predicted class on the ball of this radius, and the integers that it rests on.

    `centre` is None where the centre is the input itself. `evidence` holds what else is needed to compute the radius
    again: under `sound` the class `top` and for each bound in `rules` its rivals (None: all that no other bound names),
    its parts of alpha and its numbers. `vectors` are points and directions that were fixed before the draws.
    """

    centre: Floats | None
    radius: float
    n: int
    alpha: float
    counts: Counts
    statistic: str
    evidence: Evidence = field(default_factory=dict)
    vectors: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Certificate:
    """The outcome for one input.

    `radius` belongs to the plan that was fixed before the certify draws and is the number to rely on. `radii[m]` is
    what method m alone certifies at level alpha; their maximum is not a certificate. `guarantee` says in which sense
    all of them hold, at confidence 1 - alpha for this input. `counts` are the votes of the select draws and, where
    certify draws were made at the input itself, of those (`input`).
    """

    index: int
    label: int | None
    prediction: int
    status: Status
    radius: float
    radii: Mapping[Method, float]
    method: Method
    reason: str
    protocol: Protocol
    guarantee: Guarantee
    alpha: float
    sigma: float
    shape: tuple[int, ...]
    program: str
    balls: tuple[Ball, ...]
    multipliers: tuple[float, ...]
    whole_domain: bool
    counts: Mapping[str, Counts]
    draws: Mapping[str, int]
    forward_equivalents: Mapping[str, int]
    seconds: Mapping[str, float]

    @property
    def abstained(self) -> bool:
        """Whether no class is named."""
        return self.prediction == ABSTAIN

    @property
    def correct(self) -> bool | None:
        """Whether the prediction is the label; None without a label. An abstention is not correct."""
        return None if self.label is None else self.prediction == self.label

    def radius_in(self, norm: Norm) -> float:
        """The radius in another norm: an L2 radius r certifies L1 radius r and Linf radius r / sqrt(d)."""
        if norm in ("l2", "l1"):
            return self.radius
        if norm != "linf":
            raise ValueError(f"norm: expected l2, l1 or linf, got {norm!r}")
        # sqrt and division are each within half an ulp; three steps down leave the quotient below the exact one.
        value = self.radius / math.sqrt(max(1, math.prod(self.shape)))
        for _ in range(3):
            value = float(np.nextafter(value, 0.0))
        return value if self.radius > 0 else 0.0
