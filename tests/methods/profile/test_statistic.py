"""The statistic itself: what is asked for is used, every rival is held off, what cannot be meant is refused."""

from dataclasses import replace

import numpy as np
import pytest

from doublebubble.bounds.profile import ProfileTest
from doublebubble.bounds.votes import rest_bound
from doublebubble.errors import SettingError
from doublebubble.lines import Line
from doublebubble.methods.profile.statistic import ProfileStatistic, by_vote
from doublebubble.search.plan import BallPlan
from doublebubble.streams import Stream
from doublebubble.tally import Request
from tests.methods.gradual import GRADUAL, D, planned

pytestmark = pytest.mark.usefixtures("few_sectors")


@pytest.fixture(scope="module")
def found() -> tuple[ProfileStatistic, BallPlan]:
    return planned()


def test_what_is_asked_for_is_what_is_used(found: tuple[ProfileStatistic, BallPlan]) -> None:
    statistic, ball = found
    profile = statistic.profiles[0]
    request = statistic.asks(Request(ball.centre, ball.n, Stream(0, 5, "certify")))
    assert request.lines == tuple(each.line for each in statistic.profiles)
    assert isinstance(profile.test, ProfileTest)
    assert request.split == profile.test.gradient.n1
    assert 1 <= len(request.moments) <= len(statistic.profiles)
    tally = GRADUAL.smoothed.tally(request)
    made = statistic.finding(tally, 0.001, GRADUAL.sigma)
    assert max(sum(bound.alphas) for bound in made.bounds) <= 0.001
    assert set(made.vectors) == {f"line/{each.test.rival}" for each in statistic.profiles}


def test_every_rival_is_held_off(found: tuple[ProfileStatistic, BallPlan]) -> None:
    """One that has no line, but most of the rest, decides the radius."""
    statistic, ball = found
    alone = replace(statistic, profiles=statistic.profiles[:1])
    tally = GRADUAL.smoothed.tally(alone.asks(Request(ball.centre, ball.n, Stream(0, 6, "certify"))))
    made = alone.finding(tally, 0.001, GRADUAL.sigma)
    assert [bound.rivals for bound in made.bounds] == [(alone.profiles[0].test.rival,), None]
    plain = rest_bound(tally.counts, alone.top, [alone.profiles[0].test.rival], 0.001, GRADUAL.sigma)
    assert made.bounds[1].radius == plain[0].radius


def test_the_slope_of_each_rival_is_its_own(found: tuple[ProfileStatistic, BallPlan]) -> None:
    """Two rivals with the same line and test: each ray weighs the votes of its own rival double."""
    statistic, ball = found
    first = statistic.profiles[0]
    test = first.test
    assert isinstance(test, ProfileTest)
    rivals = [k for k in range(5) if k != statistic.top][:2]
    both = tuple(first._replace(test=test._replace(rival=rival)) for rival in rivals)
    request = replace(statistic, profiles=both).asks(Request(ball.centre, ball.n, Stream(0, 5, "certify")))
    for ray, rival in zip(request.rays, rivals, strict=True):
        assert ray.second == tuple(0.0 if k == statistic.top else 1.0 + (k == rival) for k in range(5))
        assert np.array(ray.weights) == pytest.approx(np.array(ray.second) - test.gradient.offset)
        assert ray.control == first.control


def test_votes_of_other_classes_are_neither() -> None:
    table = np.array([[5, 1, 2, 0], [0, 4, 1, 3]])
    assert by_vote(table, 0, 2).tolist() == [[5, 2, 1], [0, 1, 7]]


def test_what_cannot_be_meant(found: tuple[ProfileStatistic, BallPlan]) -> None:
    statistic, _ = found
    profile = statistic.profiles[0]
    for wrong in ((), (profile, profile), (profile._replace(test=profile.test._replace(rival=statistic.top)),)):
        with pytest.raises(SettingError, match="distinct rivals"):
            replace(statistic, profiles=wrong)
    eta = np.zeros(D)
    eta[3] = 0.1
    with pytest.raises(SettingError, match="right angles"):
        replace(statistic, profiles=(profile._replace(eta=eta),))
    other = Line(profile.line.direction, profile.line.edges[1:])
    with pytest.raises(SettingError, match="bins of the line"):
        replace(statistic, profiles=(profile._replace(line=other),))
    with pytest.raises(SettingError, match="control variate"):
        replace(statistic, profiles=(profile._replace(control=profile.control[1:]),))


def test_what_is_stored_ends_at_the_radius_reached(found: tuple[ProfileStatistic, BallPlan]) -> None:
    statistic, ball = found
    tally = GRADUAL.smoothed.tally(statistic.asks(Request(ball.centre, ball.n, Stream(0, 7, "certify"))))
    made = statistic.finding(tally, 0.001, GRADUAL.sigma)
    for bound in made.bounds:
        if bound.rivals is not None:
            stored = made.evidence["profiles"][str(bound.rivals[0])]["sectors"]
            assert max(sector["inner"] for sector in stored) <= bound.radius / GRADUAL.sigma
            assert max(sector["outer"] or np.inf for sector in stored) > bound.radius / GRADUAL.sigma


def test_the_bins_of_all_draws_and_the_eta_are_accounted_for(found: tuple[ProfileStatistic, BallPlan]) -> None:
    """(R5): each draw may be misplaced; (R4): the vector that is bounded may be longer than D_off by |eta|."""
    statistic, ball = found
    first = statistic.profiles[0]
    assert isinstance(first.test, ProfileTest)
    direction, eta = first.line.direction.copy(), np.zeros_like(first.line.direction)
    direction[0], eta[0] = 0.0, 0.1
    line = Line.along(direction, first.line.edges)
    moved = replace(statistic, profiles=(first._replace(line=line, eta=eta),))
    tally = GRADUAL.smoothed.tally(moved.asks(Request(ball.centre, ball.n, Stream(0, 8, "certify"))))
    bound = moved.finding(tally, 0.001, GRADUAL.sigma).bounds[0]
    assert bound.alphas[1] == line.misplaced(ball.n) > line.misplaced(1)
    assert bound.numbers.get("shift", 0.0) >= 0.1
