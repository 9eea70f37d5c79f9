"""Profiles hold at least as often as they say, on classifiers of any shape whose truth is known.

Plans are made from the truth, each once, and many tallies are drawn from the known law: what is judged is the whole way
from a tally to a radius.
"""

import os

import numpy as np
import pytest
import torch

from doublebubble.audit.cases import boxed_cases, corridor_case, free_cases, tied_cases
from doublebubble.audit.coverage import Case, at, misses_allowed
from doublebubble.audit.oracles import BallClassifier, HalfSpace, PlanarTable, Slabs
from doublebubble.search import profile as design
from tests.methods.known import (
    WORST_EDGES,
    claims_more,
    drawn,
    least_radius,
    limit_of,
    plan_from_truth,
    worst_case,
)

N, ALPHAS = 1500, (0.05, 0.2)
TIMES = int(os.environ.get("PROFILE_REPETITIONS", "60"))  # `make validity` asks for more
EDGES = [0.3, 0.5, 0.7]
TABLES = {
    2: [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]],
    3: [[0, 0, 1, 2], [0, 0, 0, 1], [2, 0, 0, 0], [2, 1, 0, 2]],
    4: [[0, 3, 1, 2], [0, 0, 0, 1], [3, 0, 0, 0], [2, 1, 3, 2]],
    5: [[0, 0, 1, 2], [0, 0, 0, 3], [4, 0, 0, 1], [2, 3, 4, 0]],
}


def planar_cases() -> list[Case]:
    """Tables of 2 to 5 classes, inside the box, at a face and at a corner of it."""
    places = {"inside": [0.45, 0.4, 0.5], "at a face": [0.0, 0.4, 0.5], "at a corner": [0.0, 0.0, 1.0]}
    return [
        Case(f"{classes} classes {where}", PlanarTable(EDGES, EDGES, table, 3), at(x), 0.25, (0.0, 1.0))
        for classes, table in TABLES.items()
        for where, x in places.items()
    ]


def wide_cases() -> list[Case]:
    """A ball and a union of slabs in 784 dimensions."""
    d = 784
    w = np.ones(d) / np.sqrt(d)
    return [
        Case("ball, wide", BallClassifier(np.zeros(d), 14.3), torch.full((d,), 0.06), 0.5),
        Case("slabs, wide", Slabs(w, [(-1.0, -0.2), (0.0, 0.8), (1.1, 3.0)]), torch.full((d,), 0.01), 0.3),
    ]


def tight_cases() -> list[Case]:
    """Where Theorem R with exact numbers is the truth: a half-space, and worst classifiers of two profiles."""
    half = Case("half-space, tight", HalfSpace(np.array([1.0, 0.0]), 0.35), at([0.0, 0.0]), 0.5)
    return [half, worst_case(0.8, 0.8, 0.03, 0.3, 1.2), worst_case(0.7, 0.7, 0.0, 0.5, 1.3)]


EVERY = [*planar_cases(), *wide_cases(), *free_cases(), *boxed_cases(), *tied_cases(), corridor_case()]


def name(case: Case) -> str:
    return case.name


@pytest.fixture(autouse=True)
def _few_sectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer bins, sectors and rings than usual, for the sake of time; all are valid."""
    monkeypatch.setattr(design, "BINS", 10)
    monkeypatch.setattr(design, "_RINGS", 1)
    monkeypatch.setattr(design, "_NEAR_ENDS", (0.0, 0.35, 0.7, 1.1, 1.7))
    monkeypatch.setattr(design, "_SHARES", ((0.15, 0.7),))


@pytest.mark.parametrize("case", EVERY, ids=name)
def test_profiles_hold_on_every_oracle(case: Case) -> None:
    times = TIMES if case.oracle.dimension < 100 else TIMES // 2
    plan = plan_from_truth(case, N, 0.1, tilt=0.15)
    assert plan is not None
    rng = np.random.default_rng(1)
    tallies, limit = [drawn(case, plan, N, rng) for _ in range(times)], limit_of(case, plan)
    for alpha in ALPHAS:
        misses = sum(claims_more(plan, tally, alpha, case.sigma, limit) for tally in tallies)
        assert misses <= misses_allowed(times, alpha)


@pytest.mark.parametrize("number", range(3))
def test_profiles_hold_where_their_bound_is_nearly_tight(number: int) -> None:
    """Bounds come close to the truth, and exceed it no more often than they may."""
    case, times = tight_cases()[number], max(200, TIMES)
    plan = plan_from_truth(case, 20 * N, 0.1, edges=WORST_EDGES)
    assert plan is not None
    rng = np.random.default_rng(2)
    tallies = [drawn(case, plan, 20 * N, rng) for _ in range(times)]
    for alpha in ALPHAS:
        radii = np.array([least_radius(plan, tally, alpha, case.sigma) for tally in tallies])
        assert (radii > limit_of(case, plan)).sum() <= misses_allowed(times, alpha)
        assert radii.mean() > 0.87 * limit_of(case, plan)
