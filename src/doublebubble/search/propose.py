"""The search before a sound certificate: ascend the bound that will be claimed, (D1) by (D5), or propose nothing.

Draws of the search have streams of their own and are never counted again. What comes out is a plan for each method:
centres and statistics, no radius. A method that predicts no gain falls back to all draws at the input.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from doublebubble.bounds import ClassPlan
from doublebubble.config import CertifyConfig
from doublebubble.geometry import Bound, nearest_point
from doublebubble.search.ascent import Ascent, confined
from doublebubble.search.gradients import Slopes
from doublebubble.search.plan import CENTRE, BallPlan, Plan, Proposal, cohen_plan
from doublebubble.search.scout import Scout
from doublebubble.search.sharper import first_order_design, pairs_promise
from doublebubble.search.verdict import bound_of, box_of, judge
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.types import Counts, Floats, Method

_PARTS: dict[Method, int] = {"single": 1, "boundary": 2, "double": 3, "dipole": 5}  # certify streams; double: 3, 4
_LEAST_SLOPE = 0.05  # r / sqrt(1 - s^2) exceeds r by a thousandth here: below it no search pays
_LARGEST_SLOPE = 0.9  # a steeper estimate is mostly noise, and its step r s / (1 - s^2) would leave the neighbourhood
_FIRST_LOOKS = (1, 2)  # parts of the search stream; verdict.py has 0, sharper.py 3 to 6, the ascents follow from 10 on


@dataclass(frozen=True)
class Bearings:
    """What two independent looks at x1 say about the gradient of the radius there.

    `blocked` is the part that the box keeps an attack from going against (docs/math.md, section 3), `free` the rest.
    `weights` are those of the class probabilities in the radius. Slopes are cross-fitted, the direction from one look
    and the size from the other, so that noise does not count as slope.
    """

    radius: float
    weights: Floats
    blocked: Floats
    blocked_slope: float
    free: Floats
    slope: float


def propose(
    smoothed: SmoothedClassifier, config: CertifyConfig, x: Tensor, index: int, classes: ClassPlan, selected: Counts
) -> Proposal:
    """A plan for every method asked for, and the choice among them; no radius."""
    scout = Scout(smoothed, config, index, classes)
    plans: dict[Method, Plan] = {}
    gains: dict[Method, float] = {}
    bearings = None
    for method in config.methods:
        if method == "cohen":
            plans[method], gains[method] = cohen_plan(x, classes, config.n, reason="all draws at the input"), 0.0
        elif method == "first_order":
            plans[method], gains[method] = _first_order_plan(scout, x, selected)
        elif method == "dipole":
            plans[method], gains[method] = _dipole_plan(scout, x)
        else:
            bearings = take_bearings(scout, x, selected) if bearings is None else bearings
            plans[method], gains[method] = _plan(scout, x, method, bearings, selected)
    chosen = max(config.methods, key=lambda method: gains[method])
    return Proposal(plans, chosen, scout.cost)


def _first_order_plan(scout: Scout, x: Tensor, selected: Counts) -> tuple[Plan, float]:
    """All draws at the input, with bounds on the gradient of the lead if the select draws expect them to pay."""
    gradient, gain = first_order_design(scout, x, selected)
    if gradient is None:
        reason = "all draws at the input: a bound on the gradient would cost more alpha than it gains"
        return cohen_plan(x, scout.classes, scout.config.n, "first_order", reason), 0.0
    ball = BallPlan(CENTRE, x, scout.config.n, scout.classes, gradient)
    where = "" if gradient.eta is None else ", with the part that the box blocks taken off"
    return Plan("first_order", (ball,), False, f"the gradient of the lead is expected to be small{where}"), gain


def _dipole_plan(scout: Scout, x: Tensor) -> tuple[Plan, float]:
    """Pairs of opposite draws at the input, if a few of them promise more than votes."""
    if scout.config.n < 2:
        return cohen_plan(x, scout.classes, scout.config.n, "dipole", "all draws at the input: no pair in n"), 0.0
    gain = pairs_promise(scout, x)
    if gain <= 0:
        reason = "all draws at the input: pairs of opposite draws promise no gain"
        return cohen_plan(x, scout.classes, scout.config.n, "dipole", reason), 0.0
    ball = BallPlan(_PARTS["dipole"], x, scout.config.n // 2 * 2, scout.classes, antithetic=True)
    return Plan("dipole", (ball,), False, "pairs of opposite draws promise a gain"), gain


def take_bearings(scout: Scout, x: Tensor, selected: Counts) -> Bearings:
    """Two looks at x1, and what they agree on."""
    ahead = scout.outlook(selected)
    looks = [scout.look(x, part, ahead.weights).gradients[0].numpy().reshape(-1) for part in _FIRST_LOOKS]
    mean = (looks[0] + looks[1]) / 2
    wall = _blocked(scout.smoothed.domain, x, mean, ahead.radius)
    parts = [np.where(wall, look, 0.0) for look in looks]
    return Bearings(
        radius=ahead.radius,
        weights=ahead.weights,
        blocked=np.where(wall, mean, 0.0),
        blocked_slope=_agreed(parts[0], parts[1]),
        free=np.where(wall, 0.0, mean),
        slope=_agreed(looks[0], looks[1]),
    )


def _blocked(domain: tuple[float, float] | None, x: Tensor, gradient: Floats, radius: float) -> npt.NDArray[np.bool_]:
    """Coordinates at which an attack of this length against the gradient would leave the box."""
    size = float(np.linalg.norm(gradient))
    if domain is None or size == 0 or not radius > 0:
        return np.zeros(gradient.shape, np.bool_)
    values = x.detach().cpu().double().numpy().reshape(-1)
    attacked = values - radius * gradient / size
    return (attacked < domain[0]) | (attacked > domain[1])


def _agreed(one: Floats, two: Floats) -> float:
    """The size of what two independent estimates of one vector have in common: 0 on average if it is all noise."""
    sizes = float(np.linalg.norm(one)), float(np.linalg.norm(two))
    if min(sizes) == 0:
        return 0.0
    return float(one @ two) * (1 / sizes[0] + 1 / sizes[1]) / 2


def _plan(scout: Scout, x: Tensor, method: Method, bearings: Bearings, selected: Counts) -> tuple[Plan, float]:
    """The plan of one method and the gain predicted for it over votes alone, all draws at x1."""
    start, reason = _start(scout, x, method, bearings)
    if start is not None:
        boxed = method != "single"
        centres = _ascend(scout, x, start, bearings, boxed, part=10 * _PARTS[method])
        verdict = judge(scout, x, centres, boxed, selected)
        if verdict.convincing:
            n = scout.config.n // len(centres)
            balls = tuple(
                BallPlan(_PARTS[method] + i, centre, n, scout.classes, gradient)
                for i, (centre, gradient) in enumerate(zip(centres, verdict.gradients, strict=True))
            )
            steep = ", with bounds on the gradient of the lead" if any(verdict.gradients) else ""
            return Plan(method, balls, boxed, f"{reason}, and fresh search draws agree{steep}"), verdict.gain
        reason = f"{reason}, but fresh search draws predict no gain"
    return cohen_plan(x, scout.classes, scout.config.n, method, f"all draws at the input: {reason}"), 0.0


def _start(scout: Scout, x: Tensor, method: Method, bearings: Bearings) -> tuple[tuple[Tensor, ...] | None, str]:
    """Where the ascent begins, or None and the reason why it does not."""
    r, s = bearings.radius, bearings.slope
    if not r > 0:
        return None, "the select draws do not separate the leading class"
    if method == "single":
        if s <= 1:  # Fact L
            return None, f"the radius grows by {s:.2f} per unit distance, and one ball in free space gains only above 1"
        uphill = bearings.blocked + bearings.free
        return (_moved(scout, x, r / 4, uphill),), f"the radius grows by {s:.2f} per unit distance"
    e = min(bearings.blocked_slope, _LARGEST_SLOPE)
    shift = r * e / (1 - e * e) if e > _LEAST_SLOPE else 0.0
    if method == "boundary":
        if shift == 0:
            return None, f"the box blocks a slope of {max(e, 0.0):.2f}, too little to gain"
        return (_moved(scout, x, shift, bearings.blocked),), f"the box blocks a slope of {e:.2f}"
    if not bearings.free.any():
        return None, "no draw shows a free direction to put a pair of balls along"
    base = _moved(scout, x, shift, bearings.blocked)
    pair = tuple(_moved(scout, base, sign * r / 4, bearings.free) for sign in (1.0, -1.0))
    return pair, "a pair of balls along the free gradient was tried"


def _moved(scout: Scout, x: Tensor, distance: float, direction: Floats) -> Tensor:
    """x moved along a direction, in its own dtype, kept in the domain."""
    size = float(np.linalg.norm(direction))
    if size == 0 or distance == 0:
        return x
    step = torch.from_numpy(distance * direction / size).reshape(x.shape).to(x.device)
    moved = (x.double() + step).to(x.dtype)
    return moved if scout.smoothed.domain is None else moved.clamp(*scout.smoothed.domain)


def _ascend(
    scout: Scout, x: Tensor, start: tuple[Tensor, ...], bearings: Bearings, boxed: bool, part: int
) -> tuple[Tensor, ...]:
    """The centres with the largest predicted bound among those that a few steps along (D5) pass.

    The noise is held fixed within the ascent, so that points differ by themselves and not by their draws.
    """
    domain, settings = scout.smoothed.domain, scout.config.sound
    length = max(float((centre - x).double().norm()) for centre in start)
    solver = Ascent(
        first_step=max(length, 1e-6) / 4,
        smallest_step=0.0,
        iterations=settings.iterations + 1,
        project=(lambda point: point) if domain is None else confined(*domain),
        momentum=settings.momentum,
    )
    state = solver.init(torch.stack(start))
    best, best_radius = start, -math.inf
    while True:
        centres = tuple(state.point.to(x.dtype))
        last = state.iteration == settings.iterations
        looks = [
            scout.look(centre, part + i, bearings.weights, with_slope=not last) for i, centre in enumerate(centres)
        ]
        radii = [max(0.0, scout.outlook(look.counts, len(centres)).radius) for look in looks]
        bound = bound_of(scout, x, centres, radii, boxed)
        if bound.radius > best_radius:
            best, best_radius = centres, bound.radius
        if last or not bound.radius > 0:
            return best
        state = solver.step(state, _uphill(scout, x, centres, radii, bound, looks, boxed))
        if solver.done(state):
            return best


def _uphill(
    scout: Scout,
    x: Tensor,
    centres: tuple[Tensor, ...],
    radii: list[float],
    bound: Bound,
    looks: list[Slopes],
    boxed: bool,
) -> Tensor:
    """The gradient of the squared bound by each centre: 2 lambda_i (r_i grad r(x_i) + x* - x_i), (D5)."""
    nearest = torch.from_numpy(nearest_point(bound.multipliers, x, list(centres), radii, *box_of(scout, boxed)))
    rows = [
        2 * lam * (r * look.gradients[0] + nearest - centre.detach().cpu().double())
        for lam, r, look, centre in zip(bound.multipliers, radii, looks, centres, strict=True)
    ]
    return torch.stack(rows)
