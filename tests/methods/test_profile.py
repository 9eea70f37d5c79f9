"""Profiles at one centre: valid on oracles, larger than votes where the boundary is gradual, each part needed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import doublebubble as db
from doublebubble.audit.cases import boxed_cases, orthonormal
from doublebubble.audit.coverage import Case, count_misses, misses_allowed, repetitions
from doublebubble.audit.oracles import HalfSpace, LinearClassifier
from doublebubble.bounds.profile import ProfileTest
from doublebubble.bounds.votes import rest_bound
from doublebubble.errors import SettingError
from doublebubble.lines import Line
from doublebubble.methods.profile import ProfileStatistic, by_vote
from doublebubble.search import profile as design
from doublebubble.search.plan import BallPlan
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from tests.methods.made import method, trials

D = 20
GRADUAL = Case("linear", LinearClassifier(orthonormal(5, D), [0.5, 0.1, 0.1, 0.1, 0.1]), torch.zeros(D), 0.5)
"""Four rivals share the rest evenly, so that along the line towards one of them the votes change gradually."""


@pytest.fixture(autouse=True)
def _few_sectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer bins, sectors and rings than usual, for the sake of time; all are valid."""
    monkeypatch.setattr(design, "BINS", 12)
    monkeypatch.setattr(design, "_RINGS", 2)
    monkeypatch.setattr(design, "_NEAR_ENDS", (0.0, 0.3, 0.55, 0.8, 1.1, 1.7))
    monkeypatch.setattr(design, "_SHARES", ((0.15, 0.7),))


def name(case: Case) -> str:
    return case.name


def test_profiles_hold_from_end_to_end() -> None:
    case = boxed_cases()[2]
    config = db.CertifyConfig(n=2000, n0=100, alpha=0.2, methods=("profile",))
    misses = count_misses(case, list(repetitions(case, config, 6)))
    assert misses["profile"] <= misses_allowed(6, 0.2)


def test_a_gradual_boundary_gains() -> None:
    config = db.CertifyConfig(n=20_000, methods=("cohen", "first_order", "profile"))
    cert = db.Certifier(GRADUAL.smoothed, config).certify(GRADUAL.x, index=0)
    assert cert.radii["profile"] > 1.05 * max(cert.radii["first_order"], cert.radii["cohen"])
    assert cert.radii["profile"] < GRADUAL.truth[1]
    assert cert.forward_equivalents["search"] < 20_000


def test_nothing_is_gained_or_claimed_at_a_half_space() -> None:
    """The worst case of (S3): a profile knows that, and never exceeds the truth."""
    case = Case("half-space", HalfSpace(np.array([1.0, 0, 0, 0]), 0.3), torch.zeros(4), 0.5)
    config = db.CertifyConfig(n=20_000, methods=("cohen", "profile"))
    certs = db.Certifier(case.smoothed, config).certify_many([case.x] * 4, range(4))
    assert max(cert.radii["profile"] for cert in certs) <= 0.3
    assert min(cert.radii["profile"] / cert.radii["cohen"] for cert in certs) > 0.95


def test_a_black_box_gets_its_line_from_votes() -> None:
    found = method("profile").propose(trials(GRADUAL, 40_000, 0, gradient="approximate"))
    assert found.gain >= 0


# The statistic itself


def planned() -> tuple[ProfileStatistic, BallPlan]:
    proposal = method("profile").propose(trials(GRADUAL, 20_000, 0))
    (ball,) = proposal.plan.balls
    assert isinstance(ball.statistic, ProfileStatistic)
    return ball.statistic, ball


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


def test_the_design_sees_search_draws_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines, bins, prices and stakes come from streams of the search: none is ever counted again."""
    stages: list[str] = []
    given = trials(GRADUAL, 20_000, 0)
    tallies, scores = db.SmoothedClassifier.tallies, db.SmoothedClassifier.soft_scores

    def watched(smoothed: db.SmoothedClassifier, requests: Sequence[Request]) -> list[Tally]:
        stages.extend(request.stream.stage for request in requests)
        return tallies(smoothed, requests)

    def softly(smoothed: db.SmoothedClassifier, x: Tensor, n: int, stream: Stream, *rest: Any, **more: Any) -> Any:
        stages.append(stream.stage)
        return scores(smoothed, x, n, stream, *rest, **more)

    monkeypatch.setattr(db.SmoothedClassifier, "tallies", watched)
    monkeypatch.setattr(db.SmoothedClassifier, "soft_scores", softly)
    (ball,) = method("profile").propose(given).plan.balls
    assert isinstance(ball.statistic, ProfileStatistic)
    assert len(stages) >= 3  # two looks, and the votes by bins
    assert set(stages) == {"search"}


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


@pytest.mark.parametrize(
    ("votes", "n", "pays"),
    [([300, 150, 50], 20_000, True), ([499, 1, 0], 20_000, False), ([300, 150, 50], 2000, False)],
)
def test_auto_searches_for_profiles_only_where_they_usually_pay(votes: list[int], n: int, pays: bool) -> None:
    given = trials(Case("linear", LinearClassifier(orthonormal(3, D), [0.5, 0.1, 0.1]), torch.zeros(D), 0.5), n)
    given.selected = np.array(votes)
    assert method("profile").promising(given) is pays


def test_what_is_stored_ends_at_the_radius_reached(found: tuple[ProfileStatistic, BallPlan]) -> None:
    statistic, ball = found
    tally = GRADUAL.smoothed.tally(statistic.asks(Request(ball.centre, ball.n, Stream(0, 7, "certify"))))
    made = statistic.finding(tally, 0.001, GRADUAL.sigma)
    for bound in made.bounds:
        if bound.rivals is not None:
            stored = made.evidence["profiles"][str(bound.rivals[0])]["sectors"]
            assert max(sector["inner"] for sector in stored) <= bound.radius / GRADUAL.sigma
            assert max(sector["outer"] or np.inf for sector in stored) > bound.radius / GRADUAL.sigma
