"""Hard inputs that go on with a control variate: claims that hold, draws that are saved, nothing seen too early."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.audit.coverage import Case, count_misses, misses_allowed, repetitions
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds import leader
from doublebubble.bounds.controlled_votes import is_majority
from doublebubble.bounds.ladder import vote_ladder
from doublebubble.protocols import control, sequential
from doublebubble.protocols.control import Controlling, reserve_for
from doublebubble.search.gradients import Cost
from doublebubble.smoothing import Input
from doublebubble.streams import Stream
from doublebubble.tally import Request

SIGMA = 0.5
NORMAL = np.array([0.6, 0.8])


class Boxed(nn.Module):
    """A classifier without gradients."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, batch: Tensor) -> Tensor:
        logits: Tensor = self.inner(batch.detach())
        return logits.detach()


def made(at: float, model: nn.Module | None = None, batch_size: int = 256, **settings: Any) -> db.Certificate:
    """A certificate at the distance `at` from the plane."""
    smoothed = db.SmoothedClassifier(HalfSpace(NORMAL, 0.0) if model is None else model, SIGMA, 2, None, batch_size)
    asked: dict[str, Any] = {"radii": (0.25, 0.5), "alpha": 0.01, **settings}
    x = torch.tensor(at * NORMAL, dtype=torch.float32)
    return db.Certifier(smoothed, db.CertifyConfig(**asked)).certify(x, index=3)


