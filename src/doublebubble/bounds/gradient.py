"""An upper bound on the gradient of the lead p_A - p_B, from the noise of draws already made: (F2) of docs/math.md.

Functions of moments in float64. No torch, no model, no randomness. A `GradientTest` is fixed before the draws it is
applied to; any choice of its numbers gives a valid bound, `design_test` aims at a small one.
"""

import functools
from collections.abc import Callable, Collection
from math import expm1, isfinite, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from doublebubble.bounds.cumulant import cumulant
from doublebubble.errors import SettingError
from doublebubble.geometry.first_order import phi, profile

SUM_ERROR = 1e-8
"""Allowed error, in Euclidean norm, of each half mean: far above what float64 accumulation loses."""
_OFFSETS = tuple(np.linspace(0.0, 1.0, 41).tolist())


class GradientTest(NamedTuple):
    """What must be fixed before the draws: how they are halved, and which exponential inequality is applied."""

    n1: int
    n2: int
    offset: float
    """c0 in [0, 1], taken from every vote weight: a control variate, since E[Z] = 0."""
    lam: float
    """The exponent."""
    tilt: float = 1.0
    """c: where the logarithm is replaced by its tangent."""


class HalfMoments(NamedTuple):
    """What the bound needs of the half means g1, g2 of (vote weight) x (noise), float64: enough to verify it again."""

    dot: float
    """g1 . g2"""
    norm1: float
    norm2: float


class VoteBounds(NamedTuple):
    """Probabilities of the votes at the centre: upper bounds for a guarantee, estimates for a design."""

    not_a: float
    rival: float


def vote_weights(num_classes: int, a: int, rival: Collection[int], offset: float) -> NDArray[np.float64]:
    """Return the weight of each vote: -offset for A, 2 - offset for the rival's classes, 1 - offset for all others.

    For every offset the mean of weight x noise is -sigma grad (p_A - p_B).
    """
    if a in rival or not rival or not all(0 <= k < num_classes for k in (a, *rival)):
        raise SettingError(f"rival: expected classes within 0..{num_classes - 1} other than {a}, got {sorted(rival)}")
    weights = np.full(num_classes, 1.0 - offset)
    weights[a] = -offset
    weights[list(rival)] = 2.0 - offset
    return weights


def largest_lead_gradient(votes: VoteBounds) -> float:
    """Return what sigma |grad (p_A - p_B)| never exceeds: the gradients of two half-spaces of those masses, added."""
    return (profile(min(votes.not_a, 0.5)) + profile(min(votes.rival, 0.5))) * (1 + 1e-13)


def lead_gradient_bound(
    moments: HalfMoments, test: GradientTest, alpha: float, votes: VoteBounds, shift: float | None = None
) -> float:
    """With probability at least 1 - alpha over the draws, sigma |grad (p_A - p_B)| is at most this: (F2).

    `votes` are upper bounds; they may come from the same draws if their own error is paid for. In a box, where a
    vector eta fixed before the draws was added to both half means, give `shift` = |eta|: the bound is then on
    |eta - sigma grad (p_A - p_B)|, the largest descent of the lead along directions u with u . eta >= 0.
    """
    _check(moments, test, alpha, votes)
    n1, n2, lam = test.n1, test.n2, test.lam
    norm1 = moments.norm1 + SUM_ERROR
    dot = moments.dot + SUM_ERROR * (norm1 + moments.norm2)
    c = test.tilt if shift is None else 1.0

    def psi(s: float) -> float:
        return cumulant(s, test.offset, votes.not_a, votes.rival)

    R = lam * dot + n2 * (c * psi(lam * norm1 / n2) + (c - 1 - log(c))) - log(alpha)
    if shift is None:
        R = -n1 * expm1(-max(R / n1, -700.0))
    most = largest_lead_gradient(votes) + (shift or 0.0)
    return descended(most, lambda x: (R + n1 * psi(c * lam * x / n1)) / (c * lam))


def descended(x: float, square: Callable[[float], float]) -> float:
    """A norm is at most this if it is at most x, and if being at most any x makes its square at most `square(x)`."""
    for _ in range(30):  # stopping anywhere is valid
        nearer = sqrt(max(square(x), 0.0)) * (1 + 1e-11)  # NaN stays NaN in this order, and ends the descent
        if not nearer < x:
            break
        x, last = nearer, x
        if last - x < 1e-6 * last:
            break
    return x


