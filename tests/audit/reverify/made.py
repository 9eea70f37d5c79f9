"""One certificate of every method and rule, with the input and the domain that it was made for."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

import doublebubble as db
from doublebubble.audit.cases import boxed_cases, free_cases
from doublebubble.audit.coverage import Case
from doublebubble.audit.reverify import Verdict, reverify
from doublebubble.bounds import VotesRule
from doublebubble.bounds.votes import design_joint
from doublebubble.methods.cohen import VotesStatistic
from doublebubble.protocols.sound import certified_ball
from doublebubble.search.plan import BallPlan
from doublebubble.tally import Tally
from doublebubble.types import Floats

METHODS = ("cohen", "single", "boundary", "dipole", "first_order", "double")


@dataclass(frozen=True)
class Sample:
    """A certificate and what its verification needs."""

    certificate: db.Certificate
    x: Floats
    domain: tuple[float, float] | None

    def verdict(self, **changes: Any) -> Verdict:
        """What the verifier says, of the certificate as it is or changed."""
        return reverify(replace(self.certificate, **changes), self.x, self.domain)

    def with_ball(self, number: int = 0, **changes: Any) -> Verdict:
        """What it says if one ball is changed."""
        balls = list(self.certificate.balls)
        balls[number] = replace(balls[number], **changes)
        return self.verdict(balls=tuple(balls))

    def with_rule(self, change: Callable[[dict[str, Any]], dict[str, Any]], number: int = 0) -> Verdict:
        """What it says if one rule of the first ball is changed."""
        evidence = dict(self.certificate.balls[0].evidence)
        rules = [dict(rule) for rule in evidence["rules"]]
        rules[number] = change(rules[number])
        return self.with_ball(evidence={**evidence, "rules": rules})


def _case(name: str) -> Case:
    return next(case for case in free_cases() + boxed_cases() if case.name == name)


def _certified(name: str, *methods: str, balls: int = 1, further: bool = False) -> Sample:
    """The first certificate of a case where the last method's plan has so many balls, at further centres or not."""
    case = _case(name)
    certifier = db.Certifier(case.smoothed, db.CertifyConfig(n=4000, n0=200, methods=methods))
    made = (certifier.certify(case.x, index=index, label=None) for index in range(1, 40))
    plans = ((cert, cert.claims[methods[-1]].balls) for cert in made)
    found = next(cert for cert, plan in plans if len(plan) == balls and (plan[0].centre is not None) == further)
    return Sample(found, case.x.double().numpy(), case.domain)


def _joint() -> Sample:
    """Votes of which two rivals have a joint functional."""
    plain = _certified("linear, four classes", "cohen")
    votes = np.array([2400, 1000, 400, 200])
    top = plain.certificate.prediction
    votes = np.roll(votes, top)
    rivals = [(top + 1) % 4, (top + 2) % 4]
    rule = VotesRule(top, False, tuple(design_joint(votes, top, rival, 0.001) for rival in rivals))
    planned = BallPlan("input", torch.zeros(6), 4000, VotesStatistic(rule), at_input=True)
    ball = certified_ball(planned, Tally(votes, 4000, (4000, 0), None, None), 0.001, plain.certificate.sigma)
    made = replace(
        plain.certificate,
        balls=(ball,),
        radius=ball.radius,
        radii={"cohen": ball.radius},
        counts={**plain.certificate.counts, "input": votes},
    )
    return replace(plain, certificate=made)


@functools.cache
def samples() -> dict[str, Sample]:
    """By the name of what is special about each."""
    found = {
        "binary": _certified("half-space", "cohen"),
        "counts": _certified("linear, four classes", "cohen"),
        "joint": _joint(),
        "first_order": _certified("linear, four classes", "first_order"),
        "first_order, all others": _certified("slab", "first_order"),
        "eta": _certified("half-space at a corner", "first_order"),
        "dipole": _certified("slab", "dipole"),
        "boundary": _certified("half-space at a corner", "boundary", further=True),
        "single": _certified("intervals at the end", "single", further=True),
        "double": _certified("slab", "double", balls=2, further=True),
        "all": _certified("half-space at a face", *METHODS, balls=2, further=True),
    }
    rules = {name: [r["rule"] for b in s.certificate.balls for r in b.evidence["rules"]] for name, s in found.items()}
    assert rules["joint"] == ["joint", "joint", "counts"]
    assert rules["first_order"] == ["first_order", "counts"]
    assert list(found["eta"].certificate.balls[0].vectors) == ["eta/others"]
    return found
