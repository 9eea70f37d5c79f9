"""Plans made by hand: first-order balls at any centre hold together, and only because of what the theorem asks for."""

from dataclasses import replace

import numpy as np
import pytest
from torch import Tensor

from doublebubble.audit.coverage import Case, at, count_misses, misses_allowed, repetitions
from doublebubble.audit.oracles import HalfSpace, Slab
from doublebubble.bounds import VoteBounds, design_test
from doublebubble.config import CertifyConfig
from doublebubble.methods.first_order import FirstOrderStatistic, RivalTest
from doublebubble.protocols import sound
from doublebubble.search.gradients import Cost
from doublebubble.search.plan import BallPlan, MethodPlan, Proposals
from doublebubble.search.trials import Trials
from doublebubble.types import Floats

ALPHA, N = 0.05, 4000
SAID = {
    "double": "a pair of balls along the free gradient was tried",
    "boundary": "the box blocks a slope of 0.50",
}
"""What these methods say of such plans: the verifier reads it."""
Centre = tuple[Tensor, Floats | None]


def off_centre() -> tuple[Case, list[Centre]]:
    """A slab, x between its middle and a wall, balls nearer to the middle: there (F5) is exact, and so is (D2)."""
    w = np.eye(1, 4)[0]
    case = Case("slab", Slab(w, -0.4, 0.4), at([0.1, 0.0, 0.0, 0.0]), 0.25)
    return case, [(at([0.05, 0.0, 0.0, 0.0]), None), (at([0.0, 0.0, 0.0, 0.0]), None)]


def at_face(eta_at_x1: bool = False) -> tuple[Case, list[Centre]]:
    """A half-space whose normal the box blocks in part; a ball on the face with its own eta, another off it without.

    With `eta_at_x1` the ball off the face takes the eta that x1 would have: what the theorem forbids.
    """
    w = np.array([0.8, 0.6, 0.0, 0.0])
    case = Case("face", HalfSpace(w, -0.2), at([0.0, 0.5, 0.5, 0.5]), 0.25, (0.0, 1.0))
    eta = np.array([0.6, 0.0, 0.0, 0.0])  # twice the density there is 0.74, of which 0.8 is blocked
    on, off = at([0.0, 0.52, 0.5, 0.5]), at([0.1, 0.5, 0.5, 0.5])
    return case, [(on, eta), (off, eta if eta_at_x1 else None)]


def by_hand(monkeypatch: pytest.MonkeyPatch, centres: list[Centre], n: int = N) -> None:
    """Certify with these balls, all first-order, whatever a search would say."""

    def propose(trials: Trials) -> Proposals:
        each = n // len(centres)
        test = design_test(each, trials.x.numel(), trials.config.alpha / 8, VoteBounds(0.2, 0.2), 0.3)
        balls = tuple(
            BallPlan(
                f"double/{number}",
                centre,
                each,
                FirstOrderStatistic(trials.top, 2, (RivalTest(None, test, 0.25, eta),)),
            )
            for number, (centre, eta) in enumerate(centres)
        )
        method = "double" if len(balls) == 2 else "boundary"
        reason = f"{SAID[method]}, and fresh search draws agree (first_order)"
        return Proposals({method: MethodPlan(method, balls, True, reason)}, method, Cost())

    monkeypatch.setattr(sound, "propose", propose)


@pytest.mark.parametrize("make", [off_centre, at_face])
def test_first_order_balls_hold_at_any_centre(monkeypatch: pytest.MonkeyPatch, make: object) -> None:
    assert callable(make)
    case, centres = make()
    by_hand(monkeypatch, centres)
    config = CertifyConfig(n=N, n0=100, alpha=ALPHA, methods=("double",))
    certificates = list(repetitions(case, config, 200))
    assert count_misses(case, certificates)["double"] <= misses_allowed(200, ALPHA)
    assert all(ball.statistic == "first_order" for c in certificates for ball in c.balls)
    assert sum(c.radius > 0 for c in certificates) > 180


def test_they_come_close_to_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the slab nothing is lost but what draws cannot tell; votes alone, wherever, lose a tenth (Fact L)."""
    case, centres = off_centre()
    by_hand(monkeypatch, centres[:1], n=1_000_000)
    config = CertifyConfig(n=1_000_000, alpha=ALPHA, methods=("double",))
    (certificate,) = repetitions(case, config, 1)
    _, distance = case.truth
    assert 0.97 * distance <= certificate.radius <= distance
    assert case.oracle.cohen_radius(case.x.numpy(), case.sigma) < 0.92 * distance


@pytest.mark.not_reverified("the eta is planted, and the verifier sees it")
def test_an_eta_of_another_centre_breaks_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: the cone at x1 used at a centre off the face claims too much."""
    case, centres = at_face(eta_at_x1=True)
    by_hand(monkeypatch, centres[1:], n=20_000)
    config = CertifyConfig(n=20_000, n0=100, alpha=ALPHA, methods=("double",))
    certificates = list(repetitions(replace(case), config, 50))
    assert count_misses(case, certificates)["boundary"] > misses_allowed(50, ALPHA)
