"""Protocol `sound`: select, search, certify on fresh draws, geometry (docs/math.md, section 2).

With probability at least 1 - alpha over the draws made for one input, the prediction equals g(x) and no point of the
domain nearer than the radius gets another class.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from doublebubble.bounds import AlphaBudget, choose_plan, class_bounds
from doublebubble.certificate import Ball, Certificate, Status
from doublebubble.config import CertifyConfig
from doublebubble.geometry import cohen_radius
from doublebubble.search.plan import CENTRE, BallPlan, Plan, Proposal, cohen_plan
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import ABSTAIN, Guarantee, Method


@dataclass(frozen=True)
class Item:
    """One input of a batch: where it is in the data set, and its label if it is known."""

    x: Tensor
    index: int
    label: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What one plan certifies once its draws are in."""

    radius: float
    balls: tuple[Ball, ...]
    multipliers: tuple[float, ...]
    whole_domain: bool


def certify_many(smoothed: SmoothedClassifier, config: CertifyConfig, items: Sequence[Item]) -> list[Certificate]:
    """A certificate for each input, each as if it were alone; draws of several inputs share micro-batches."""
    selected, select_seconds = _timed_tallies(
        smoothed, [Request(item.x, config.n0, Stream(config.seed, item.index, "select")) for item in items]
    )
    proposals, search_seconds = [], []
    for item, tally in zip(items, selected, strict=True):
        start = time.perf_counter()
        proposals.append(propose(config, item, tally))
        search_seconds.append(time.perf_counter() - start)
    requests = [
        request
        for item, proposal in zip(items, proposals, strict=True)
        for request in _requests(config, item, proposal)
    ]
    tallies, seconds = _timed_tallies(smoothed, requests)
    certified = {(r.stream.index, r.stream.part): (t, s) for r, t, s in zip(requests, tallies, seconds, strict=True)}
    certificates = []
    for number, (item, proposal) in enumerate(zip(items, proposals, strict=True)):
        mine = {part: pair for (index, part), pair in certified.items() if index == item.index}
        start = time.perf_counter()
        outcomes = {method: _outcome(plan, mine, smoothed, config) for method, plan in proposal.plans.items()}
        timing = {
            "select": select_seconds[number],
            "search": search_seconds[number],
            "certify": sum(pair[1] for pair in mine.values()),
            "geometry": time.perf_counter() - start,
        }
        certificates.append(_certificate(smoothed, config, item, proposal, selected[number], mine, outcomes, timing))
    return certificates


def propose(config: CertifyConfig, item: Item, selected: Tally) -> Proposal:
    """The plans of the methods asked for, from the select draws."""
    classes = choose_plan(selected.counts, config.n, config.alpha)
    plan = cohen_plan(item.x, classes, config.n)
    return Proposal({"cohen": plan}, "cohen", 0, 0)


def _requests(config: CertifyConfig, item: Item, proposal: Proposal) -> list[Request]:
    """The certify draws of all plans; plans that share a centre and its number of draws share the draws too."""
    balls = {ball.part: ball for plan in proposal.plans.values() for ball in plan.balls}
    return [
        Request(ball.centre, ball.n, Stream(config.seed, item.index, "certify", part)) for part, ball in balls.items()
    ]


def _outcome(
    plan: Plan, tallies: dict[int, tuple[Tally, float]], smoothed: SmoothedClassifier, config: CertifyConfig
) -> Outcome:
    """The radius of one plan, at level alpha by itself."""
    budget = AlphaBudget(config.alpha)
    shares = budget.take_equal([f"ball {number}" for number in range(len(plan.balls))])
    balls = tuple(
        _ball(ball, tallies[ball.part][0], share, smoothed.sigma)
        for ball, share in zip(plan.balls, shares, strict=True)
    )
    return Outcome(max(0.0, balls[0].radius), balls, (1.0,), whole_domain=False)


def _ball(plan: BallPlan, tally: Tally, alpha: float, sigma: float) -> Ball:
    """With probability at least 1 - alpha over the tally's draws, g is the plan's class within the ball's radius."""
    found = class_bounds(tally.counts, plan.classes, AlphaBudget(alpha))
    radius = cohen_radius(found.lower_a, None if plan.classes.binary else found.upper_other, sigma)
    return Ball(
        centre=None if plan.part == CENTRE else plan.centre.detach().cpu().double().numpy(),
        radius=radius if np.isfinite(radius) else 0.0,
        n=tally.n,
        alpha=alpha,
        counts=tally.counts,
        statistic="binary" if plan.classes.binary else "multiclass",
        bounds={"lower_a": found.lower_a, "upper_other": found.upper_other},
        evidence={"top": plan.classes.partition.top, "named": list(plan.classes.partition.named)},
    )


def _certificate(
    smoothed: SmoothedClassifier,
    config: CertifyConfig,
    item: Item,
    proposal: Proposal,
    selected: Tally,
    tallies: dict[int, tuple[Tally, float]],
    outcomes: dict[Method, Outcome],
    seconds: dict[str, float],
) -> Certificate:
    plan, outcome = proposal.plans[proposal.chosen], outcomes[proposal.chosen]
    certified = outcome.radius > 0
    status = Status.CERTIFIED if certified else (Status.NOT_SEPARATED if len(plan.balls) == 1 else Status.NOT_COVERED)
    certify_draws = sum(tally.n for tally, _ in tallies.values())
    return Certificate(
        index=item.index,
        label=item.label,
        prediction=plan.balls[0].classes.partition.top if certified else ABSTAIN,
        status=status,
        radius=outcome.radius,
        radii={method: outcomes[method].radius for method in proposal.plans},
        method=proposal.chosen,
        reason=plan.reason,
        protocol="sound",
        guarantee=Guarantee.EXACT,
        alpha=config.alpha,
        sigma=smoothed.sigma,
        shape=tuple(item.x.shape),
        program=smoothed.program.name,
        balls=outcome.balls,
        multipliers=outcome.multipliers,
        whole_domain=outcome.whole_domain,
        counts={"select": selected.counts},
        draws={"select": selected.n, "search": proposal.draws, "certify": certify_draws},
        forward_equivalents={"select": selected.n, "search": proposal.forward_equivalents, "certify": certify_draws},
        seconds=seconds,
    )


def _timed_tallies(smoothed: SmoothedClassifier, requests: Sequence[Request]) -> tuple[list[Tally], list[float]]:
    """The tallies, and the time taken divided among them by their draws."""
    start = time.perf_counter()
    tallies = smoothed.tallies(requests)
    taken = time.perf_counter() - start
    total = sum(request.n for request in requests)
    return tallies, [taken * request.n / total for request in requests]
