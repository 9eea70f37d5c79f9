"""Protocol `sound`: select, search, certify on fresh draws, geometry (docs/math.md, section 2).

With probability at least 1 - alpha over the draws made for one input, the prediction equals g(x) and no point of the
domain nearer than the radius gets another class.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from doublebubble.bounds import AlphaBudget, choose_plan
from doublebubble.certificate import Ball, Certificate, Status
from doublebubble.config import CertifyConfig
from doublebubble.geometry import certified_radius
from doublebubble.protocols.ball import certified_ball
from doublebubble.search.plan import CENTRE, BallPlan, Plan, Proposal
from doublebubble.search.propose import propose
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import ABSTAIN, Counts, Guarantee, Method


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


@dataclass(frozen=True)
class _Timed:
    """A tally and its share of the time that it took together with others."""

    tally: Tally
    seconds: float


def certify_many(smoothed: SmoothedClassifier, config: CertifyConfig, items: Sequence[Item]) -> list[Certificate]:
    """A certificate for each input, each as if it were alone; draws of several inputs share micro-batches."""
    selected = _tallies(
        smoothed, [Request(item.x, config.n0, Stream(config.seed, item.index, "select")) for item in items]
    )
    proposals, search_seconds = [], []
    for item, select in zip(items, selected, strict=True):
        start = time.perf_counter()
        classes = choose_plan(select.tally.counts, config.n, config.alpha)
        proposals.append(propose(smoothed, config, item.x, item.index, classes, select.tally.counts))
        search_seconds.append(time.perf_counter() - start)
    wanted = [_requests(config, item, proposal) for item, proposal in zip(items, proposals, strict=True)]
    answers = iter(_tallies(smoothed, [request for requests in wanted for request in requests]))
    certificates = []
    for number, (item, proposal) in enumerate(zip(items, proposals, strict=True)):
        certified = {request.stream.part: next(answers) for request in wanted[number]}
        start = time.perf_counter()
        outcomes = {
            method: _outcome(plan, item.x, certified, smoothed, config) for method, plan in proposal.plans.items()
        }
        seconds = {
            "select": selected[number].seconds,
            "search": search_seconds[number],
            "certify": sum(timed.seconds for timed in certified.values()),
            "geometry": time.perf_counter() - start,
        }
        draws = {"select": config.n0, "certify": sum(timed.tally.n for timed in certified.values())}
        counts = {"select": selected[number].tally.counts}
        if CENTRE in certified:
            counts["input"] = certified[CENTRE].tally.counts
        certificates.append(_certificate(smoothed, config, item, proposal, counts, outcomes, draws, seconds))
    return certificates


def _requests(config: CertifyConfig, item: Item, proposal: Proposal) -> list[Request]:
    """The certify draws of all plans; methods that put all draws at the input share them, moments included."""
    balls: dict[int, BallPlan] = {}
    for ball in (ball for plan in proposal.plans.values() for ball in plan.balls):
        if ball.part not in balls or ball.gradient is not None:
            balls[ball.part] = ball
    stream = Stream(config.seed, item.index, "certify")
    return [_request(ball, stream.child(part)) for part, ball in balls.items()]


def _request(ball: BallPlan, stream: Stream) -> Request:
    if ball.antithetic:
        watched = ((ball.classes.partition.top,), *ball.rivals)
        return Request(ball.centre, ball.n, stream, antithetic=True, pairs=watched)
    if ball.gradient is not None:
        return Request(ball.centre, ball.n, stream, ball.moments, split=ball.gradient.tests[0].n1)
    return Request(ball.centre, ball.n, stream)


def _outcome(
    plan: Plan, x: Tensor, tallies: Mapping[int, _Timed], smoothed: SmoothedClassifier, config: CertifyConfig
) -> Outcome:
    """What one plan certifies, at level alpha by itself."""
    budget = AlphaBudget(config.alpha)
    shares = budget.take_equal([f"ball {number + 1}" for number in range(len(plan.balls))])
    balls = tuple(
        certified_ball(ball, tallies[ball.part].tally, share, smoothed.sigma)
        for ball, share in zip(plan.balls, shares, strict=True)
    )
    if len(plan.balls) == 1 and plan.balls[0].at_input:
        return Outcome(balls[0].radius, balls, (1.0,), whole_domain=False)
    low, high = smoothed.domain if plan.boxed and smoothed.domain is not None else (None, None)
    centres = [ball.centre for ball in plan.balls]
    bound = certified_radius(x, centres, [ball.radius for ball in balls], low, high)  # (D1)
    return Outcome(bound.radius, balls, tuple(bound.multipliers.tolist()), bound.whole_domain)


def _certificate(
    smoothed: SmoothedClassifier,
    config: CertifyConfig,
    item: Item,
    proposal: Proposal,
    counts: Mapping[str, Counts],
    outcomes: Mapping[Method, Outcome],
    draws: Mapping[str, int],
    seconds: Mapping[str, float],
) -> Certificate:
    plan, outcome = proposal.plans[proposal.chosen], outcomes[proposal.chosen]
    certified = outcome.radius > 0
    failed = Status.NOT_SEPARATED if all(ball.radius == 0 for ball in outcome.balls) else Status.NOT_COVERED
    return Certificate(
        index=item.index,
        label=item.label,
        prediction=plan.balls[0].classes.partition.top if certified else ABSTAIN,
        status=Status.CERTIFIED if certified else failed,
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
        counts=counts,
        draws={**draws, "search": proposal.cost.draws},
        forward_equivalents={**draws, "search": proposal.cost.forward_equivalents},
        seconds=seconds,
    )


def _tallies(smoothed: SmoothedClassifier, requests: Sequence[Request]) -> list[_Timed]:
    """The tallies of many requests; the time taken is divided among them by their draws."""
    start = time.perf_counter()
    tallies = smoothed.tallies(requests)
    per_draw = (time.perf_counter() - start) / sum(request.n for request in requests)
    return [_Timed(tally, per_draw * tally.n) for tally in tallies]
