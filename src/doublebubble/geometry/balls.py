"""How far x1 can move before it may leave a union of balls: the dual bound (D1), with or without a box.

All balls certify the same class. Any multipliers give a valid radius, so the solver that finds them need not be
trusted: `bound_at` turns multipliers into a radius, and is what a verifier calls. Float64; no model, no randomness.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from doublebubble.errors import InputError
from doublebubble.geometry.arguments import Points, Values, nonnegative, read_balls, widen
from doublebubble.geometry.dual import Dual
from doublebubble.geometry.rounding import sqrt_down
from doublebubble.geometry.solver import best_multipliers
from doublebubble.types import Floats

_NEGLIGIBLE = 1e-6  # smaller multipliers are also tried as 0
_SADDLE = 1e-8  # where 1 - s is smaller, rounding decides where the bracket is least
_NEARLY_ONE = 1e-4  # sums of multipliers this close to 1 are also tried as 1


@dataclass(frozen=True, eq=False)
class Bound:
    """No point of the domain nearer to x1 than `radius` lies outside every ball; `multipliers` prove it by (D1).

    With `whole_domain` the balls cover the domain, and the radius is the distance to its farthest point from x1.
    """

    radius: float
    multipliers: Floats
    whole_domain: bool


def certified_radius(
    x1: Values,
    centres: Points,
    radii: Values,
    low: Values | None = 0.0,
    high: Values | None = 1.0,
) -> Bound:
    """No point of the domain nearer to x1 than the radius lies outside every ball B(centres[i], radii[i]).

    The radius is at most the exact sqrt(G(multipliers)) of (D1), rounding included; 0 if no ball covers x1. Balls of
    radius 0 get multiplier 0. `low` and `high` are numbers, or arrays shaped like x1; both None for R^d. Centres may
    lie anywhere. Inputs may have any shape and floating dtype, arrays or tensors.

    >>> import numpy as np
    >>> x1, x2 = np.array([0.5, 0.5]), np.array([0.5, 0.25])
    >>> round(certified_radius(x1, np.stack([x1, x2]), np.array([0.125, 0.375])).radius, 6)
    0.125
    >>> round(certified_radius(np.zeros(2), np.ones((1, 2)), np.array([2.0])).radius, 4)  # the ball covers the box
    1.4142
    """
    return _solve(Dual.of(read_balls(x1, centres, radii, low, high)))


def certified_radii(
    x1s: Iterable[Values],
    centres: Iterable[Points],
    radii: Iterable[Values],
    low: Values | None = 0.0,
    high: Values | None = 1.0,
) -> list[Bound]:
    """`certified_radius` of every input in turn, the same numbers; `low` and `high` are shared by all."""
    jobs = list(x1s), list(centres), list(radii)
    if not len(jobs[0]) == len(jobs[1]) == len(jobs[2]):
        sizes = ", ".join(str(len(job)) for job in jobs)
        raise InputError(f"x1s, centres, radii: expected as many of each, got {sizes}")
    return [certified_radius(*job, low, high) for job in zip(*jobs, strict=True)]


def bound_at(
    multipliers: Values,
    x1: Values,
    centres: Points,
    radii: Values,
    low: Values | None = 0.0,
    high: Values | None = 1.0,
) -> Bound:
    """The bound that these multipliers prove, whoever chose them: what a verifier recomputes."""
    dual = Dual.of(read_balls(x1, centres, radii, low, high))
    return _bound(dual, _read_multipliers(multipliers, dual))


def dual_value(
    multipliers: Values,
    x1: Values,
    centres: Points,
    radii: Values,
    low: Values | None = 0.0,
    high: Values | None = 1.0,
) -> float:
    """The exact G(multipliers) of (D1) less at most twice the bound (D8); -inf where nothing is proved."""
    dual = Dual.of(read_balls(x1, centres, radii, low, high))
    return dual.value(_read_multipliers(multipliers, dual))


def nearest_point(
    multipliers: Values,
    x1: Values,
    centres: Points,
    radii: Values,
    low: Values | None = 0.0,
    high: Values | None = 1.0,
) -> Floats:
    """x* of (D5), shaped like x1: the point of the domain where the bracket of (D1) is least.

    It is unique if the multipliers sum to s < 1. If s >= 1, to within 1e-8, the bracket has many minimisers, and what
    (D5) needs is the one that is tight on every ball in use, the saddle point: the balls with positive multipliers are
    then solved anew, and the saddle point of their optimum is returned, to about 1e-6. It may be a covered point. In
    R^d the only such case is balls at x1, and x1 is returned.
    """
    dual = Dual.of(read_balls(x1, centres, radii, low, high))
    lam = _read_multipliers(multipliers, dual)
    start = widen("x1", x1)
    if math.fsum([1.0, *(-lam)]) > _SADDLE:
        return start + dual.minimiser(lam).reshape(start.shape)
    used = dual.only(lam > 0.0)
    if np.max(used.excess) <= 0.0:
        raise InputError("multipliers: expected a positive one at a ball that covers x1, got none")
    y = best_multipliers(used)[1]
    return start if y is None else start + y.reshape(start.shape)


def _read_multipliers(multipliers: Values, dual: Dual) -> Floats:
    lam = nonnegative("multipliers", multipliers)
    if lam.shape != dual.r.shape:
        raise InputError(f"multipliers: expected one per ball, shape {dual.r.shape}, got {lam.shape}")
    return lam


def _bound(dual: Dual, lam: Floats) -> Bound:
    """The radius that lam proves; the whole domain if its uncovered points would have to lie beyond it (D6)."""
    value = dual.value(lam)
    farthest, farthest_up = dual.farthest_squared
    return Bound(sqrt_down(min(value, farthest)), lam, value > farthest_up)


def _solve(dual: Dual) -> Bound:
    """The best bound among the solver's multipliers and their tidied forms."""
    alive = dual.r > 0.0
    if not np.any(dual.excess[alive] > 0.0):
        return Bound(0.0, np.zeros(len(dual.r)), False)
    found = _candidates(dual if alive.all() else dual.only(alive))
    tried = np.zeros((len(found), len(dual.r)))
    tried[:, alive] = found
    return max((_bound(dual, lam) for lam in tried), key=lambda bound: (bound.whole_domain, bound.radius))


def _candidates(dual: Dual) -> list[Floats]:
    """The solver's multipliers moved onto the faces lam_i = 0 and s = 1 that they nearly touch, and as they are."""
    solved = best_multipliers(dual)[0]
    tried = [solved]
    if np.any(solved < _NEGLIGIBLE):
        tried.append(np.where(solved < _NEGLIGIBLE, 0.0, solved))
    s = float(np.sum(tried[-1]))
    if not dual.box.free and abs(1.0 - s) < _NEARLY_ONE:
        tried.append(tried[-1] / s)
    at_x1 = ~dual.c.any(axis=1)
    if dual.box.free and at_x1.any():  # s = 1 is then allowed in R^d too
        tried.append(np.eye(len(dual.r))[int(np.argmax(np.where(at_x1, dual.r, 0.0)))])
    return tried
