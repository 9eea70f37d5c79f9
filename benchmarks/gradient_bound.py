"""How far the bound (F2) on the gradient of the lead lies above the truth, and how often below: one table.

Run: python benchmarks/gradient_bound.py [repetitions]

Votes depend on two coordinates of the noise, so half means are drawn from their exact distribution in any dimension.
Beside the excess of (F2) stands that of the simpler bound it replaces: two separate deviations, one per half, without
a control variate (docs/math.md, section 6).
"""

import sys
from math import inf, log, sqrt

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from doublebubble.bounds import HalfMoments, VoteBounds, design_test, lead_gradient_bound
from doublebubble.bounds.cumulant import tail_supremum
from doublebubble.types import Floats

ALPHA = 2.5e-4
REGIONS = {"uneven slab": (0.6, 1.6, inf), "slab": (1.645, 1.645, inf), "three classes": (0.5, 2.0, 1.0)}
"""B where z1 > a or z1 < -left, else C where z2 > b, else A: (a, left, b)."""


def deviation(n: int, alpha: float, q: float) -> float:
    """Return the best Chernoff deviation of a mean of n terms 1[z in S] z, S any set of mass q."""

    def at(s: float) -> float:
        return (tail_supremum(s, 0.0, q) - log(alpha) / n) / s

    return float(minimize_scalar(at, bounds=(1e-4, 2.0), method="bounded").fun)


def separate_bound(dot: float, norm1: float, e1: float, e2: float) -> float:
    """Return the bound from two events, g1.G >= g1.g2 - |g1| e2 and g1.G >= |G|^2 - |G| e1."""
    return (e1 + sqrt(max(0.0, e1 * e1 + 4 * (dot + norm1 * e2)))) / 2


def half(level: Floats, z: Floats, dim: int, rng: np.random.Generator) -> Floats:
    """Return the mean of level x noise in R^dim, given its two coordinates z that the votes depend on."""
    across = sqrt(float(level @ level)) * rng.standard_normal(dim - 2)
    mean: Floats = np.r_[z @ level, across] / len(level)
    return mean


def row(name: str, n: int, dim: int, repetitions: int, rng: np.random.Generator) -> str:
    """Simulate one line of the table."""
    a, left, b = REGIONS[name]
    q = float(norm.sf(a) + norm.sf(left))
    votes = VoteBounds(q + (1 - q) * float(norm.sf(b)), q)
    true = float(np.hypot((norm.pdf(a) - norm.pdf(left)) * (1 + norm.cdf(b)), norm.pdf(b) * (1 - q)))
    test = design_test(n, dim, ALPHA, votes, true)
    e = deviation(n // 2, ALPHA / 2, votes.not_a)
    bounds, old = [], []
    for _ in range(repetitions):
        means, plain = [], []
        for size in (test.n1, test.n2):
            z = rng.standard_normal((2, size))
            level = np.where((z[0] > a) | (z[0] < -left), 2.0, np.where(z[1] > b, 1.0, 0.0))
            means.append(half(level - test.offset, z, dim, rng))
            plain.append(half((level > 0).astype(float), z, dim, rng))
        g1, g2 = means
        moments = HalfMoments(float(g1 @ g2), float(np.linalg.norm(g1)), float(np.linalg.norm(g2)))
        bounds.append(lead_gradient_bound(moments, test, ALPHA, votes))
        if b == inf:  # with a third class, a bound on A alone says nothing of the lead
            old.append(2 * separate_bound(float(plain[0] @ plain[1]), float(np.linalg.norm(plain[0])), e, e))
    misses = sum(bound < true for bound in bounds)
    other = f"{np.mean(old) - true:9.4f}" if old else "        -"
    return f"{name:14s}{n:8d}{dim:6d}{true:9.4f}{np.mean(bounds) - true:9.4f}{other}{misses:7d}/{repetitions}"


def main() -> None:
    """Print the table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    rng = np.random.default_rng(0)
    print(f"alpha = {ALPHA}; excess = mean bound - true sigma |grad (p_A - p_B)|")
    print("regions              n   dim     true   excess  separate  misses")
    for name in REGIONS:
        for n in (1_000, 10_000, 100_000):
            for dim in (2, 784, 3072):
                print(row(name, n, dim, repetitions, rng))


if __name__ == "__main__":
    main()
