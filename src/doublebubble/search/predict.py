"""What fresh draws may be expected to certify, and in which direction that grows: guesses for the search, no claims."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainccinv, betaincinv
from scipy.special import ndtri as Phi_inv

from doublebubble.bounds import ClassPlan
from doublebubble.types import Counts, Floats


@dataclass(frozen=True)
class Outlook:
    """The radius that n draws are expected to certify at a point, signed, and its derivative by each p_k.

    With `weights` w, the gradient of the radius is the sum of w_k grad p_k.
    """

    radius: float
    weights: Floats


def outlook(counts: Counts, classes: ClassPlan, n: int, alpha: float, sigma: float) -> Outlook:
    """The outlook at a point where a few draws gave these counts.

    Frequencies are taken with one draw more than was made, against the class: no radius is promised by votes that were
    merely not seen. Confidence bounds shift the value; their derivative is taken as that of the estimate.
    """
    top, named = classes.partition.top, list(classes.partition.named)
    seen = int(counts.sum())
    p_a = float(counts[top]) / (seen + 1)
    weights = np.zeros(len(counts))
    if p_a == 0:
        return Outlook(-math.inf, weights)
    alpha_a = alpha if classes.binary else alpha / 2
    lower = float(betaincinv(n * p_a, n * (1 - p_a) + 1, alpha_a))
    if classes.binary:
        weights[top] = sigma / _density(p_a)
        return Outlook(sigma * float(Phi_inv(lower)), weights)  # (S3b)
    rest = [k for k in range(len(counts)) if k != top and k not in named]
    groups = [*([k] for k in named), *([rest] if rest else [])]
    shares = np.array([(counts[group].sum() + (group is rest or not rest)) / (seen + 1) for group in groups])
    uppers = betainccinv(n * shares + 1, n * (1 - shares), alpha / 2 / len(groups))
    binding = int(np.argmax(uppers))
    upper = min(float(uppers[binding]), 1 - lower)
    weights[top] = sigma / 2 / _density(p_a)
    weights[groups[binding]] = -sigma / 2 / _density(max(float(shares[binding]), 0.5 / (seen + 1)))
    return Outlook(sigma / 2 * float(Phi_inv(lower) - Phi_inv(upper)), weights)  # (S3)


def _density(p: float) -> float:
    """phi(Phi^-1(p))."""
    return math.exp(-(float(Phi_inv(p)) ** 2) / 2) / math.sqrt(2 * math.pi)
