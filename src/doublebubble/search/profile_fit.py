"""How the votes change along a line, fitted to draws already seen: Phi of a polynomial of z. Guesses, no claims."""

from collections.abc import Sequence
from math import inf, pi, sqrt

import numpy as np
from scipy.special import ndtr as Phi

from doublebubble.geometry.profile import bin_masses
from doublebubble.types import Counts, Floats

DIGITS = 4
"""Decimals of what is guessed: shorter numbers are quicker to store."""
_ROUNDS = 25
_BEND = 100.0  # the bend of a profile on the probit scale is taken to be about 0.1 at most


def fitted_profile(table: Counts, edges: Sequence[float], p_a: float, p_b: float) -> tuple[Floats, Floats]:
    """The probabilities of the class and of the rival given the bin, from a table of votes by bin, (bins, 3).

    Each is Phi of a polynomial of z, of degree 2 with a bend that must be seen to be believed, moved to have the mean
    p_a or p_b: more draws than those of the table show these.
    """
    seen = table.sum(axis=1).astype(np.float64)
    f_a = _with_mean(_probit(edges, table[:, 0].astype(np.float64), seen), edges, p_a)
    f_b: Floats = np.minimum(_with_mean(_probit(edges, table[:, 1].astype(np.float64), seen), edges, p_b), 1 - f_a)
    return np.round(f_a, DIGITS), np.round(f_b, DIGITS)


def _with_mean(quantiles: Floats, edges: Sequence[float], mean: float) -> Floats:
    masses = bin_masses(edges)
    low, high = -12.0, 12.0
    for _ in range(40):
        shift = 0.5 * (low + high)
        low, high = (shift, high) if float(masses @ Phi(quantiles + shift)) < mean else (low, shift)
    moved: Floats = Phi(quantiles + low)
    return moved


def _probit(edges: Sequence[float], hits: Floats, seen: Floats) -> Floats:
    """The quantiles of penalised maximum likelihood, by Fisher's scoring; half a hit is added to all draws."""
    z = bin_means(edges)
    total = seen.sum()
    hits = hits + 0.5 * seen / total
    seen = seen * (1 + 1 / total)
    features = np.stack([np.ones_like(z), z, z * z - 1], axis=1)
    penalty = np.diag([0.0, 0.01, _BEND])
    beta = np.zeros(3)
    for _ in range(_ROUNDS):
        eta = np.clip(features @ beta, -8.0, 8.0)
        p = np.clip(Phi(eta), 1e-9, 1 - 1e-9)
        density = np.exp(-0.5 * eta * eta) / sqrt(2 * pi)
        score = features.T @ ((hits - seen * p) * density / (p * (1 - p))) - penalty @ beta
        weight = seen * density**2 / (p * (1 - p))
        step = np.linalg.solve((features * weight[:, None]).T @ features + penalty + 1e-9 * np.eye(3), score)
        beta = beta + step * min(1.0, 2.0 / float(np.abs(step).max(initial=1e-12)))
        if float(np.abs(step).max()) < 1e-6:
            break
    quantiles: Floats = np.clip(features @ beta, -8.0, 8.0)
    return quantiles


def bin_means(edges: Sequence[float]) -> Floats:
    """The mean of a standard normal number given its bin."""
    ends = np.concatenate(([-inf], edges, [inf]))
    density = np.exp(-0.5 * ends * ends) / sqrt(2 * pi)
    means: Floats = -np.diff(density) / bin_masses(edges)
    return means