def design_test(n: int, dim: int, alpha: float, votes: VoteBounds, gamma: float) -> GradientTest:
    """Return a test for n draws in R^dim that is near the best if `votes` and the gradient norm `gamma` are as guessed.

    It claims nothing: wrong guesses make the later bound larger, not wrong.
    """
    if n < 4:
        raise SettingError(f"n: expected at least 4 draws to halve, got {n}")
    n1 = n // 2
    n2 = n - n1
    votes = VoteBounds(*(min(max(vote, 1 / n), 1.0) for vote in votes))
    gamma = min(gamma, largest_lead_gradient(votes))
    spreads = {c0: _spread(c0, n1, n2, dim, votes, gamma, -log(alpha)) for c0 in _OFFSETS}
    offset = min(spreads, key=spreads.__getitem__)
    lam = min(sqrt(-2 * log(alpha) / spreads[offset]), float(n1))
    norm1 = sqrt(expected_square(offset, n1, dim, votes, gamma))
    level = 1 + min(cumulant(lam * norm1 / n2, offset, *votes), 1.0) - lam * gamma * gamma / n2
    return GradientTest(n1, n2, offset, lam, min(max(1 / max(level, 0.25), 0.5), 2.0))


def expected_square(offset: float, n1: int, dim: int, votes: VoteBounds, gamma: float) -> float:
    """Return about E|g1|^2: the squared norm sought and the noise of n1 draws in R^dim."""
    c0, (Q, q) = offset, votes
    return gamma * gamma + ((1 - Q) * c0**2 + (Q - q) * (1 - c0) ** 2 + q * (2 - c0) ** 2) * dim / n1


def lead_spread(c0: float, votes: VoteBounds) -> float:
    """Return the largest mean square of (vote weight)(u.Z) that psi allows along a unit vector u, to leading order."""
    Q, q = votes
    first = max(0.0, 1 - 2 * c0) * _tail_square(Q)
    if c0 >= 0.5:
        return c0 * c0 + first + (4 - 4 * c0) * _tail_square(q)
    stepwise = first + (3 - 2 * c0) * _tail_square(q)
    return c0 * c0 + min(stepwise, (4 - 4 * c0) * _tail_square(0.5 * (Q + q)))


def _spread(c0: float, n1: int, n2: int, dim: int, votes: VoteBounds, gamma: float, log_level: float) -> float:
    """Return, to leading order, the variance of g1 . g2 that the inequality assumes where its bound will lie."""
    v = lead_spread(c0, votes)
    norm = expected_square(c0, n1, dim, votes, gamma)
    spread, square = 0.0, gamma * gamma
    for _ in range(4):
        spread = max(v - square, 0.1 * v) * square / n1 + max(v * norm - gamma**4, 0.1 * v * norm) / n2
        square = gamma * gamma + sqrt(2 * log_level * spread)
    return spread


@functools.lru_cache(maxsize=256)  # one design asks for the same three again and again
def _tail_square(q: float) -> float:
    """Return the largest integral of z^2 phi over sets of mass q: both tails."""
    if q <= 0 or q >= 1:
        return min(max(q, 0.0), 1.0)
    a = -float(ndtri(0.5 * q))
    return q + 2 * a * phi(a)


def _check(moments: HalfMoments, test: GradientTest, alpha: float, votes: VoteBounds) -> None:
    if not all(map(isfinite, moments)) or moments.norm1 < 0 or moments.norm2 < 0:
        raise SettingError(f"moments: expected finite numbers and norms >= 0, got {moments}")
    if min(test.n1, test.n2) < 1 or not 0 <= test.offset <= 1 or not 0 < test.lam < float("inf") or not test.tilt > 0:
        raise SettingError(f"test: expected n1, n2 >= 1, offset in [0, 1], lam > 0 and tilt > 0, got {test}")
    check_level(alpha, votes)


def check_level(alpha: float, votes: VoteBounds) -> None:
    """An error unless these can be a level and probabilities."""
    if not 0 < alpha < 1:
        raise SettingError(f"alpha: expected a number in (0, 1), got {alpha}")
    if not (0 <= votes.not_a <= 1 and 0 <= votes.rival <= 1):
        raise SettingError(f"votes: expected probabilities, got {votes}")
