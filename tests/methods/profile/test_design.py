"""The design of profiles: from search draws alone, with gradients or without."""

from collections.abc import Sequence

import pytest

import doublebubble as db
from doublebubble.methods.profile.statistic import ProfileStatistic
from doublebubble.smoothing import SoftRequest, SoftScores
from doublebubble.tally import Request, Tally
from tests.methods.gradual import GRADUAL
from tests.methods.made import method, trials

pytestmark = pytest.mark.usefixtures("few_sectors")


def test_the_design_sees_search_draws_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines, bins, prices and stakes come from streams of the search: none is ever counted again."""
    stages: list[str] = []
    given = trials(GRADUAL, 20_000, 0)
    tallies, scores = db.SmoothedClassifier.tallies, db.SmoothedClassifier.soft_scores_of

    def watched(smoothed: db.SmoothedClassifier, requests: Sequence[Request]) -> list[Tally]:
        stages.extend(request.stream.stage for request in requests)
        return tallies(smoothed, requests)

    def softly(smoothed: db.SmoothedClassifier, requests: Sequence[SoftRequest]) -> list[SoftScores]:
        stages.extend(request.stream.stage for request in requests)
        return scores(smoothed, requests)

    monkeypatch.setattr(db.SmoothedClassifier, "tallies", watched)
    monkeypatch.setattr(db.SmoothedClassifier, "soft_scores_of", softly)
    (ball,) = method("profile").propose(given).plan.balls
    assert isinstance(ball.statistic, ProfileStatistic)
    assert len(stages) >= 3  # two looks, and the votes by bins
    assert set(stages) == {"search"}


def test_a_black_box_gets_its_line_from_votes() -> None:
    found = method("profile").propose(trials(GRADUAL, 40_000, 0, gradient="approximate"))
    assert found.gain >= 0
