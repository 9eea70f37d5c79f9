"""The radius that votes alone certify: Cohen's, against each rival at the whole of alpha (docs/math.md, section 8).

A `VotesRule` is fixed before the draws that `votes_bound` reads. No torch, no randomness.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import inf, nextafter
from typing import NamedTuple

import numpy as np

from doublebubble.bounds.binomial import clopper_pearson
from doublebubble.bounds.budget import AlphaBudget
from doublebubble.bounds.stakes import mean_upper_bound, near_best_stake
from doublebubble.errors import InputError, SettingError
from doublebubble.geometry.cohen import cohen_radius
from doublebubble.geometry.joint import best_prices, joint_radius
from doublebubble.types import Counts, Floats

_ROUNDING = 2.0**-50
_MOST_JOINTS = 6  # rivals that may get a joint functional: more are never near enough to decide


class Joint(NamedTuple):
    """A joint functional of section 8 for one rival: the prices of a vote for A and of one not for B, and the stake."""

    rival: int
    k_a: float
    k_b: float
    stake: float


class Interval(NamedTuple):
    """What counts say of the class and of one rival, or of all of them: A at least `lower_a`, the rival at most `q`."""

    lower_a: float
    q: float
    alphas: tuple[float, ...]

    @property
    def numbers(self) -> dict[str, float]:
        """Both bounds by name."""
        return {"lower_a": self.lower_a, "q": self.q}


@dataclass(frozen=True)
class VotesRule:
    """How votes are turned into a radius.

    `binary` bounds all other classes at once by 1 - p_A and spends all of alpha on p_A, (S3b). Otherwise each rival has
    the whole of alpha for itself, by Lemma I: those with a joint functional for its mean, all others half for p_A and
    half for their own probability, (S3).
    """

    top: int
    binary: bool
    joints: tuple[Joint, ...] = ()

    def __post_init__(self) -> None:
        rivals = [joint.rival for joint in self.joints]
        if self.top in rivals or len(set(rivals)) < len(rivals) or (self.binary and rivals):
            raise SettingError(f"votes: expected distinct rivals of class {self.top}, none if binary, got {rivals}")


class RivalBound(NamedTuple):
    """How far the class leads over some rivals, by which rule, and what each of them paid.

    `rivals` is None for every class that no other bound of the same ball names.
    """

    rule: str
    rivals: tuple[int, ...] | None
    alphas: tuple[float, ...]
    radius: float
    numbers: Mapping[str, float]


def others(num_classes: int, top: int) -> tuple[int, ...]:
    """All classes but one: each can overtake it."""
    return tuple(k for k in range(num_classes) if k != top)


def votes_bound(counts: Counts, rule: VotesRule, alpha: float, sigma: float) -> list[RivalBound]:
    """With probability at least 1 - alpha over the draws, g is the class on the ball of the least radius, if positive.

    The radii are signed; the rule must not have seen the draws. Every class but the top one is a rival of exactly one
    of the bounds, and the parts of alpha of each bound sum to at most alpha: by Lemma I the bounds do not share it.
    """
    votes = checked_counts(counts)
    if rule.binary:
        bound = class_interval(votes, rule.top, (), AlphaBudget(alpha))
        radius = cohen_radius(bound.lower_a, None, sigma)  # (S3b)
        return [RivalBound("binary", None, bound.alphas, radius, bound.numbers)]
    found = [_joint_bound(votes, rule.top, joint, alpha, sigma) for joint in rule.joints]
    return [*found, *rest_bound(votes, rule.top, [joint.rival for joint in rule.joints], alpha, sigma)]


def rest_bound(votes: Counts, top: int, named: Collection[int], alpha: float, sigma: float) -> list[RivalBound]:
    """(S3) against each rival that is not named, at the whole of alpha; empty if all are named.

    The rival with most votes has the least radius.
    """
    rest = tuple(k for k in others(len(votes), top) if k not in named)
    if not rest:
        return []
    bound = class_interval(votes, top, rest, AlphaBudget(alpha))
    return [RivalBound("counts", None, bound.alphas, cohen_radius(bound.lower_a, bound.q, sigma), bound.numbers)]


def class_interval(votes: Counts, top: int, rivals: tuple[int, ...], budget: AlphaBudget) -> Interval:
    """A lower bound for the class and an upper one for each of the rivals, at equal parts of what remains of alpha.

    For any one rival both hold with probability at least 1 - what remains. Without rivals all of it goes to the class,
    and 1 - p_A bounds all other classes together; it bounds any of them in either case.
    """
    n = int(votes.sum())
    alphas = budget.take_equal(["lower bound of the class", *(["upper bound of a rival"] if rivals else [])])
    lower = clopper_pearson(int(votes[top]), n, alphas[0], "lower")
    rest = min(1.0, nextafter(1 - lower, 2.0))
    if not rivals:
        return Interval(lower, rest, alphas)
    return Interval(lower, min(clopper_pearson(int(votes[list(rivals)].max()), n, alphas[1], "upper"), rest), alphas)


def _joint_bound(votes: Counts, top: int, joint: Joint, alpha: float, sigma: float) -> RivalBound:
    """The lead over one rival by one test of the mean of k_A 1[A] + k_B 1[not B]: (J1)."""
    (level,) = AlphaBudget(alpha).take_equal(["joint functional"])
    values, counts = _prices_paid(votes, top, joint)
    low, high = 0.0, joint.k_a + joint.k_b
    loss = mean_upper_bound(values, counts, joint.stake, level, low, high)  # of k_A 1[not A] + k_B 1[B]
    mean = high * (1 - _ROUNDING) - loss  # the sum of the prices is rounded, in the table and here
    radius = joint_radius(nextafter(mean, -inf), joint.k_a, joint.k_b, sigma)
    numbers = {"k_a": joint.k_a, "k_b": joint.k_b, "stake": joint.stake}
    return RivalBound("joint", (joint.rival,), (level,), radius, numbers)


def _prices_paid(votes: Counts, top: int, joint: Joint) -> tuple[Floats, Counts]:
    """The values that k_A 1[not A] + k_B 1[B] takes, for votes for A, B and others, and how often."""
    a, b = int(votes[top]), int(votes[joint.rival])
    values = np.array([0.0, joint.k_a + joint.k_b, joint.k_a])
    return values, np.array([a, b, int(votes.sum()) - a - b], np.int64)


def choose_rule(expected: Counts, top: int, alpha: float, sigma: float) -> VotesRule:
    """The rule with the largest radius if the draws turn out as expected; the simpler of equals.

    Any rule is valid: the choice only moves the radius to be expected.
    """
    binary, rule = VotesRule(top, binary=True), VotesRule(top, binary=False)
    if len(expected) == 2:
        return binary
    reached = _least(expected, rule, alpha, sigma)
    while reached > 0 and len(rule.joints) < min(_MOST_JOINTS, len(expected) - 1):
        named = {joint.rival for joint in rule.joints}  # next the rival that decides, as long as that helps
        rival = max((k for k in others(len(expected), top) if k not in named), key=lambda k: (int(expected[k]), -k))
        better = VotesRule(top, False, (*rule.joints, design_joint(expected, top, rival, alpha)))
        gained = _least(expected, better, alpha, sigma)
        if not gained > reached:
            break
        rule, reached = better, gained
    return rule if reached > _least(expected, binary, alpha, sigma) else binary


def design_joint(expected: Counts, top: int, rival: int, alpha: float) -> Joint:
    """Prices and stake that are near the best if the draws turn out as expected."""
    n = int(expected.sum())
    p_a, p_b = ((int(expected[k]) + 0.5) / (n + 1) for k in (top, rival))
    k_a, k_b = best_prices(p_a, p_b)
    values, counts = _prices_paid(expected, top, Joint(rival, k_a, k_b, 0.0))
    mean = float(values @ counts) / n
    variance = float((values - mean) ** 2 @ counts) / n
    return Joint(rival, k_a, k_b, near_best_stake(n, variance, alpha, 0.0, k_a + k_b))


def _least(counts: Counts, rule: VotesRule, alpha: float, sigma: float) -> float:
    return min(bound.radius for bound in votes_bound(counts, rule, alpha, sigma))


def checked_counts(counts: Counts) -> Counts:
    """Counts as one row of int64, at least two classes and one vote, or an error that says what came."""
    votes = np.asarray(counts)
    if votes.ndim != 1 or len(votes) < 2 or not np.issubdtype(votes.dtype, np.integer):
        raise InputError(f"counts: expected one row of integers, 2 classes or more, got {votes.dtype} of {votes.shape}")
    if votes.min() < 0 or votes.sum() < 1:
        raise InputError(f"counts: expected no negative count and at least one vote, got {votes.tolist()}")
    return votes.astype(np.int64)
