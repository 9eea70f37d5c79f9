"""Options of protocol `paper` that the publication suggests, and its thrifty form."""

from collections.abc import Sequence

import pytest
from torch import Tensor, nn

from doublebubble import Guarantee, SmoothedClassifier
from doublebubble.audit.oracles import HalfSpace
from doublebubble.config import PaperSearch
from doublebubble.smoothing import SoftRequest, SoftScores
from doublebubble.tally import Request, Tally
from doublebubble.types import GradientKind
from tests.protocols.published import INSIDE, KINDS, certify, half_space, same, settings


def test_fewer_draws_search_and_all_draws_measure() -> None:
    config = settings(paper=PaperSearch(draws=100))
    c = certify(half_space((0.0, 1.0)), config, INSIDE, 0, 1)
    looks = (c.draws["search"] + c.draws["line"]) // 100
    assert looks * 100 == c.draws["search"] + c.draws["line"]
    assert [ball.n for ball in c.balls] == [1000] * len(c.balls)
    assert c.draws["certify"] == 1000 * (len(c.balls) - 1) > 0


@pytest.mark.parametrize("gradient", KINDS)
def test_the_thrifty_form_says_so_and_is_confirmed_by_fresh_draws(
    gradient: GradientKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No stream of a look measures a ball: with one, the search would choose the draws that confirm it."""
    used: list[tuple[str, str]] = []
    tallies, soft_scores = SmoothedClassifier.tallies, SmoothedClassifier.soft_scores_of

    def watched_tallies(self: SmoothedClassifier, requests: Sequence[Request]) -> list[Tally]:
        used.extend((request.stream.stage, request.stream.part) for request in requests)
        return tallies(self, requests)

    def watched_scores(self: SmoothedClassifier, requests: Sequence[SoftRequest]) -> list[SoftScores]:
        used.extend((request.stream.stage, request.stream.part) for request in requests)
        return soft_scores(self, requests)

    monkeypatch.setattr(SmoothedClassifier, "tallies", watched_tallies)
    monkeypatch.setattr(SmoothedClassifier, "soft_scores_of", watched_scores)
    c = certify(half_space((0.0, 1.0)), settings(gradient, paper=PaperSearch.thrifty()), INSIDE, 0, 1)
    assert len(c.balls) == 3
    assert [ball.n for ball in c.balls] == [1000] * 3
    assert [one for one in used if one[0] != "search"] == [
        ("select", "input"),
        ("certify", "second"),
        ("certify", "third"),
    ]
    assert {one for one in used if one[0] == "search"} == {("search", "second/0"), ("search", "third/0")}
    assert c.draws["certify"] == 2000
    assert "by the thrifty form of the published search (looks of 256 fixed draws" in c.reason
    assert "each find confirmed by 1000 draws of its own); it is not a guarantee at any level" in c.reason
    assert "as published" not in c.reason
    assert c.guarantee is Guarantee.NONE
    published = certify(half_space((0.0, 1.0)), settings(gradient), INSIDE, 0, 1)
    assert "as published" in published.reason
    assert "thrifty" not in published.reason


class Recorder(nn.Module):
    """A half-space that keeps the first row of every batch it was fed."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.seen = HalfSpace([0.6, 0.8, 0.0], -0.7), list[Tensor]()

    def forward(self, batch: Tensor) -> Tensor:
        self.seen.append(batch[:2].detach().clone())
        logits: Tensor = self.inner(batch)
        return logits


@pytest.mark.parametrize("fixed", [False, True])
def test_no_two_looks_share_noise_unless_the_draws_are_fixed(fixed: bool) -> None:
    recorder = Recorder().eval()
    smoothed = SmoothedClassifier(recorder, 0.5, 2, batch_size=200)
    config = settings(n=200, methods=("single",), paper=PaperSearch(fixed_draws=fixed, iterations=6))
    smoothed.counts(INSIDE, 1, seed=0, index=0)  # the first look at the rows comes once, before the first draws
    recorder.seen.clear()
    c = certify(smoothed, config, INSIDE, 0, 1)
    noise = {tuple((rows[0] - rows[1]).mul(1e3).round().tolist()) for rows in recorder.seen}
    looks = c.draws["search"] // 200
    assert looks >= 3
    assert len(noise) == (2 if fixed else 1 + looks)


def test_momentum_and_calibrated_noise_change_the_path() -> None:
    plain, heavy, noisy = (
        certify(
            half_space((0.0, 1.0)), settings(methods=("single",), paper=PaperSearch.model_validate(extra)), INSIDE, 0, 1
        )
        for extra in ({}, {"momentum": 0.5}, {"calibrated_noise": 0.5})
    )
    assert not same(plain, heavy)
    assert not same(plain, noisy)
