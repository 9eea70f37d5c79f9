"""The slope off a line from the second half of the draws, seen along the mean of the first: (R7), in fifty digits.

Imports nothing of what it checks.
"""

from typing import Any

from doublebubble.audit.reverify.first_order import psi
from doublebubble.audit.reverify.numbers import MARGIN, Unconfirmed, cdf, half_line_moment, mp, number, phi, require
from doublebubble.audit.reverify.votes import Rule

_SUMS = mp.mpf(10) ** -8  # docs/math.md: the error allowed for in the first half's mean, and in each V
_POWERS = mp.mpf(10) ** -11  # and in a mean of powers of V, over the same power of the largest
_NAMES = ("n1", "n2", "offset", "lam", "clip", "norm1", "ahead", "mean", "square", "cube", "fourth", "gamma")


def ray_bound(rule: Rule, n: int, lower: Any, q: Any, alpha: Any) -> Any:
    """The rule's bound on the slope off the line, proved by going down from one that none exceeds."""
    name, numbers = f"rule {rule['rule']}", rule["numbers"]
    n1, n2, c0, lam, clip, length, ahead, v1, v2, v3, v4, gamma = (number(numbers, each) for each in _NAMES)
    shift = number(numbers, "shift") if "shift" in numbers else mp.mpf(0)
    require(n1 >= 1 and n2 >= 1 and n1 + n2 == n, f"{name}: the halves are not all draws")
    require(0 <= c0 <= 1 and lam > 0 and mp.mpf("2.5") <= clip <= 12, f"{name}: the test is out of range")
    require(length >= 0 and gamma >= 0 and abs(ahead) <= shift * (1 + _SUMS), f"{name}: a norm is out of range")
    _check_powers(name, v1, v2, v3, v4, 2 * clip)
    masses = (1 - lower, min(q, 1 - lower))
    most = sum(half_line_moment(min(mass, mp.mpf(0.5))) for mass in masses)
    bias = 4 * (phi(clip) - clip * cdf(-clip))
    stake = min(lam * length / n2, mp.mpf(0.9) / (mp.mpf("0.81") + 2 * clip))
    reach = stake * (most + bias + 2 * clip)
    require(reach < 1, f"{name}: a factor of the wealth may be 0")
    last = (-mp.log(1 - reach) - reach - reach**2 / 2 - reach**3 / 3) / reach**4 if reach > 0 else mp.mpf(1) / 4

    def lost(m: Any) -> Any:
        """lam |g1| (m + e.eta) less the logarithm of the wealth of all of the second half, from above."""
        powers = (m - v1, m**2 - 2 * m * v1 + v2, m**3 - 3 * m**2 * v1 + 3 * m * v2 - v3)
        fourth = m**4 - 4 * m**3 * v1 + 6 * m**2 * v2 - 4 * m * v3 + v4
        logs = stake * powers[0] - stake**2 * powers[1] / 2 + stake**3 * powers[2] / 3 - last * stake**4 * fourth
        return lam * length * (m + ahead) - n2 * logs

    fixed = lam * length * bias + n2 * (_SUMS * stake / (1 - reach) + _POWERS) - mp.log(alpha)
    x = most + shift
    for _ in range(500):  # every x is a valid bound, and so is the next one
        if x <= gamma:
            return gamma
        low, high = (min(max(end - ahead, -most), most) for end in (-x, x))
        spent = fixed + max(lost(low - bias), lost(high + bias)) + lam * _SUMS * x
        square = (spent + n1 * psi(lam * x / n1, c0, *masses)) / lam
        nearer = mp.sqrt(max(square, mp.mpf(0))) + MARGIN
        if not nearer < x:
            break
        x = nearer
    raise Unconfirmed(f"{name}: the moments prove a slope of {float(x):.9g}, not {float(gamma):.9g}")


def _check_powers(name: str, v1: Any, v2: Any, v3: Any, v4: Any, largest: Any) -> None:
    """The means of powers must be those of some V between -largest and largest."""
    slack = 1 + _SUMS
    possible = v1**2 <= v2 * slack and v2**2 <= v4 * slack and v3**2 <= v2 * v4 * slack
    require(possible and v4 <= largest**2 * v2 * slack, f"{name}: no numbers have such means of powers")
