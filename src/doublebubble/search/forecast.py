"""What fresh draws may be expected to show, and which radius follows: the one forecast that every plan uses.

The counts to expect are put into the very bounds that will certify. Guesses for the search, no claims.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri as Phi_inv

from doublebubble.bounds import VotesRule, choose_rule, others, votes_bound
from doublebubble.types import Counts, Floats


@dataclass(frozen=True)
class Outlook:
    """The radius that votes are expected to certify at a point, signed, and its derivative by each p_k.

    With `weights` w, the gradient of the radius is the sum of w_k grad p_k.
    """

    rule: VotesRule
    radius: float
    weights: Floats


def expected_counts(counts: Counts, top: int, n: int, against: int = 1) -> Counts:
    """The votes to expect of n draws where a few gave these counts.

    Shares are taken with one draw more than was made, for the strongest rival: no radius is promised by votes that were
    merely not seen. The class is rounded down, the others by largest remainder.
    """
    shares = counts / (int(counts.sum()) + against)
    rivals = list(others(len(counts), top))
    shares[rivals[int(np.argmax(counts[rivals]))]] += against / (int(counts.sum()) + against)
    whole = np.floor(n * shares + 1e-9).astype(np.int64)
    left = n - int(whole.sum())
    by_remainder = sorted(rivals, key=lambda k: (whole[k] - n * shares[k], k))
    whole[by_remainder[:left]] += 1
    whole[by_remainder[0]] += n - int(whole.sum())
    return whole


def outlook(counts: Counts, top: int, n: int, alpha: float, sigma: float, against: int = 1) -> Outlook:
    """What n draws at a point are expected to certify by votes, where a few gave these counts.

    Confidence bounds shift the value; their derivative is taken as that of the estimate.
    """
    expected = expected_counts(counts, top, n, against)
    rule = choose_rule(expected, top, alpha, sigma)
    radius = min(bound.radius for bound in votes_bound(expected, rule, alpha, sigma))
    return Outlook(rule, radius, _weights(counts, rule, sigma))


def _weights(counts: Counts, rule: VotesRule, sigma: float) -> Floats:
    seen = int(counts.sum()) + 1
    weights = np.zeros(len(counts))
    p_a = float(counts[rule.top]) / seen
    if p_a == 0:
        return weights
    if rule.binary:
        weights[rule.top] = sigma / _density(p_a)  # (S3b)
        return weights
    rival = max(others(len(counts), rule.top), key=lambda k: (int(counts[k]), -k))
    weights[rule.top] = sigma / 2 / _density(p_a)  # (S3)
    weights[rival] = -sigma / 2 / _density(max(float(counts[rival]), 0.5) / seen)
    return weights


def _density(p: float) -> float:
    """phi(Phi^-1(p))."""
    return math.exp(-(float(Phi_inv(p)) ** 2) / 2) / math.sqrt(2 * math.pi)