@pytest.mark.not_reverified("looks at every draw are not those of the protocol")
def test_wrong_claims_are_at_most_alpha_with_a_look_at_every_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distance to the plane is just below the radius, and the direction is a radian off its normal."""
    turned = np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]]) @ NORMAL
    monkeypatch.setattr(sequential, "looks", lambda cap: range(1, cap + 1))
    monkeypatch.setattr(control, "_LEAST_SEEN", 48)
    monkeypatch.setattr(control, "_WORTH", 40)
    monkeypatch.setattr(control, "_MOST_LEFT", 9.0)
    monkeypatch.setattr(Controlling, "_direction", lambda *_: (turned, Cost(), 0))
    sequential._edges.cache_clear()
    case = Case("edge", HalfSpace(NORMAL, 0.75 - 1e-7), torch.zeros(2), SIGMA)
    asked = db.CertifyConfig(radii=(0.75,), alpha=0.3, beta=1e-6, max_draws=160)
    certificates = list(repetitions(case, asked, 120))
    sequential._edges.cache_clear()
    late = [one for one in certificates if "change" in one.balls[0].evidence]
    assert len(late) > 60
    assert count_misses(case, certificates)["cohen"] <= misses_allowed(120, 0.3)
    assert sum(one.radius > 0 for one in late) >= 2, "a bound that is never wrong tests nothing"


def test_fewer_draws_than_counting_votes_needs() -> None:
    """p is 0.0102 above the threshold: ln(1/alpha)/KL(p, p0) = 11 300 draws."""
    found = made(0.52)
    assert found.radius == 0.5
    assert found.draws["certify"] < 8000
    assert found.draws["search"] == 64
    assert found.forward_equivalents["search"] == 3 * 64
    assert "with a control variate since draw" in found.reason
    assert 300 <= found.balls[0].evidence["change"]["at"][0] < 700
    assert set(found.seconds) == {"search", "certify"}


def test_giving_up_takes_fewer_draws_too() -> None:
    found = made(0.48)
    assert (found.radius, found.balls[0].evidence["stop"]) == (0.25, "given_up")
    assert found.draws["certify"] < 5000


def test_a_black_box_goes_on_by_its_past_votes() -> None:
    """No search draws if it is said to be one; those of the attempt if it is not."""
    said = made(0.52, Boxed(HalfSpace(NORMAL, 0.0)).eval(), gradient="approximate")
    tried = made(0.52, Boxed(HalfSpace(NORMAL, 0.0)).eval())
    for found, spent in ((said, 0), (tried, 64)):
        assert found.radius == 0.5
        assert found.draws["search"] == found.forward_equivalents["search"] == spent
        change = found.balls[0].evidence["change"]
        assert sum(map(sum, change["pilot"])) == change["at"][0] - int(0.75 * change["at"][0])
    assert said.balls[0].evidence == tried.balls[0].evidence
    wide = db.SmoothedClassifier(nn.Sequential(nn.Flatten(), nn.Linear(3072, 2)).eval(), SIGMA, 2, None)
    plain = vote_ladder((0.5,), SIGMA, 0.001, 0.05, 100_000)
    config = db.CertifyConfig(radii=(0.5,), gradient="approximate")
    given = Input(0, torch.zeros(3072))
    looked = Controlling(wide, config, plain, given, wide.open_votes(Request(given.x, 10, Stream(0, 0, "certify"))))
    assert not looked.worth(1000, 840, [0]), "a thousand votes show no direction in 3072 dimensions"
    assert looked.worth(40_000, 33_650, [0])


def test_nothing_after_the_look_of_the_change_is_seen() -> None:
    """Large batches draw far ahead: what is fixed at the change, and all that follows, is as with small ones."""
    for gradient in ("full", "approximate"):
        one, *others = [made(0.51, batch_size=size, gradient=gradient, max_draws=4000) for size in (2, 64, 1000)]
        assert "change" in one.balls[0].evidence
        for other in others:
            assert other.balls[0].evidence == one.balls[0].evidence
            assert other.draws == one.draws


def test_the_pilot_is_the_votes_before_the_change_by_bin() -> None:
    found = made(0.51, max_draws=4000)
    smoothed = db.SmoothedClassifier(HalfSpace(NORMAL, 0.0), SIGMA, 2, None)
    change = found.balls[0].evidence["change"]
    draws, hits = change["at"]
    x = torch.tensor(0.51 * NORMAL, dtype=torch.float32)
    votes = smoothed.tally(Request(x, draws, Stream(0, 3, "certify"), keep_votes=True)).votes
    assert votes is not None
    assert (votes == 1).sum() == hits == sum(row[0] for row in change["pilot"])
    noise = torch.empty((draws, 2))
    smoothed.noise.source(Stream(0, 3, "certify"), x).fill(noise)
    z = noise.double().numpy() @ NORMAL
    table = np.zeros((24, 2), int)
    np.add.at(table, (np.digitize(z, change["edges"]), np.where(votes == 1, 0, 1)), 1)
    assert np.abs(table - np.array(change["pilot"])).sum() <= 4, "the direction is the normal, up to rounding"


def test_easy_inputs_and_short_runs_only_count() -> None:
    assert "change" not in made(1.5).balls[0].evidence
    short = made(0.52, max_draws=1000)
    assert "change" not in short.balls[0].evidence
    assert "reserve" not in short.balls[0].evidence
    assert made(0.52).balls[0].evidence["reserve"] > 0


def test_what_is_set_aside() -> None:
    smoothed = db.SmoothedClassifier(HalfSpace(NORMAL, 0.0), SIGMA, 2, None)
    config = db.CertifyConfig(radii=(0.5,))
    assert 1e-6 < reserve_for(smoothed, config, 3072, 0.001) < 1e-5
    assert reserve_for(smoothed, config, 10**6, 0.001) == 0.0, "too many draws would fall in a wrong bin"
    other = db.SmoothedClassifier(HalfSpace(NORMAL, 0.0), SIGMA, 2, None, noise="gaussian64")
    assert reserve_for(other, config, 2, 0.001) == 0.0


class Flat(nn.Module):
    """Class 1 with probability 0.85 by a hash of the input's bits: no direction, no gradient."""

    def forward(self, batch: Tensor) -> Tensor:
        bits = (batch[:, 0].double() * 1e6).frac().abs()
        return torch.stack([(bits > 0.845).double(), torch.full_like(bits, 0.5)], 1) + 0 * batch.sum(1, keepdim=True)


def test_where_nothing_shows_a_direction_counting_goes_on() -> None:
    for gradient in ("full", "approximate"):
        found = made(0.1, Flat().eval(), max_draws=5000, gradient=gradient)
        assert "change" not in found.balls[0].evidence
        assert found.draws["certify"] == 5000
        assert found.draws["search"] == (64 if gradient == "full" else 0)


def test_a_class_that_is_no_majority_yet_is_not_changed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    whole = is_majority

    def told(draws: int, hits: int, alpha: float, cap: int) -> bool:
        asked.append(draws)
        return len(asked) > 3 and whole(draws, hits, alpha, cap)

    monkeypatch.setattr(leader, "is_majority", told)
    found = made(0.52, radii=(0.5,))
    assert len(asked) == 4
    assert found.balls[0].evidence["change"]["at"][0] == asked[-1] > asked[0]
