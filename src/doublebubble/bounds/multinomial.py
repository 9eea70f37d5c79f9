"""Exact bounds on the class probabilities that a Cohen radius needs: below for class A, above for all the others.

A `ClassPlan` is fixed from the select draws and says which other classes are watched by name, that all the rest are
watched as one group, and how alpha is divided; `class_bounds` then reads fresh counts. No torch, no randomness.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betainccinv, betaincinv
from scipy.special import ndtri as Phi_inv

from doublebubble.bounds.binomial import clopper_pearson
from doublebubble.bounds.budget import AlphaBudget
from doublebubble.errors import InputError, SettingError
from doublebubble.types import Counts, Floats, Guarantee


@dataclass(frozen=True)
class Partition:
    """Class A (`top`), the other classes watched by name, and one group of all the rest, which may be empty."""

    top: int
    named: tuple[int, ...]
    num_classes: int

    def __post_init__(self) -> None:
        watched = (self.top, *self.named)
        if self.num_classes < 2:
            raise SettingError(f"number of classes: expected at least 2, got {self.num_classes}")
        if len(set(watched)) < len(watched) or not all(0 <= k < self.num_classes for k in watched):
            raise SettingError(f"partition: expected distinct classes from 0 to {self.num_classes - 1}, got {watched}")

    @property
    def has_rest(self) -> bool:
        """Whether any class is neither A nor named."""
        return 1 + len(self.named) < self.num_classes


@dataclass(frozen=True)
class ClassPlan:
    """What the select draws decided: the partition, and how alpha is divided.

    `binary` spends all of alpha on p_A and bounds the others by 1 - p_A, for (S3b). Otherwise half of alpha goes to p_A
    and the other half, in equal parts, to the named classes and the group, for (S3).
    """

    partition: Partition
    binary: bool


@dataclass(frozen=True)
class PartBound:
    """One bound and what it cost: `label` is the class, or None for the group of all the rest."""

    label: int | None
    count: int
    alpha: float
    bound: float


@dataclass(frozen=True)
class ClassBounds:
    """p_A >= `lower_a` and every other p_k <= `upper_other`, with probability at least 1 - the sum of the alphas."""

    lower_a: float
    upper_other: float
    n: int
    top: PartBound
    others: tuple[PartBound, ...]
    guarantee: Guarantee = Guarantee.EXACT


def class_bounds(counts: Counts, plan: ClassPlan, budget: AlphaBudget) -> ClassBounds:
    """With probability at least 1 - alpha over the draws counted, both bounds hold, if the plan saw none of them.

    alpha is all that remains in `budget`, which is spent. (B3): the union bound runs over A, the named classes and the
    group; the group's total bounds each member, and 1 - p_A bounds every other class at no further cost.
    """
    partition = plan.partition
    votes = checked_counts(counts)
    if len(votes) != partition.num_classes:
        raise InputError(f"counts: expected {partition.num_classes} classes, got {len(votes)}")
    n, k_a = int(votes.sum()), int(votes[partition.top])
    share = budget.remaining if plan.binary else budget.remaining / 2
    alpha_a = budget.take(share, f"lower bound of class {partition.top}")
    top = PartBound(partition.top, k_a, alpha_a, clopper_pearson(k_a, n, alpha_a, "lower"))
    others = () if plan.binary else _upper_bounds(votes, partition, budget)
    complement = min(1.0, float(np.nextafter(1 - top.bound, 2.0)))
    upper_other = min(complement, max((part.bound for part in others), default=1.0))
    return ClassBounds(top.bound, upper_other, n, top, others)


def _upper_bounds(votes: Counts, partition: Partition, budget: AlphaBudget) -> tuple[PartBound, ...]:
    """Upper bounds of the named classes and of the group's total, at equal parts of what remains."""
    labels: list[int | None] = [*partition.named, *([None] if partition.has_rest else [])]
    rest = votes.sum() - votes[[partition.top, *partition.named]].sum()
    tallies = np.array([rest if label is None else votes[label] for label in labels])
    purposes = ["upper bound of the rest" if label is None else f"upper bound of class {label}" for label in labels]
    alphas = budget.take_equal(purposes)
    uppers = clopper_pearson(tallies, int(votes.sum()), np.array(alphas), "upper")
    return tuple(
        PartBound(label, int(tally), alpha, float(upper))
        for label, tally, alpha, upper in zip(labels, tallies, alphas, uppers, strict=True)
    )


