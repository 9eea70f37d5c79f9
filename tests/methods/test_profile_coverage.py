"""Profiles hold at least as often as they say, on classifiers of any shape whose truth is known."""

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble.audit.cases import boxed_cases, free_cases, tied_cases
from doublebubble.audit.coverage import Case, at, misses_allowed
from doublebubble.audit.oracles import BallClassifier, PlanarTable, Slabs
from doublebubble.protocols.sound import certified_ball
from doublebubble.search import profile as design
from doublebubble.search.trials import Trials
from doublebubble.streams import Stream
from doublebubble.tally import Request
from tests.methods.made import method

EDGES = [0.3, 0.5, 0.7]
TABLES = {
    2: [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]],
    3: [[0, 0, 1, 2], [0, 0, 0, 1], [2, 0, 0, 0], [2, 1, 0, 2]],
    5: [[0, 0, 1, 2], [0, 0, 0, 3], [4, 0, 0, 1], [2, 3, 4, 0]],
}


def planar_cases() -> list[Case]:
    """Tables of 2, 3 and 5 classes, inside the box, at a face and at a corner of it."""
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


def name(case: Case) -> str:
    return case.name


@pytest.fixture(autouse=True)
def _few_sectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer bins, sectors and rings than usual, for the sake of time; all are valid."""
    monkeypatch.setattr(design, "BINS", 10)
    monkeypatch.setattr(design, "_RINGS", 1)
    monkeypatch.setattr(design, "_NEAR_ENDS", (0.0, 0.35, 0.7, 1.1, 1.7))
    monkeypatch.setattr(design, "_SHARES", ((0.15, 0.7),))


def missed(case: Case, alpha: float, plans: int, times: int) -> int:
    """How often profiles of a few plans claimed too much; each plan is used for many certify draws.

    A guarantee holds given the plan (docs/math.md, section 2), and making plans is what takes time.
    """
    g, distance = case.truth
    config = db.CertifyConfig(n=2000, n0=100, alpha=alpha, methods=("profile",))
    smoothed, misses = case.smoothed, 0
    for index in range(plans):
        selected = smoothed.counts(case.x, 100, seed=0, index=index, stage="select")
        plan = method("profile").propose(Trials(smoothed, config, case.x, index, selected)).plan
        (ball,) = plan.balls
        streams = [Stream(0, index, "certify", f"again/{k}") for k in range(times)]
        tallies = smoothed.tallies([ball.statistic.asks(Request(case.x, ball.n, stream)) for stream in streams])
        radii = [certified_ball(ball, tally, alpha, case.sigma).radius for tally in tallies]
        wrong = ball.statistic.top != g or distance == 0
        misses += sum(radius > (0 if wrong else distance * (1 + 1e-9)) for radius in radii)
    return misses


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("case", [*planar_cases(), *wide_cases()], ids=name)
def test_profiles_hold_on_any_shape(case: Case, alpha: float) -> None:
    assert missed(case, alpha, plans=1, times=20) <= misses_allowed(20, alpha)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("case", [*free_cases()[::4], *boxed_cases()[1:4:2], tied_cases()[1]], ids=name)
def test_profiles_hold_on_oracles(case: Case, alpha: float) -> None:
    assert missed(case, alpha, plans=1, times=20) <= misses_allowed(20, alpha)
