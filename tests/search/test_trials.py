"""The search's draws: streams of their own, an account of what they cost, and nothing found out twice."""

import numpy as np

from doublebubble.audit.cases import corridor_case
from doublebubble.config import CertifyConfig
from doublebubble.search.trials import Trials


def trials(n: int = 6800) -> Trials:
    case = corridor_case()
    selected = case.smoothed.counts(case.x, 500, seed=0, index=0, stage="select")
    return Trials(case.smoothed, CertifyConfig(n=n), case.x, 0, selected)


def test_every_draw_is_accounted_for() -> None:
    found = trials()
    assert (found.per_look, found.per_verdict) == (100, 500)
    found.look(found.x, "one", np.array([1.0, -1.0]))
    assert (found.cost.draws, found.cost.forward_equivalents) == (100, 300)
    found.pairs(found.x, "two")
    assert found.cost.draws == 600
    found.compared([found.x + 0.1, found.x + 0.2], (), None)
    assert found.cost.draws == 600 + 3 * 500
    found.compared([found.x + 0.1], (), None)  # the votes at the input are there already
    assert found.cost.draws == 600 + 4 * 500


def test_points_that_are_compared_see_the_same_noise() -> None:
    found = trials()
    here, (again,) = found.compared([found.x], (), None)
    assert here.votes is not None
    assert again.votes is not None
    assert (here.votes == again.votes).all()


def test_the_class_under_test_is_that_of_the_select_draws() -> None:
    found = trials()
    assert found.top == int(found.selected.argmax())
    assert found.at_input.rule.top == found.top


def test_something_shared_is_found_out_once() -> None:
    found, asked = trials(), []

    def take() -> int:
        asked.append(1)
        return 7

    assert found.once("answer", take) == found.once("answer", take) == 7
    assert asked == [1]


def test_every_forecast_is_for_the_class_under_test() -> None:
    """Also where another class leads, as it may at a further centre: there nothing is promised."""
    found = trials()
    votes = np.array([400, 100]) if found.top == 1 else np.array([100, 400])
    for balls in (1, 2):
        ahead = found.outlook(votes, balls)
        assert ahead.rule.top == found.top
        assert ahead.radius < 0
