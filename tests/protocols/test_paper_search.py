"""The searches on radii that are known functions of the point: what they climb, record and name."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from doublebubble import SmoothedClassifier
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds import goodman
from doublebubble.config import CertifyConfig, PaperSearch
from doublebubble.geometry import double_bubble_radius
from doublebubble.protocols.paper_search import (
    Found,
    Measured,
    Search,
    SearchedInput,
    _bubble_slope,
    find_second,
    find_third,
    goodman_rivals,
)
from doublebubble.search.gradients import Cost, Estimator, Rivals
from doublebubble.streams import Stage
from tests.protocols.published import certify

X1 = torch.tensor([0.5, 0.4], dtype=torch.float64)


@dataclass
class Looks:
    """Stands in for the draws: a radius, its gradient and its class as functions of the point, and what was asked."""

    radius: Callable[[Tensor], float]
    gradient: Callable[[Tensor], Tensor]
    top: Callable[[Tensor], int] = lambda point: 1
    points: list[Tensor] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    estimators: list[Estimator] = field(default_factory=list)

    def measured(self, point: Tensor) -> Measured:
        return Measured(point, 10, np.array([3, 7]), Rivals(self.top(point), 0, 0.7, 0.3), self.radius(point))

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def look(_: SearchedInput, point: Tensor, estimator: Estimator, part: str) -> Search[Any]:
            self.points.append(point)
            self.parts.append(part)
            self.estimators.append(estimator)
            yield from ()
            return self.measured(point), self.gradient(point), Cost(10, 40), 0.25

        monkeypatch.setattr(SearchedInput, "look", look)


def ended(search: Search[Found]) -> Found:
    """What a search comes to whose looks are not made by draws."""
    with pytest.raises(StopIteration) as end:
        next(search)
    found: Found = end.value.value
    return found


def searched(domain: tuple[float, float] | None = (0.0, 1.0), **search: object) -> SearchedInput:
    smoothed = SmoothedClassifier(HalfSpace([1.0, 0.0], -0.2), 0.5, 2, domain=domain)
    settings = PaperSearch.model_validate(search)
    config = CertifyConfig(protocol="paper", n=100, methods=("cohen", "single", "double"), paper=settings)
    return SearchedInput(smoothed, config, X1, 0, 1)


def hill(peak: Tensor, steepness: float) -> Looks:
    return Looks(lambda x: 1 - steepness * float((x - peak).square().sum()), lambda x: -2 * steepness * (x - peak))


def best_on_a_grid(value: Callable[[Tensor], float]) -> float:
    axis = torch.linspace(0, 1, 201, dtype=torch.float64)
    return max(value(torch.stack([a, b])) for a in axis for b in axis)


def test_ball_two_climbs_the_radius_less_the_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = hill(torch.tensor([0.9, 0.7], dtype=torch.float64), 3.0)
    looks.install(monkeypatch)
    found = ended(find_second(searched()))
    assert found.ball is not None

    def excess(x: Tensor) -> float:
        return looks.radius(x) - float((x - X1).norm())

    assert excess(found.ball.point) == pytest.approx(best_on_a_grid(excess), abs=1e-3)
    assert excess(found.ball.point) == max(excess(point) for point in looks.points)
    assert found.cost == Cost(10 * len(looks.points), 40 * len(looks.points))
    assert found.seconds == 0.25 * len(looks.points)
    assert looks.parts == [f"second/{i}" for i in range(len(looks.points))], "every look has a stream of its own"
    assert set(looks.estimators) == {Estimator.FULL}
    assert float((looks.points[0] - X1).norm()) < 1e-5
    assert float((looks.points[1] - looks.points[0]).norm()) == pytest.approx(0.01)


def test_without_a_slope_ball_two_goes_back_to_the_input(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(lambda x: 1.0, torch.zeros_like)
    looks.install(monkeypatch)
    ended(find_second(searched(start_noise=0.1)))
    distances = [float((point - X1).norm()) for point in looks.points]
    assert distances[1] == pytest.approx(distances[0] - 0.01)


def test_the_wrong_class_is_left_against_its_gradient_and_never_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    def wall(x: Tensor) -> float:
        return float(x[0]) - 0.55

    looks = Looks(lambda x: abs(wall(x)), lambda x: torch.tensor([math.copysign(1.0, wall(x)), 0.0]).double())
    looks.top = lambda x: 1 if wall(x) > 0 else 0
    looks.install(monkeypatch)
    found = ended(find_second(searched(start_noise=0.1, first_step=0.02)))
    first, second = looks.points[:2]
    assert looks.top(first) == 0, "the start must lie on the wrong side for this test to mean anything"
    assert float(second[0] - first[0]) == pytest.approx(0.02), "straight to the right side, no distance term"
    assert found.ball is None or looks.top(found.ball.point) == 1


@pytest.mark.parametrize("domain", [(0.0, 1.0), None])
def test_a_radius_that_grows_for_ever_stays_in_reach(
    domain: tuple[float, float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(lambda x: 5 * float(x.sum()) ** 3, lambda x: torch.full((2,), 15.0).double() * x.sum() ** 2)
    looks.install(monkeypatch)
    ended(find_second(searched(domain)))
    if domain is None:
        rivals = goodman_rivals(np.array([0, 100]), 0.05)
        assert max(float((p - X1).norm()) for p in looks.points) <= 0.5 * (rivals.p_a + 3)
        assert all(bool(p.isfinite().all()) for p in looks.points)
    else:
        assert all(0 <= float(p.min()) <= float(p.max()) <= 1 for p in looks.points)


def second_ball() -> Measured:
    x2 = torch.tensor([0.7, 0.4], dtype=torch.float64)
    return Measured(x2, 10, np.array([3, 7]), Rivals(1, 0, 0.7, 0.3), 0.6)


def test_ball_three_climbs_the_printed_formula_along_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def r3(x: Tensor) -> float:
        return 0.62 - 2.0 * float(x[0] - 0.35) ** 2

    looks = Looks(r3, lambda x: torch.stack([-4.0 * (x[0] - 0.35), torch.zeros(()).double()]))
    looks.install(monkeypatch)
    found = ended(find_third(searched(line_iterations=300), second_ball()))  # the published cap makes 30 looks short
    assert found.ball is not None
    assert float(looks.points[0][0]) == pytest.approx(0.5 - 0.9 * 0.4)
    assert all(float(p[1]) == pytest.approx(0.4) and 0.1 - 1e-9 <= float(p[0]) <= 0.5 for p in looks.points)

    def joint(d3: float) -> float:
        return double_bubble_radius(0.6, 0.2, r3(X1 - torch.tensor([d3, 0.0])), d3)

    reached = joint(float(X1[0] - found.ball.point[0]))
    assert reached == pytest.approx(max(joint(d3) for d3 in np.linspace(0, 0.4, 401)), abs=2e-3)
    assert reached == pytest.approx(max(joint(float(X1[0] - p[0])) for p in looks.points), abs=1e-9)
    assert looks.parts == [f"third/{i}" for i in range(len(looks.points))], "no stream of ball 2 is used again"


def test_ball_three_leaves_where_the_class_is_wrong_and_where_it_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    def signed(x: Tensor) -> float:
        return float(x[0]) - 0.3

    slope = torch.tensor([1.0, 0.0]).double()
    empty = Looks(signed, lambda x: slope)
    wrong = Looks(lambda x: abs(signed(x)), lambda x: slope * math.copysign(1.0, signed(x)))
    wrong.top = lambda x: 1 if signed(x) > 0 else 0
    for looks in (empty, wrong):
        looks.install(monkeypatch)
        found = ended(find_third(searched(), second_ball()))
        assert signed(looks.points[0]) < 0
        assert float(looks.points[1][0] - looks.points[0][0]) == pytest.approx(0.025 * 0.4)
        assert found.ball is None or signed(found.ball.point) > 0


def test_the_line_search_of_approximate_votes_by_the_logits_and_climbs_by_autograd(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = hill(torch.tensor([0.3, 0.4], dtype=torch.float64), 1.0)
    looks.install(monkeypatch)
    approximate = searched()
    config = approximate.config.model_copy(update={"gradient": "approximate"})
    ended(find_third(SearchedInput(approximate.smoothed, config, X1, 0, 1), second_ball()))
    assert set(looks.estimators) == {Estimator.AUTOGRAD_ONLY}


def test_there_is_no_line_without_a_ball_that_reaches_the_input() -> None:
    at_input = Measured(X1, 10, np.array([3, 7]), Rivals(1, 0, 0.7, 0.3), 0.6)
    far = Measured(X1 + 0.4, 10, np.array([3, 7]), Rivals(1, 0, 0.7, 0.3), 0.3)
    assert ended(find_third(searched(), at_input)) == Found(None, "no line to search: ball 2 is centred at the input")
    assert ended(find_third(searched(), far)) == Found(None, "no line to search: ball 2 does not reach the input")


@pytest.mark.parametrize(("top", "radius"), [(0, 0.4), (1, -0.1), (1, 0.0)])
def test_a_find_that_all_draws_do_not_confirm_is_dropped(
    top: int, radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = hill(X1 + 0.1, 1.0)
    looks.install(monkeypatch)
    real = SearchedInput.measure

    def measure(self: SearchedInput, point: Tensor, stage: Stage, part: str) -> Search[tuple[Measured, Cost, float]]:
        if stage == "select":
            return (yield from real(self, point, stage, part))
        measured = Measured(point, 100, np.array([50, 50]), Rivals(top, 1 - top, 0.5, 0.5), radius)
        return measured, Cost(100, 100), 0.5

    monkeypatch.setattr(SearchedInput, "measure", measure)
    working = searched(draws=10)
    c = certify(working.smoothed, working.config, X1, 0, 1)
    assert len(c.balls) == 1
    assert c.radii["double"] == c.radii["single"] == c.radii["cohen"] > 0
    assert "all n draws do not confirm it" in c.reason
    assert c.draws["certify"] == 100
    assert c.seconds["certify"] == 0.5


def test_bubble_slope_is_the_derivative() -> None:
    def joint(s: float) -> float:
        return double_bubble_radius(0.7, 0.2, 0.5 + 0.3 * s, 0.5 * s)

    for s in (0.1, 0.5, 0.9):
        quotient = (joint(s + 1e-6) - joint(s - 1e-6)) / 2e-6
        assert _bubble_slope(0.7, 0.2, 0.5 + 0.3 * s, 0.5 * s, 0.3) == pytest.approx(quotient, rel=1e-6)
    assert math.isfinite(_bubble_slope(0.3, 0.29, 1e-9, 5.0, 0.0))


def test_the_runner_up_bound_is_the_largest_of_the_others() -> None:
    """Forty rare classes merged outweigh the second class by name."""
    rivals = goodman_rivals(np.array([900, 6, *[2] * 40]), 0.05)
    merged = goodman(np.array([900, 6, 80]), 0.05)
    assert (rivals.top, rivals.runner_up) == (0, 1)
    assert (rivals.p_a, rivals.p_b) == pytest.approx((merged.lower[0], merged.upper[2]))
