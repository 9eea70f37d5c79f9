"""Further balls: found where the box gives something, judged by fresh draws, each with its own statistic."""

import torch

from doublebubble.audit.cases import corridor_case
from doublebubble.methods.first_order import FirstOrderStatistic, judging_tests, statistic_at
from doublebubble.search.transitive import bearings_of, blocked_shift
from tests.methods.made import proposal, trials


def test_a_further_ball_uses_its_gradient_where_that_pays() -> None:
    balls = [proposal("boundary", index=index).plan.balls[0] for index in range(5)]
    moved = [ball for ball in balls if not ball.at_input]
    assert len(moved) >= 4
    assert all(isinstance(ball.statistic, FirstOrderStatistic) for ball in moved)
    assert {ball.part for ball in moved} == {"boundary/2"}


def test_an_eta_is_that_of_the_faces_of_its_own_centre() -> None:
    """On the face what the box blocks is taken off; a coordinate that has left its face must not be relied on."""
    case = corridor_case()
    found = trials(case, n=50_000)
    tests = judging_tests(found)
    on, off = case.x, case.x + 0.01 * torch.eye(6)[0]
    rows = tuple(asked.weights for asked in tests)
    tallies = found.votes([on, off], "verdict", rows, tests[0].test.n1)
    designs = [statistic_at(found, centre, tally, 1)[0] for centre, tally in zip((on, off), tallies, strict=True)]
    etas = [design.tests[0].eta for design in designs if isinstance(design, FirstOrderStatistic)]
    assert len(etas) == 2
    assert etas[0] is not None
    assert etas[0][0] > 0
    assert (etas[0][1:] == 0).all()
    assert etas[1] is None


def test_judging_gradients_costs_no_draws() -> None:
    found = trials(corridor_case(), n=5000)
    tallies = found.votes([found.x], "verdict", (), None)
    before = found.cost
    rows = tuple(asked.weights for asked in judging_tests(found))
    statistic_at(found, found.x, found.votes([found.x], "verdict", rows, 10)[0], 2)
    assert found.cost.draws - before.draws == tallies[0].n


def test_bearings_are_taken_once() -> None:
    found = trials(corridor_case())
    first = bearings_of(found)
    spent = found.cost
    assert bearings_of(found) is first
    assert found.cost == spent
    shift, slope = blocked_shift(first)
    assert shift > 0
    assert 0.05 < slope <= 0.9
