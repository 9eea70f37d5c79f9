"""Protocol `sound`: select, search, certify on fresh draws, geometry (docs/math.md, section 2).

With probability at least 1 - alpha over the draws made for one input, the prediction equals g(x) and no point of the
domain nearer than the radius gets another class. Knows methods by the registry alone.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from doublebubble import registry
from doublebubble.bounds import AlphaBudget, RivalBound
from doublebubble.certificate import Ball, Certificate, Claim, Noise, Status
from doublebubble.config import CertifyConfig
from doublebubble.errors import SettingError
from doublebubble.geometry import certified_radius
from doublebubble.method import SmoothingMethod
from doublebubble.search.plan import BallPlan, MethodPlan, Proposals, best_of
from doublebubble.search.trials import Trials
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.streams import INPUT, Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import ABSTAIN, Counts, Guarantee, Method


@dataclass(frozen=True)
class _Timed:
    """A tally and its share of the time that it took together with others."""

    tally: Tally
    seconds: float


@dataclass(frozen=True)
class _Planned:
    """An input, the select draws that chose its class, and the plans that were made before its certify draws."""

    given: Input
    select: _Timed
    found: Proposals
    seconds: float


def certify_many(smoothed: SmoothedClassifier, config: CertifyConfig, inputs: Sequence[Input]) -> list[Certificate]:
    """A certificate for each input, each as if it were alone; draws of several inputs share micro-batches."""
    return _certified(smoothed, config, _planned(smoothed, config, inputs))


def certify_again(
    smoothed: SmoothedClassifier, config: CertifyConfig, given: Input, indices: Sequence[int]
) -> list[Certificate]:
    """A certificate for each index by certify draws of its own, with the plans of the input's select and search draws.

    The guarantee is about the certify draws, whatever the plan: so this repeats all that is random in it.
    """
    (planned,) = _planned(smoothed, config, [given])
    again = [replace(planned, given=replace(planned.given, index=index)) for index in indices]
    return _certified(smoothed, config, again)


def _planned(smoothed: SmoothedClassifier, config: CertifyConfig, inputs: Sequence[Input]) -> list[_Planned]:
    inputs = [replace(given, x=smoothed.noise.placed(given.x, given.index)) for given in inputs]
    for given in inputs:
        noise_of(smoothed, config.n, given, config.alpha)  # an error before any draw is made, not after
    selected = _tallies(smoothed, [Request(i.x, config.n0, Stream(config.seed, i.index, "select")) for i in inputs])
    planned = []
    for given, select in zip(inputs, selected, strict=True):
        start = time.perf_counter()
        found = propose(Trials(smoothed, config, given.x, given.index, select.tally.counts))
        planned.append(_Planned(given, select, found, time.perf_counter() - start))
    return planned


def _certified(smoothed: SmoothedClassifier, config: CertifyConfig, planned: Sequence[_Planned]) -> list[Certificate]:
    """What the certify draws prove of plans that were made before them."""
    wanted = [certify_requests(config, one.given, one.found) for one in planned]
    answers = iter(_tallies(smoothed, [request for requests in wanted for request in requests]))
    certificates = []
    for one, requests in zip(planned, wanted, strict=True):
        given, found, selected = one.given, one.found, one.select.tally.counts
        certified = {request.stream.part: next(answers) for request in requests}
        tallies = {part: timed.tally for part, timed in certified.items()}
        start = time.perf_counter()
        claims = {method: claim(plan, given, tallies, smoothed, config) for method, plan in found.plans.items()}
        seconds = {
            "select": one.select.seconds,
            "search": one.seconds,
            "certify": sum(timed.seconds for timed in certified.values()),
            "geometry": time.perf_counter() - start,
        }
        draws = {"select": config.n0, "certify": sum(tally.n for tally in tallies.values())}
        counts = {"select": selected, **({INPUT: tallies[INPUT].counts} if INPUT in tallies else {})}
        certificates.append(_certificate(smoothed, config, given, found, counts, claims, draws, seconds))
    return certificates


def usable_methods(smoothed: SmoothedClassifier, config: CertifyConfig) -> list[SmoothingMethod]:
    """The methods asked for, an error if one has no proof for the noise; under `auto` all that have one."""
    automatic = config.methods == (registry.AUTO,)
    asked = registry.names("sound") if automatic else config.methods
    methods = [method for name in asked if isinstance(method := registry.card(name), SmoothingMethod)]
    usable = [method for method in methods if method.on_grid or smoothed.noise.lattice is None]
    if not automatic and len(usable) < len(methods):
        lacking = ", ".join(method.name for method in methods if method not in usable)
        raise SettingError(f"noise lattice: expected methods that are proved for it, got {lacking}; auto leaves it out")
    return usable


def propose(trials: Trials) -> Proposals:
    """A plan for every method asked for, and the choice among them; under `auto` the plan of the method chosen alone.

    Made from select and search draws: the choice costs none of alpha. Among equal gains the simpler method is chosen.
    """
    automatic = trials.config.methods == (registry.AUTO,)
    methods = usable_methods(trials.smoothed, trials.config)
    found = {
        method.name: method.propose(trials)
        for method in sorted(methods, key=lambda method: method.rank)
        if not automatic or method.promising(trials)
    }
    chosen = best_of(list(found.values())).plan.method
    plans = {name: found[name].plan for name in ((chosen,) if automatic else trials.config.methods)}
    return Proposals(plans, chosen, trials.cost)


def certify_requests(config: CertifyConfig, given: Input, found: Proposals) -> list[Request]:
    """The certify draws of all plans; balls of one name share them, which is an error unless they share the centre."""
    stream = Stream(config.seed, given.index, "certify")
    requests: dict[str, Request] = {}
    for ball in (ball for plan in found.plans.values() for ball in plan.balls):
        request = ball.statistic.asks(Request(ball.centre, ball.n, stream.named(ball.part)))
        known = requests.get(ball.part)
        requests[ball.part] = request if known is None else known.merged(request)
    return list(requests.values())


def claim(
    plan: MethodPlan, given: Input, tallies: Mapping[str, Tally], smoothed: SmoothedClassifier, config: CertifyConfig
) -> Claim:
    """What one plan certifies, at level alpha by itself: its balls share alpha, each ball's rivals do not.

    What the noise of n draws takes off alpha, and no plan has more, is taken off before the balls share it (N3).
    """
    if len({ball.statistic.top for ball in plan.balls}) != 1:
        raise AssertionError(f"method {plan.method}: all balls of a plan are for one class")
    if sum(ball.n for ball in plan.balls) > config.n:
        raise AssertionError(f"method {plan.method}: a plan has at most n draws")
    dimension, noise = given.x.numel(), smoothed.noise
    budget = AlphaBudget(config.alpha, noise_of(smoothed, config.n, given, config.alpha).loss)
    shares = budget.take_equal([ball.part for ball in plan.balls])
    balls = tuple(
        certified_ball(ball, tallies[ball.part], share, smoothed.sigma)
        for ball, share in zip(plan.balls, shares, strict=True)
    )
    if len(plan.balls) == 1 and plan.balls[0].at_input:
        return Claim(balls[0].radius, balls, (1.0,), whole_domain=False, reason=plan.reason)
    low, high = smoothed.domain if plan.boxed and smoothed.domain is not None else (None, None)
    centres = [ball.centre for ball in plan.balls]
    radii = [noise.nearer(ball.radius, dimension) for ball in balls]
    bound = certified_radius(given.x, centres, radii, low, high)  # (D1)
    radius = noise.nearer(bound.radius, dimension)
    return Claim(radius, balls, tuple(bound.multipliers.tolist()), bound.whole_domain, plan.reason)


def certified_ball(plan: BallPlan, tally: Tally, alpha: float, sigma: float) -> Ball:
    """With probability at least 1 - alpha over the tally's draws, g is the plan's class on the open ball returned.

    On the part of it that lies in the domain, where the statistic uses the box. The plan must not have seen these
    draws. A radius of 0 claims nothing.
    """
    found = plan.statistic.finding(tally, alpha, sigma)
    return Ball(
        centre=None if plan.at_input else plan.centre.detach().cpu().double().numpy(),
        radius=max(0.0, found.radius) if math.isfinite(found.radius) else 0.0,
        n=tally.n,
        alpha=alpha,
        counts=tally.counts,
        statistic=plan.statistic.name,
        evidence={
            "top": plan.statistic.top,
            "rules": [_rule(bound) for bound in found.bounds],
            **found.evidence,
        },
        vectors=found.vectors,
    )


def _rule(bound: RivalBound) -> dict[str, object]:
    """One bound as JSON takes it; nothing below 0 is claimed."""
    return {
        "rule": bound.rule,
        "rivals": None if bound.rivals is None else list(bound.rivals),
        "alphas": list(bound.alphas),
        "radius": max(0.0, bound.radius),
        "numbers": dict(bound.numbers),
    }


def _certificate(
    smoothed: SmoothedClassifier,
    config: CertifyConfig,
    given: Input,
    found: Proposals,
    counts: Mapping[str, Counts],
    claims: Mapping[Method, Claim],
    draws: Mapping[str, int],
    seconds: Mapping[str, float],
) -> Certificate:
    plan, made = found.plans[found.chosen], claims[found.chosen]
    beside = {method: claim for method, claim in claims.items() if method != found.chosen}
    certified = made.radius > 0
    failed = Status.NOT_SEPARATED if all(ball.radius == 0 for ball in made.balls) else Status.NOT_COVERED
    return Certificate(
        index=given.index,
        label=given.label,
        prediction=plan.balls[0].statistic.top if certified else ABSTAIN,
        status=Status.CERTIFIED if certified else failed,
        radius=made.radius,
        radii={method: claims[method].radius for method in found.plans},
        method=found.chosen,
        reason=made.reason,
        protocol="sound",
        guarantee=Guarantee.EXACT,
        alpha=config.alpha,
        sigma=smoothed.sigma,
        shape=tuple(given.x.shape),
        program=smoothed.program.name,
        balls=made.balls,
        multipliers=made.multipliers,
        whole_domain=made.whole_domain,
        counts=counts,
        draws={**draws, "search": found.cost.draws},
        forward_equivalents={**draws, "search": found.cost.forward_equivalents},
        seconds=seconds,
        beside=beside,
        noise=noise_of(smoothed, config.n, given, config.alpha),
    )


def noise_of(smoothed: SmoothedClassifier, draws: int, given: Input, alpha: float) -> Noise:
    """The noise of one input's certify draws, and what so many take off alpha: an error where that is too much."""
    law = smoothed.noise
    loss = law.loss(draws, given.x.numel(), alpha)
    return Noise(law.name, loss, law.grid, *(law.limits or (None, None)))


def _tallies(smoothed: SmoothedClassifier, requests: Sequence[Request]) -> list[_Timed]:
    """The tallies of many requests; the time taken is divided among them by their draws."""
    start = time.perf_counter()
    tallies = smoothed.tallies(requests)
    per_draw = (time.perf_counter() - start) / sum(request.n for request in requests)
    return [_Timed(tally, per_draw * tally.n) for tally in tallies]
