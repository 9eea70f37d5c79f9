"""What profiles certify over Cohen's radius where the law of the votes is known, and what exact numbers would allow.

A boundary blurred so that the slope along the line is a part of a half-space's; one rival has 0.6 of the votes against
the class; a little slope is left off the line. No model, no draws but those of the design: the certify draws are taken
to show what is expected of them. `python -m benchmarks.profile_scenes --n 10000 100000`; no certificate.
"""

import argparse
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv

from benchmarks.profile_ceiling import exact_radius
from doublebubble.bounds import VoteBounds, largest_lead_gradient
from doublebubble.bounds.profile import ProfileCounts, profile_bound
from doublebubble.bounds.ray_gradient import expected_ray
from doublebubble.bounds.votes import rest_bound
from doublebubble.geometry.profile import bin_masses, checked_guess
from doublebubble.search.forecast import expected_counts
from doublebubble.search.profile import Scene, profile_edges
from doublebubble.search.profile_fit import fitted_profile
from doublebubble.types import Counts, Floats

ALPHA, DIMENSION, SHARE, OFF, SELECT = 0.001, 3072, 0.6, 0.15, 500


class Row(NamedTuple):
    """Radii over Cohen's at the same n, which itself is a part of what exact probabilities give."""

    cohen: float
    exact: float
    from_truth: float
    from_draws: float


def blurred(p: float, slope: float, edges: Floats) -> tuple[Floats, Floats]:
    """The votes of class and rival by bin: Phi(c - b z) has the mean p and `slope` times a half-space's slope."""
    b = slope / sqrt(1 - slope * slope)
    c = float(Phi_inv(p)) * sqrt(1 + b * b)
    z = np.linspace(-8, 8, 16001)
    weights, places = np.exp(-0.5 * z * z), np.searchsorted(edges, z, side="right")
    f_a: Floats = np.bincount(places, weights * Phi(c - b * z)) / np.bincount(places, weights)
    return f_a, SHARE * (1 - f_a)


def scene(p: float, slope: float, n: int) -> Scene:
    """All that is to know, as if an endless search had shown it."""
    edges = profile_edges(float(Phi_inv(p)))
    f_a, f_b = blurred(p, slope, np.array(edges))
    p_a, p_b = (float(bin_masses(edges) @ f) for f in (f_a, f_b))
    votes = np.array([round(n * p_a), round(n * p_b), 0])
    votes[2] = n - votes.sum()
    gamma = OFF * slope * largest_lead_gradient(VoteBounds(1 - p_a, p_b))
    return Scene(votes, 0, 1, edges, f_a, f_b, gamma, DIMENSION, ALPHA, 1.0, 3e-6, 10**7)


def row(p: float, slope: float, n: int, times: int) -> Row:
    """One scene; the design from draws is repeated."""
    true = scene(p, slope, n)
    cohen = _cohen(true.votes)
    exactly = 0.5 * float(Phi_inv(true.votes[0] / n) - Phi_inv(true.votes[1] / n))
    known = checked_guess(true.edges, true.f_a, true.f_b, true.gamma)
    rng = np.random.default_rng(0)
    designed = [_certified(true, _from_draws(true, rng)) / cohen for _ in range(times)]
    ceiling = exact_radius(known, exactly).radius / exactly
    return Row(cohen / exactly, ceiling, _certified(true, true) / cohen, float(np.mean(designed)))


def _cohen(votes: Counts) -> float:
    return rest_bound(votes, 0, [2], ALPHA, 1.0)[0].radius  # the others are many, each with few votes


def _from_draws(true: Scene, rng: np.random.Generator) -> Scene:
    """The scene as select draws and five looks of a 68th of n would show it."""
    shares = np.stack([true.f_a, true.f_b, 1 - true.f_a - true.f_b], axis=1) * bin_masses(true.edges)[:, None]
    shares /= shares.sum()
    table = rng.multinomial(5 * (true.n // 68), shares.ravel()).reshape(shares.shape)
    counts = table.sum(axis=0) + rng.multinomial(SELECT, shares.sum(axis=0))
    votes = expected_counts(counts, 0, true.n)
    f_a, f_b = fitted_profile(table, true.edges, votes[0] / true.n, votes[1] / true.n)
    return Scene(votes, 0, 1, true.edges, f_a, f_b, 1.2 * true.gamma, DIMENSION, ALPHA, 1.0, 3e-6, int(counts.sum()))


def _certified(true: Scene, guessed: Scene) -> float:
    """The radius that a test made for the guess certifies where the draws show what the truth expects of them."""
    test, promised = guessed.design()
    if promised <= _cohen(guessed.votes):
        return _cohen(true.votes)  # the method falls back
    masses, f_a, f_b, control = bin_masses(true.edges), true.f_a, true.f_b, np.array(guessed.control())
    weight = 1 - f_a + f_b
    left = float(masses @ (1 - f_a + 3 * f_b - 2 * control * weight + control**2))
    votes = VoteBounds(1 - true.votes[0] / true.n, true.votes[1] / true.n)
    moments = expected_ray(test.gradient, DIMENSION, votes, true.gamma, left)
    table = np.rint(true.n * masses[:, None] * np.stack([f_a, f_b, 1 - f_a - f_b], axis=1)).astype(np.int64)
    return profile_bound(ProfileCounts(true.votes, table, moments, 3e-6), 0, test, ALPHA, 1.0).radius


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--slopes", type=float, nargs="+", default=[0.6, 0.8, 0.9])
    parser.add_argument("--p", type=float, nargs="+", default=[0.7, 0.9, 0.97, 0.99, 0.995, 0.999])
    parser.add_argument("--times", type=int, default=4)
    given = parser.parse_args()
    print("| n | slope | p_A | Cohen over exact Cohen | exact numbers | designed from the truth | from search draws |")
    print("|---|---|---|---|---|---|---|")
    for n in given.n:
        for slope in given.slopes:
            for p in given.p:
                cells = " | ".join(f"{value:.3f}" for value in row(p, slope, n, given.times))
                print(f"| {n:,} | {slope:g} | {p:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
