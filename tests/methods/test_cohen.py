"""All draws at the input, votes alone."""

import numpy as np
import torch

import doublebubble as db
from doublebubble.bounds import VotesRule, votes_bound
from doublebubble.method import PublishedBalls
from doublebubble.methods.cohen import VotesStatistic
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from tests.methods.made import method, proposal


def test_the_plan_is_all_draws_at_the_input() -> None:
    found = proposal("cohen")
    (ball,) = found.plan.balls
    assert (ball.part, ball.n, ball.at_input) == ("input", 20_000, True)
    assert found.gain == 0.0
    request = Request(torch.zeros(2), 10, Stream(0, 0, "certify"))
    assert ball.statistic.asks(request) is request


def test_the_statistic_is_named_after_its_rule() -> None:
    assert VotesStatistic(VotesRule(0, binary=True)).name == "binary"
    assert VotesStatistic(VotesRule(0, binary=False)).name == "multiclass"


def test_the_rule_of_a_statistic_is_the_one_it_was_made_with() -> None:
    """Whichever rule would give more: the better of two, seen after the draws, is not valid at their level."""
    for votes in ([900, 60, 40], [600, 300, 100], [500, 250, 250]):
        tally = Tally(np.array(votes), 1000, (1000, 0), None, None)
        for rule in (VotesRule(0, binary=True), VotesRule(0, binary=False)):
            found = VotesStatistic(rule).finding(tally, 0.001, 0.5)
            assert found.bounds == tuple(votes_bound(np.array(votes), rule, 0.001, 0.5))
            assert {bound.rule for bound in found.bounds} == {"binary" if rule.binary else "counts"}


def test_many_classes_cost_nothing() -> None:
    """Lemma I: the same votes certify the same radius whether the model has 4 classes or 400."""
    W = np.eye(4, 6)
    radii = []
    for classes in (4, 400):
        weights = np.vstack([W, np.zeros((classes - 4, 6))])
        offsets = [0.4, 0.0, 0.1, 0.0, *[-50.0] * (classes - 4)]
        smoothed = db.SmoothedClassifier(Scores(weights, offsets).eval(), 0.5, classes, None, batch_size=500)
        cert = db.Certifier(smoothed, db.CertifyConfig(n=2000, methods=("cohen",))).certify(torch.zeros(6), index=0)
        assert cert.balls[0].statistic == "multiclass"
        radii.append(cert.radius)
    assert radii[0] == radii[1] > 0


class Scores(torch.nn.Module):
    """Linear scores of any shape."""

    def __init__(self, weights: "np.ndarray[tuple[int, int], np.dtype[np.float64]]", offsets: list[float]) -> None:
        super().__init__()
        self.weights, self.offsets = torch.tensor(weights).float(), torch.tensor(offsets)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return batch @ self.weights.T + self.offsets


def test_the_published_radius() -> None:
    assert method("cohen").published(PublishedBalls(np.zeros(2), None, 0.25)) == 0.25
