"""One input's outcome as it is kept: what a certificate says, its radii rounded down, or why there is none."""

import itertools
from collections.abc import Iterator
from decimal import ROUND_FLOOR, Decimal
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, JsonValue, model_validator

from doublebubble.certificate import Ball, Certificate, Claim, Noise, Status
from doublebubble.config import Settings
from doublebubble.errors import RunError
from doublebubble.runs.spec import MOST_CLASSES, MOST_INTEGER, RunSpec
from doublebubble.types import ABSTAIN, Counts, Floats, Guarantee

RecordStatus = Literal["certified", "not_separated", "not_covered", "not_reached", "wrong_class", "failed", "imported"]
_STATUS: dict[Status, RecordStatus] = {
    Status.CERTIFIED: "certified",
    Status.NOT_SEPARATED: "not_separated",
    Status.NOT_COVERED: "not_covered",
    Status.NOT_REACHED: "not_reached",
    Status.WRONG_CLASS: "wrong_class",
}
_SENTENCES = {name: status for status, name in _STATUS.items()}
LARGEST_RADIUS = 1e15
"""No radius is larger; six decimals of one that were could not be written exactly."""
Count = Annotated[int, Field(ge=0, le=MOST_INTEGER)]
VotesByClass = dict[Annotated[int, Field(ge=0, lt=MOST_CLASSES)], Count]
Length = Annotated[float, Field(ge=0, le=LARGEST_RADIUS)]
Seconds = Annotated[float, Field(ge=0, le=LARGEST_RADIUS)]


def floor_radius(radius: float) -> float:
    """The largest number of 6 decimals that is not above the radius; the double that stands for it is not above either.

    Decimal represents a double exactly, so nothing is rounded before the floor is taken. The radius is a double above
    the floored value, and rounding to the nearest double is monotone, so the result cannot pass the radius.
    """
    if not 0 <= radius <= LARGEST_RADIUS:
        raise RunError(f"radius: expected a finite number >= 0 and at most {LARGEST_RADIUS:g}, got {radius!r}")
    return float(Decimal(radius).quantize(Decimal("0.000001"), rounding=ROUND_FLOOR))


def radius_text(radius: float) -> str:
    """A record's radius in six decimals, never rounded up.

    The double of a number of six decimals is printed as that number, which is what was floored once already: flooring
    the double again would lose a millionth whenever it lies below its decimal.
    """
    text = f"{radius:.6f}"
    return text if float(text) == radius else f"{floor_radius(radius):.6f}"


class BallRecord(Settings):
    """A ball of the plan with all that is needed to compute its radius again; nothing in it is rounded.

    `centre` and `vectors` are rows of the run's file of centres for this input; a centre of None is the input itself.
    """

    centre: Count | None
    radius: float
    n: Annotated[int, Field(ge=-MOST_INTEGER, le=MOST_INTEGER)]
    alpha: float
    counts: VotesByClass
    statistic: str
    evidence: dict[str, JsonValue]
    vectors: dict[str, Count] = Field(default_factory=dict)


class ClaimRecord(Settings):
    """What proves the radius of a method that was not the one chosen; the radius itself is among the record's radii."""

    balls: tuple[BallRecord, ...]
    multipliers: tuple[float, ...]
    whole_domain: bool
    reason: str


