"""Projected steps against boundaries whose nearest point is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from doublebubble.audit.attack.descent import Descent, lead_weights, strongest
from doublebubble.audit.attack.guide import Guide
from doublebubble.audit.oracles import HalfSpace, LinearClassifier
from doublebubble.runs.attacks import AttackSettings
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.types import Floats


def descent(w: Floats, b: float, x: Floats, domain: tuple[float, float] | None, **settings: Any) -> Descent:
    """The search from a point of class 1 of a half-space."""
    smoothed = SmoothedClassifier(HalfSpace(w, b), 0.5, 2, domain, batch_size=128)
    fed = smoothed.checked(torch.tensor(x, dtype=torch.float32), 0)
    guide = Guide(fed.double().numpy(), (), (), smoothed.domain)
    return Descent(smoothed, fed, 1, AttackSettings(**settings), guide, Stream(0, 0, "attack"))


def test_weights_are_those_of_the_lead_less_their_mean() -> None:
    votes = np.array([50, 30, 20], np.int64)
    for rival, plain in ((1, np.array([1.0, -1.0, 0.0])), (None, np.array([1.0, 0.0, 0.0]))):
        found = lead_weights(votes, 0, rival)
        assert found - found[2] == pytest.approx(plain - plain[2])
        assert float(found @ votes) == pytest.approx(0.0, abs=1e-9)
    assert strongest(votes, 0) == 1
    assert strongest(np.array([3, 3, 9], np.int64), 2) == 0


@pytest.mark.parametrize("gradient", ["full", "approximate"])
def test_it_goes_straight_to_the_boundary(gradient: str) -> None:
    w = np.array([0.6, -0.8, 0.0, 0.0])
    search = descent(w, 0.6, np.zeros(4), None, gradient=gradient, draws=1000)
    found = search.seek([np.zeros(4)], 1.2, certified=True, name=0)
    assert found.succeeds
    assert found.cost.draws > 0
    way = found.way / np.linalg.norm(found.way)
    assert -float(way @ w) > (0.9999 if gradient == "full" else 0.95)
    assert search.seek([np.zeros(4)], 0.3, certified=True, name=1).succeeds is False


def test_in_a_box_it_goes_where_the_box_lets_it() -> None:
    """The input lies at a face that blocks the steepest way; the best way is along the other coordinate."""
    search = descent(np.array([0.9, 0.4]), 0.05, np.array([0.0, 0.9]), (0.0, 1.0), draws=500)
    found = search.seek([np.zeros(2)], 0.9, certified=True, name=0)
    y = search.point(found.way, 0.9)
    assert y[0] == 0.0
    assert float(y[1]) == pytest.approx(0.0, abs=1e-6)


def test_pressing_a_rival_leads_to_it_whichever_class_is_nearer() -> None:
    W = np.eye(3)
    smoothed = SmoothedClassifier(LinearClassifier(W, [0.8, 0.0, 0.3]), 0.5, 3, None, batch_size=128)
    x = torch.zeros(3)
    search = Descent(
        smoothed, x, 0, AttackSettings(draws=500), Guide(np.zeros(3), (), (), None), Stream(0, 0, "attack")
    )
    for rival in (1, 2):
        way, cost = search.press(np.zeros(3), 0.5, rival, 0)
        assert int(np.argmax(way)) == rival
        assert cost.draws == 500 * 8


def test_beyond_the_radius_it_stays_out_of_the_balls_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    search = descent(np.array([1.0, 0.0]), 5.0, np.zeros(2), None, steps=4)
    ball = np.array([-1.0, 0.1])
    search = replace(search, guide=Guide(np.zeros(2), (ball,), (0.8,), None))
    asked: list[Floats] = []
    point = Descent.point

    def watched(self: Descent, direction: Floats, distance: float) -> torch.Tensor:
        asked.append(point(self, direction, distance).double().numpy())
        return point(self, direction, distance)

    monkeypatch.setattr(Descent, "point", watched)
    start = np.array([-1.0, 0.0])
    search.seek([start], 1.0, certified=False, name=0)
    outside = [float(np.linalg.norm(y - ball)) for y in asked]
    asked.clear()
    search.seek([start], 1.0, certified=True, name=0)
    inside = [float(np.linalg.norm(y - ball)) for y in asked]
    assert min(inside) < 0.2, "inside the radius nothing is left out"
    assert min(outside) > 0.79, "beyond it the ball is no place to look"
