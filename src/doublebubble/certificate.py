"""What a certification says: a prediction, a radius, the guarantee behind it, and the evidence to check it again."""

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import ROUND_FLOOR, Decimal
from enum import Enum
from typing import Any, ClassVar, Literal

import numpy as np

from doublebubble.printable import printable
from doublebubble.types import ABSTAIN, ASSUMED, Counts, Floats, Guarantee, Method, NoiseName, Protocol

Norm = Literal["l2", "l1", "linf"]
Evidence = Mapping[str, Any]
"""Numbers, texts, lists and mappings of them: what JSON can hold."""


class Status(Enum):
    """How a certification ended; the value is a sentence for a person."""

    CERTIFIED = "no point of the domain nearer than the radius gets another class"
    NOT_SEPARATED = "abstained: the draws do not tell the leading class from the others at this level"
    NOT_COVERED = "abstained: no ball of the plan covers the input"
    NOT_REACHED = "abstained: not even the smallest radius asked for is certified"
    WRONG_CLASS = "the class under test is not the one that most draws vote for"


@dataclass(frozen=True)
class Noise:
    """The noise that the draws had, and `loss`, what its distance from the normal law took off alpha (N3).

    On a lattice, `grid` steps make one unit, and noisy values were clipped to the steps from `low` to `high`.
    """

    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "allow_inf_nan": False}

    name: NoiseName = "gaussian"
    loss: float = 0.0
    grid: int | None = None
    low: int | None = None
    high: int | None = None

    @property
    def assumed(self) -> str:
        """What radii rest on besides the draws, under this noise: docs/noise.md says more."""
        return f"the model is a function of one row of its input; {ASSUMED[self.name]}"

    def __str__(self) -> str:
        return self.name if self.grid is None else f"{self.name} of step 1/{self.grid}, range {self.low} to {self.high}"


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

    def __eq__(self, other: object) -> bool:
        return plain(self) == plain(other) if isinstance(other, Ball) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Claim:
    """What the plan of one method certifies, at level alpha by itself, and the balls that prove it.

    `multipliers` are those of the bound (D1) on the union of the balls; `reason` says why the plan is as it is.
    """

    radius: float
    balls: tuple[Ball, ...]
    multipliers: tuple[float, ...]
    whole_domain: bool
    reason: str


@dataclass(frozen=True)
class Certificate:
    """The outcome for one input.

    `radius` belongs to the plan that was fixed before the certify draws and is the number to rely on. `radii[m]` is
    what method m alone certifies at level alpha; their maximum is not a certificate. `beside` has what proves the radii
    of the methods that were not chosen. `guarantee` says in which sense all of them hold, at confidence 1 - alpha for
    this input. `counts` are the votes of the select draws and, where certify draws were made at the input itself, of
    those (`input`). `noise` says how these draws were made.
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
    noise: Noise = field(default_factory=Noise)
    beside: Mapping[Method, Claim] = field(default_factory=dict)

    @property
    def claims(self) -> dict[Method, Claim]:
        """What each method claims, with what proves it: first the method whose radius is the certificate's."""
        chosen = Claim(self.radius, self.balls, self.multipliers, self.whole_domain, self.reason)
        return {self.method: chosen, **self.beside}

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

    def to_dict(self) -> dict[str, object]:
        """All of it as numbers, words, lists and dicts, as JSON takes them."""
        values = plain(self)
        assert isinstance(values, dict)
        return values

    def __eq__(self, other: object) -> bool:
        """Whether all but the time that it took is equal: certifying again gives an equal certificate."""
        if not isinstance(other, Certificate):
            return NotImplemented
        return {**self.to_dict(), "seconds": None} == {**other.to_dict(), "seconds": None}

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "\n  ".join(map(printable, self._sentences()))

    def _repr_html_(self) -> str:
        first, *rest = map(html.escape, self._sentences())
        return f"<div><strong>{first}</strong><br>{'<br>'.join(rest)}</div>"

    def _sentences(self) -> list[str]:
        """What is certified, how surely, and what it cost; the radius rounded down."""
        radius = Decimal(self.radius).quantize(Decimal("0.000001"), ROUND_FLOOR)
        said = "abstains" if self.abstained else f"class {self.prediction}, radius {radius}"
        beside = f" ({self.guarantee.mark})" if self.guarantee.mark else ""
        label = "" if self.label is None else f", label {self.label}"
        spent = f"{sum(self.draws.values()):,} draws in {sum(self.seconds.values()):.2f} s"
        return [
            f"Certificate of input {self.index}: {said}{beside}; {self.status.value}",
            f"the radius {self.guarantee.sentence}; alpha {self.alpha:g}",
            f"method {self.method}, protocol {self.protocol}, sigma {self.sigma:g}, noise {self.noise}{label}; {spent}",
        ]


def plain(value: object) -> object:
    """A value as JSON takes it: arrays and tuples as lists, members of enumerations as words, objects as dicts."""
    if isinstance(value, Enum):
        return value.value if isinstance(value, Guarantee) else value.name.lower()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    return value