def choose_plan(select_counts: Counts, n: int, alpha: float) -> ClassPlan:
    """The plan that the select draws expect to certify the largest radius with n fresh draws at level alpha.

    Any plan is valid, whatever the select draws were: the choice only moves the radius that is to be expected. A is the
    class with most votes. For every candidate number of named classes, taken by votes, the radius is predicted at the
    counts to be expected; likewise for the binary rule, which wins ties.
    """
    votes = checked_counts(select_counts)
    num_classes = len(votes)
    order = np.argsort(-votes, kind="stable")
    top, rivals = int(order[0]), order[1:]
    if num_classes == 2:
        return ClassPlan(Partition(top, (), 2), binary=True)
    named = _candidates(num_classes)
    p_a = votes[top] / (votes.sum() + 1)
    likeliest, parts = _likeliest_part(votes[rivals], int(votes.sum()), named)
    lower = np.asarray(betaincinv(n * p_a, n * (1 - p_a) + 1, np.array([alpha, alpha / 2])))
    upper = np.asarray(betainccinv(n * likeliest + 1, n * (1 - likeliest), alpha / 2 / parts))
    radius_binary = float(Phi_inv(lower[0]))  # (S3b)
    radii: Floats = (Phi_inv(lower[1]) - Phi_inv(np.minimum(upper, 1 - lower[1]))) / 2  # (S3)
    best = int(np.argmax(radii))
    if radius_binary >= radii[best]:
        return ClassPlan(Partition(top, (), num_classes), binary=True)
    return ClassPlan(Partition(top, tuple(int(k) for k in rivals[: named[best]]), num_classes), binary=False)


def _likeliest_part(rivals: Counts, n0: int, named: Counts) -> tuple[Floats, Counts]:
    """For each number of named classes: the expected share of the likeliest part of the others, and how many parts.

    `rivals` are the others' votes of n0, most first. Ranking by the votes flatters those that it leaves for the group,
    most of all the unseen ones. So every vote is taken out in turn: a named class that the loss of one vote would bring
    level with the first of the group counts as part of the group. One vote more stands for what was never seen.
    """
    sums = np.concatenate([[0], np.cumsum(rivals)])
    no_rest = named == len(rivals)
    first_of_rest = rivals[np.minimum(named, len(rivals) - 1)]
    safe = np.searchsorted(-rivals, -first_of_rest - 1)  # how many have more than one vote over the first of the group
    rest = sums[-1] - sums[np.minimum(named, safe)] + 1
    likeliest = np.where(no_rest, rivals[0] + 1, np.maximum(np.where(named > 0, rivals[0], 0), rest))
    return likeliest / (n0 + 1), named + ~no_rest


def _candidates(num_classes: int) -> Counts:
    """Numbers of named classes worth trying: few one by one, many in steps of a quarter, and all of the others."""
    sizes = [0]
    while sizes[-1] < num_classes - 2:
        sizes.append(sizes[-1] + max(1, sizes[-1] // 4))
    return np.array([size for size in sizes if size < num_classes - 2] + [num_classes - 1], np.int64)


def checked_counts(counts: Counts) -> Counts:
    """Counts as one row of int64, at least two classes and one vote, or an error that says what came."""
    votes = np.asarray(counts)
    if votes.ndim != 1 or len(votes) < 2 or not np.issubdtype(votes.dtype, np.integer):
        raise InputError(f"counts: expected one row of integers, 2 classes or more, got {votes.dtype} of {votes.shape}")
    if votes.min() < 0 or votes.sum() < 1:
        raise InputError(f"counts: expected no negative count and at least one vote, got {votes.tolist()}")
    return votes.astype(np.int64)
