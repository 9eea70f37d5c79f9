"""Votes by bins of a line with a control variate: coverage by enumeration, the joint rule without one, a gain with."""

from itertools import combinations
from math import lgamma, log

import numpy as np
import pytest
from scipy.special import ndtr

from doublebubble.bounds.controlled import ControlledTest, controlled_bound, design_controlled
from doublebubble.bounds.votes import Joint, VotesRule, votes_bound
from doublebubble.errors import BudgetError
from doublebubble.geometry.joint import joint_radius
from doublebubble.geometry.profile import bin_masses, checked_guess, default_edges
from doublebubble.types import Counts, Floats

TINY = 1e-12
EDGES = default_edges(16)
MASSES = bin_masses(EDGES)


def compositions(n: int, cells: int) -> list[tuple[int, ...]]:
    """All ways to put n draws into cells."""
    cuts = (np.array([-1, *bars, n + cells - 1]) for bars in combinations(range(n + cells - 1), cells - 1))
    return [tuple((np.diff(cut) - 1).tolist()) for cut in cuts]


@pytest.mark.parametrize("control", [(0.0, 0.0), (0.9, 0.2), (-0.4, 1.1)])
@pytest.mark.parametrize("chances", [((0.6, 0.3), (0.9, 0.05)), ((0.95, 0.05), (0.3, 0.7)), ((0.55, 0.45), (1.0, 0.0))])
def test_coverage_by_enumeration(control: tuple[float, float], chances: tuple[tuple[float, float], ...]) -> None:
    """Every table that seven draws can give, weighed by its exact probability; half of the draws lie in either bin."""
    n, alpha = 7, 0.3
    p = np.array([[0.5 * a, 0.5 * b, 0.5 * max(1 - a - b, 0.0)] for a, b in chances]).ravel()
    c = np.array(control)
    largest = 2.3 + float(c.max() - c.min())
    test = ControlledTest(1, np.array([0.0]), 1.3, 1.0, c, 0.9 / largest)
    mean = 1.3 * (p[0] + p[3]) + 1.0 * (1 - p[1] - p[4])
    truth = joint_radius(mean, 1.3, 1.0, 1.0)
    missed = 0.0
    for table in compositions(n, 6):
        if any(k and not q for k, q in zip(table, p, strict=True)):
            continue
        if controlled_bound(np.array(table).reshape(2, 3), TINY, test, alpha, 1.0).radius > truth + 1e-9:
            ways = lgamma(n + 1) + sum(k * log(q) - lgamma(k + 1) for k, q in zip(table, p, strict=True) if k)
            missed += float(np.exp(ways))
    assert missed <= alpha


@pytest.mark.parametrize("constant", [0.0, 0.7, -2.0])
def test_a_constant_control_gives_the_joint_rule(constant: float) -> None:
    """What is the same in every bin tells nothing: (R2) moves with it."""
    table = np.zeros((len(EDGES) + 1, 3), np.int64)
    table[:, 0], table[:, 1], table[::2, 2] = 130, 20, 31
    votes = table.sum(axis=0)
    joint = VotesRule(0, False, (Joint(1, 1.7, 1.2, 0.1),))
    wanted = next(b for b in votes_bound(votes, joint, 0.01, 0.5) if b.rule == "joint")
    test = ControlledTest(1, EDGES, 1.7, 1.2, np.full(len(EDGES) + 1, constant), 0.1)
    assert controlled_bound(table, TINY, test, 0.01, 0.5).radius == pytest.approx(wanted.radius, abs=1e-9)


def guessed(slope: float) -> tuple[Floats, Floats]:
    ends = np.array([-4.0, *EDGES, 4.0])
    f_a: Floats = ndtr(0.6 - slope * 0.5 * (ends[1:] + ends[:-1]))
    return f_a, 0.8 * (1 - f_a)


def expected(n: int, f_a: Floats, f_b: Floats) -> Counts:
    chances = MASSES[:, None] * np.stack([f_a, f_b, 1 - f_a - f_b], axis=1)
    table: Counts = np.rint(n * chances).astype(np.int64)
    return table


@pytest.mark.parametrize(("slope", "least"), [(0.0, -1e-5), (1.5, 0.01), (4.0, 0.03)])
def test_the_steeper_the_profile_the_larger_the_gain_over_the_joint_rule(slope: float, least: float) -> None:
    f_a, f_b = guessed(slope)
    table = expected(10_000, f_a, f_b)
    votes = table.sum(axis=0)
    p_a, p_b = votes[0] / votes.sum(), votes[1] / votes.sum()
    test = design_controlled(1, checked_guess(EDGES, f_a, f_b, 0.0), float(p_a), float(p_b), int(votes.sum()), 0.001)
    plain = design_controlled(
        1,
        checked_guess(EDGES, np.full_like(f_a, p_a), np.full_like(f_b, p_b), 0.0),
        float(p_a),
        float(p_b),
        int(votes.sum()),
        0.001,
    )
    radii = [controlled_bound(table, TINY, each, 0.001, 0.5).radius for each in (test, plain)]
    assert radii[0] >= radii[1] * (1 + least) - 1e-9
    assert radii[0] < joint_radius(test.k_a * float(p_a) + test.k_b * (1 - float(p_b)), test.k_a, test.k_b, 0.5)


def test_the_bins_are_paid_for() -> None:
    test = ControlledTest(1, EDGES, 1.5, 1.2, np.zeros(len(EDGES) + 1), 0.1)
    table = expected(10_000, *guessed(1.0))
    bound = controlled_bound(table, 4e-4, test, 0.001, 0.5)
    assert bound.alphas[0] == 4e-4
    assert 0.0005 < sum(bound.alphas) <= 0.001
    assert bound.radius < controlled_bound(table, TINY, test, 0.001, 0.5).radius
    with pytest.raises(BudgetError):
        controlled_bound(table, 0.002, test, 0.001, 0.5)
