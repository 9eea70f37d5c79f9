"""An upper bound on a gradient from the second half of the draws, seen along the mean of the first: (R7).

(F2) assumes the worst of every direction in both halves. Here that is needed for the first half only: along one vector
known beforehand the second half shows its own spread. Functions of moments in float64. No torch, no randomness.
"""

from math import erfc, exp, inf, isfinite, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from doublebubble.bounds.cumulant import cumulant
from doublebubble.bounds.gradient import (
    SUM_ERROR,
    VoteBounds,
    check_level,
    descended,
    expected_square,
    largest_lead_gradient,
    lead_spread,
)
from doublebubble.errors import SettingError

HEAVIEST = 2.0
"""No vote weighs more or less than its control variate by more than this."""
_STEEPEST_LEAD = 0.8  # sigma |grad (p_A - p_B)| never exceeds 2 phi(0)
_LARGEST_STAKE = 0.9  # of what would make a factor 0
_POWERS_ERROR = 1e-10  # of a mean of powers, over the same power of the largest |V|: sums and the terms made of them
_CLIPS = (3.0, 3.5, 4.0, 4.5)
_TERMS = 60


class RayTest(NamedTuple):
    """What must be fixed before the draws: how they are halved, and which wealth is watched."""

    n1: int
    n2: int
    offset: float
    """c0 in [0, 1], taken from every vote weight of the first half: a control variate, since E[Z] = 0."""
    lam: float
    """The exponent."""
    clip: float
    """Projections of the second half's noise count as at most this."""


class RayMoments(NamedTuple):
    """What the bound needs of the draws, float64: enough to verify it again.

    g1 is the mean of (vote weight) x (noise) over the first half, e its direction, V = (vote weight - control variate)
    x clipped e.Z for a draw of the second half.
    """

    norm1: float
    """|g1|, with eta where there is one."""
    ahead: float
    """e.eta, 0 without an eta."""
    mean: float
    """The means of V, V^2, V^3 and V^4 over the second half."""
    square: float
    cube: float
    fourth: float


def ray_gradient_bound(
    moments: RayMoments, test: RayTest, alpha: float, votes: VoteBounds, shift: float | None = None
) -> float:
    """With probability at least 1 - alpha over the draws, |H + eta| is at most this: (R7).

    H is the mean of weight x noise, minus the gradient of a lead or a part of that; |eta| = `shift`. `votes` are upper
    bounds; they may come from the same draws if their own error is paid for.
    """
    _check(moments, test, alpha, votes)
    n1, n2, lam, length = test.n1, test.n2, test.lam, moments.norm1
    stake = stake_for(test, length)
    most = largest_lead_gradient(votes)  # |H| is no larger
    bias = clip_bias(test.clip)
    reach = stake * (most + bias + HEAVIEST * test.clip)  # no factor is below 1 - reach
    fourth = _fourth_term(reach)
    slack = n2 * (SUM_ERROR * stake / (1 - reach) + _POWERS_ERROR)
    slack += lam * length * bias

    def spare(m: float) -> float:
        """At least lam |g1| (m + e.eta) - sum ln(1 + stake (m - V)): the logarithm from below, to the fourth order."""
        _, k, v1, v2, v3, v4 = moments
        second = m * m - 2 * m * v1 + v2
        third = m**3 - 3 * m * m * v1 + 3 * m * v2 - v3
        last = m**4 - 4 * m**3 * v1 + 6 * m * m * v2 - 4 * m * v3 + v4
        logs = stake * (m - v1) - stake**2 * second / 2 + stake**3 * third / 3 - fourth * stake**4 * last
        return lam * length * (m + k) - n2 * logs

    def square(x: float) -> float:
        ends = [min(max(end - moments.ahead, -most), most) for end in (-x, x)]
        worst = max(spare(ends[0] - bias), spare(ends[1] + bias)) + slack + 2 * lam * SUM_ERROR * x
        return (worst + n1 * cumulant(lam * x / n1, test.offset, *votes) - log(alpha)) / lam

    return descended(most + (shift or 0.0), square)


def stake_for(test: RayTest, length: float) -> float:
    """The stake on the second half: lam |g1|/n2, unless a factor might come near 0. A function of the first half."""
    return min(test.lam * length / test.n2, largest_stake(test.clip))