class Record(Settings):
    """One line of a run.

    `radius` and `radii` are rounded down to 6 decimals; an imported radius is as its file has it. A failed input has
    status `failed`, an error, no prediction and radius 0, and counts as not certified. Votes are kept for classes that
    got any. `beside` has what proves the radii of the methods that were not chosen. `centres_digest` is the SHA-256 of
    this input's file of centres, if its plans used any besides the input. `noise` says how its draws were made and what
    of alpha that took.
    """

    index: Count
    label: Annotated[int, Field(ge=-MOST_INTEGER, le=MOST_INTEGER)] | None
    prediction: Annotated[int, Field(ge=ABSTAIN, le=MOST_INTEGER)]
    status: RecordStatus
    radius: Length
    radii: dict[str, Length]
    guarantee: Guarantee
    alpha: float | None = None
    protocol: str | None = None
    method: str | None = None
    reason: str = ""
    error: str | None = None
    balls: tuple[BallRecord, ...] = ()
    multipliers: tuple[float, ...] = ()
    whole_domain: bool = False
    centres_digest: str | None = None
    counts: dict[str, VotesByClass] = Field(default_factory=dict)
    draws: dict[str, Count] = Field(default_factory=dict)
    forward_equivalents: dict[str, Count] = Field(default_factory=dict)
    seconds: dict[str, Seconds] = Field(default_factory=dict)
    noise: Noise = Field(default_factory=Noise)
    beside: dict[str, ClaimRecord] = Field(default_factory=dict)

    @property
    def correct(self) -> bool | None:
        """Whether the prediction is the label; None without a label. Abstained and failed inputs are not correct."""
        return None if self.label is None else self.prediction == self.label

    @property
    def all_balls(self) -> tuple[BallRecord, ...]:
        """The balls of the plan and of those beside it, in the order in which centres and vectors are stored."""
        return self.balls + tuple(ball for claim in self.beside.values() for ball in claim.balls)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.status == "failed") != (self.error is not None):
            raise ValueError("a failed input has an error, and no other has one")
        if self.prediction == ABSTAIN and self.radius > 0:
            raise ValueError("an input without a prediction has radius 0")
        return self

    @classmethod
    def of(cls, certificate: Certificate, centres_digest: str | None = None) -> Self:
        """The record of a certificate; `centres_digest` as `centres_of` and the store agree on it."""
        rows = itertools.count()
        return cls(
            index=certificate.index,
            label=certificate.label,
            prediction=certificate.prediction,
            status=_STATUS[certificate.status],
            radius=floor_radius(certificate.radius),
            radii={method: floor_radius(radius) for method, radius in certificate.radii.items()},
            guarantee=certificate.guarantee,
            alpha=certificate.alpha,
            protocol=certificate.protocol,
            method=certificate.method,
            reason=certificate.reason,
            balls=tuple(_ball(ball, rows) for ball in certificate.balls),
            multipliers=certificate.multipliers,
            whole_domain=certificate.whole_domain,
            centres_digest=centres_digest,
            counts={stage: _votes(votes) for stage, votes in certificate.counts.items()},
            draws=dict(certificate.draws),
            forward_equivalents=dict(certificate.forward_equivalents),
            seconds=dict(certificate.seconds),
            noise=certificate.noise,
            beside={method: _claim(claim, rows) for method, claim in certificate.beside.items()},
        )

    @classmethod
    def failed(cls, index: int, label: int | None, error: str) -> Self:
        """The record of an input that could not be certified at all."""
        return cls(
            index=index,
            label=label,
            prediction=ABSTAIN,
            status="failed",
            radius=0.0,
            radii={},
            guarantee=Guarantee.NONE,
            reason="no certificate: the input failed",
            error=error,
        )

    def certificate(self, spec: RunSpec, centres: Floats | None) -> Certificate:
        """The certificate that this is the record of, its radii as they are here; `centres` as the run keeps them."""
        if why := self._damage(spec, centres):
            raise RunError(f"input {self.index}: the certificate cannot be made again, {why}")
        return Certificate(
            index=self.index,
            label=self.label,
            prediction=self.prediction,
            status=_SENTENCES[self.status],
            radius=self.radius,
            radii=self.radii,
            method=self.method or "",
            reason=self.reason,
            protocol=spec.config.protocol,
            guarantee=self.guarantee,
            alpha=spec.config.alpha if self.alpha is None else self.alpha,
            sigma=spec.sigma,
            shape=spec.shape,
            program=spec.program,
            balls=tuple(_certified_ball(ball, centres, spec.num_classes) for ball in self.balls),
            multipliers=self.multipliers,
            whole_domain=self.whole_domain,
            counts={stage: _counts(votes, spec.num_classes) for stage, votes in self.counts.items()},
            draws=self.draws,
            forward_equivalents=self.forward_equivalents,
            seconds=self.seconds,
            noise=self.noise,
            beside={
                method: Claim(
                    radius=self.radii[method],
                    balls=tuple(_certified_ball(ball, centres, spec.num_classes) for ball in claim.balls),
                    multipliers=claim.multipliers,
                    whole_domain=claim.whole_domain,
                    reason=claim.reason,
                )
                for method, claim in self.beside.items()
            },
        )

    def _damage(self, spec: RunSpec, centres: Floats | None) -> str:
        """Why there is no certificate to be made of the record; nothing if there is one."""
        if self.status not in _SENTENCES:
            return "it has none"
        balls = list(self.all_balls)
        rows = [row for ball in balls for row in (ball.centre, *ball.vectors.values()) if row is not None]
        labels = [label for votes in (*self.counts.values(), *(ball.counts for ball in balls)) for label in votes]
        if rows and centres is None:
            return "its centres were not stored"
        if centres is not None and max(rows, default=-1) >= len(centres):
            return "its file of centres lacks some of them"
        if max(labels, default=-1) >= spec.num_classes:
            return f"it has votes for class {max(labels)} of {spec.num_classes}"
        return ""

    def without_time(self) -> dict[str, object]:
        """All that must be equal when the same input is certified again."""
        return self.model_dump(exclude={"seconds"})


def centres_of(certificate: Certificate) -> Floats | None:
    """The centres and other vectors of the plans, the input itself excepted, ball by ball; None if there are none."""
    rows = [
        row.reshape(certificate.shape)
        for claim in certificate.claims.values()
        for ball in claim.balls
        for row in ([] if ball.centre is None else [ball.centre]) + list(ball.vectors.values())
    ]
    return np.stack(rows) if rows else None


def _claim(claim: Claim, rows: Iterator[int]) -> ClaimRecord:
    return ClaimRecord(
        balls=tuple(_ball(ball, rows) for ball in claim.balls),
        multipliers=claim.multipliers,
        whole_domain=claim.whole_domain,
        reason=claim.reason,
    )


def _ball(ball: Ball, rows: Iterator[int]) -> BallRecord:
    return BallRecord(
        centre=None if ball.centre is None else next(rows),
        radius=ball.radius,
        n=ball.n,
        alpha=ball.alpha,
        counts=_votes(ball.counts),
        statistic=ball.statistic,
        evidence=dict(ball.evidence),
        vectors={name: next(rows) for name in ball.vectors},
    )


def _certified_ball(ball: BallRecord, centres: Floats | None, num_classes: int) -> Ball:
    return Ball(
        centre=None if ball.centre is None or centres is None else centres[ball.centre],
        radius=ball.radius,
        n=ball.n,
        alpha=ball.alpha,
        counts=_counts(ball.counts, num_classes),
        statistic=ball.statistic,
        evidence=ball.evidence,
        vectors={} if centres is None else {name: centres[row].reshape(-1) for name, row in ball.vectors.items()},
    )


def _counts(votes: dict[int, int], num_classes: int) -> Counts:
    counts = np.zeros(num_classes, np.int64)
    counts[list(votes)] = list(votes.values())
    return counts


def _votes(counts: Counts) -> dict[int, int]:
    return {int(label): int(counts[label]) for label in np.flatnonzero(counts)}