def largest_stake(clip: float) -> float:
    """The largest stake that is used with projections clipped there, whatever the draws show."""
    return _LARGEST_STAKE / (_STEEPEST_LEAD + HEAVIEST * clip + 0.01)


def clip_bias(clip: float) -> float:
    """How far clipping moves the mean of V at most: HEAVIEST E(|z| - clip)_+ for standard normal z."""
    density, tail = exp(-0.5 * clip * clip) / sqrt(2 * pi), 0.5 * erfc(clip / sqrt(2))
    return HEAVIEST * 2 * (density - clip * tail) * (1 + 1e-6) + 1e-15


def design_ray(n: int, dim: int, alpha: float, votes: VoteBounds, gamma: float, left: float) -> RayTest:
    """Return a test for n draws in R^dim that is near the best if `votes` and the gradient norm `gamma` are as guessed.

    `left` is the mean square of vote weight minus control variate in the second half. It claims nothing.
    """
    if n < 4:
        raise SettingError(f"n: expected at least 4 draws to halve, got {n}")
    n1 = n // 2
    votes = VoteBounds(*(min(max(vote, 1 / n), 1.0) for vote in votes))
    best, least = RayTest(n1, n - n1, 1.0, 1.0, _CLIPS[-1]), inf
    for c0 in np.linspace(0.0, 1.0, 21).tolist():
        found = _best_lam(c0, n1, n - n1, dim, -log(alpha), votes, gamma, left)
        if found[0] < least:
            least, best = found[0], RayTest(n1, n - n1, c0, *found[1:])
    return best


def expected_ray(test: RayTest, dim: int, votes: VoteBounds, gamma: float, left: float) -> RayMoments:
    """Return the moments to expect if the votes, the gradient norm and the spread left are as guessed."""
    norm = sqrt(expected_square(test.offset, test.n1, dim, votes, gamma))
    return RayMoments(norm, 0.0, gamma * gamma / norm if norm > 0 else 0.0, left, 0.0, 3 * HEAVIEST * left)


def _best_lam(
    c0: float, n1: int, n2: int, dim: int, level: float, votes: VoteBounds, gamma: float, left: float
) -> tuple[float, float, float]:
    """About the least squared bound with this offset, and the exponent and the clip that give it."""
    length, v = sqrt(expected_square(c0, n1, dim, votes, gamma)), lead_spread(c0, votes)
    most = n1 / (2 * largest_lead_gradient(votes))  # so that psi is finite where the descent begins
    square, lam = gamma * gamma, 1.0
    for _ in range(4):
        spread = v * square / n1 + left * length**2 / n2
        lam = min(sqrt(2 * level / spread), most)
        square = gamma * gamma + level / lam + 0.5 * lam * spread
    found = []
    for clip in _CLIPS:
        allowed = min(lam, largest_stake(clip) * n2 / length) if length > 0 else lam
        value = gamma * gamma + level / allowed + 0.5 * allowed * spread + length * clip_bias(clip)
        found.append((value, allowed, clip))
    return min(found)


def _fourth_term(reach: float) -> float:
    """Return t with ln(1 + x) >= x - x^2/2 + x^3/3 - t x^4 for all x >= -reach: sum reach^j/(j + 4), rounded up."""
    total = sum(reach**j / (j + 4) for j in range(_TERMS))
    return (total + reach**_TERMS / ((_TERMS + 4) * (1 - reach))) * (1 + 1e-13)


def _check(moments: RayMoments, test: RayTest, alpha: float, votes: VoteBounds) -> None:
    if not all(map(isfinite, moments)) or moments.norm1 < 0 or min(moments.square, moments.fourth) < 0:
        raise SettingError(f"moments: expected finite numbers, a norm and squares >= 0, got {moments}")
    if min(test.n1, test.n2) < 1 or not 0 <= test.offset <= 1 or not 0 < test.lam < inf or not 2.5 <= test.clip <= 12:
        raise SettingError(f"test: expected n1, n2 >= 1, offset in [0, 1], lam > 0, clip from 2.5 to 12, got {test}")
    check_level(alpha, votes)
