"""Sampling that stops when the question is decided: claims that hold, the same certificates under every schedule."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from scipy.special import ndtr as Phi
from torch import Tensor, nn

import doublebubble as db
from doublebubble.audit.cases import boxed_cases, free_cases, tied_cases
from doublebubble.audit.coverage import Case, count_misses, misses_allowed, repetitions
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds.ladder import looks
from doublebubble.certificate import Status
from doublebubble.errors import BudgetError, DoubleBubbleWarning, SettingError
from doublebubble.noise import NoiseLaw
from doublebubble.protocols import sequential
from doublebubble.smoothing import Input
from doublebubble.streams import Stream
from doublebubble.tally import Request
from doublebubble.types import NoiseName
from tests.protocols.mosaic import GRID, grid_cases
from tests.smoothing.subjects import Recorder, image, small_net

ALPHA = 0.05
SIGMA = 0.5


def config(**settings: Any) -> db.CertifyConfig:
    asked: dict[str, Any] = {"alpha": ALPHA, "radii": (0.125, 0.25, 0.5), "max_draws": 400, **settings}
    return db.CertifyConfig(**asked)


def on_the_edge(radius: float) -> Case:
    """A half-space whose distance is just below `radius`: claiming it is wrong, and as likely as can be."""
    return Case("edge", HalfSpace(np.array([1.0, 0.0]), radius - 1e-7), torch.zeros(2), SIGMA)


@pytest.mark.parametrize("case", [*free_cases(), *boxed_cases(), *tied_cases()], ids=lambda case: case.name)
def test_wrong_claims_are_at_most_alpha_on_every_oracle(case: Case) -> None:
    certificates = list(repetitions(case, config(max_draws=100), 400))
    assert count_misses(case, certificates)["cohen"] <= misses_allowed(400, ALPHA)


@pytest.mark.not_reverified("looks at every draw are not those of the protocol")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_ladder_is_wrong_at_most_alpha_where_one_radius_just_fails(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at every draw, five hundred times: each of the radii in turn is the smallest false one."""
    monkeypatch.setattr(sequential, "looks", lambda cap: range(1, cap + 1))
    sequential._edges.cache_clear()
    asked = config(alpha=0.1, beta=1e-6, max_draws=150)
    case = on_the_edge((asked.radii or ())[place])
    certificates = list(repetitions(case, asked, 500))
    sequential._edges.cache_clear()
    wrong = count_misses(case, certificates)["cohen"]
    assert wrong <= misses_allowed(500, 0.1)
    assert wrong >= 5, "a bound that is never wrong tests nothing"


def test_clear_inputs_are_certified_with_few_draws_and_hopeless_ones_given_up() -> None:
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.0), SIGMA, 2, None, batch_size=64)
    asked = db.CertifyConfig(radii=(0.25, 0.5))
    clear, hopeless, between = db.Certifier(smoothed, asked).certify_many(
        [torch.tensor([at, 0.0]) for at in (2.0, 0.0, 0.37)], range(3)
    )
    assert (clear.prediction, clear.radius, clear.status) == (1, 0.5, Status.CERTIFIED)
    assert clear.draws == {"select": 0, "search": 0, "certify": clear.balls[0].n}
    assert clear.balls[0].n < 60
    assert clear.balls[0].evidence["stop"] == "certified"
    assert "2 of 2 radii certified" in clear.reason
    assert (hopeless.prediction, hopeless.radius, hopeless.status) == (db.ABSTAIN, 0.0, Status.NOT_REACHED)
    assert hopeless.balls[0].n < 300
    assert hopeless.balls[0].evidence["stop"] == "given_up"
    assert (between.prediction, between.radius) == (1, 0.25)
    assert "1 of 2 radii certified; the radii that are not certified are out of reach" in between.reason


def test_the_votes_are_those_of_a_fixed_number_of_draws() -> None:
    """Counts at the look that decided, and at the look of each claim, from the stream itself."""
    smoothed = db.SmoothedClassifier(small_net(), SIGMA, 4, None, batch_size=64)
    for index in range(6):
        made = db.Certifier(smoothed, config()).certify(image(index), index=index)
        ball = made.balls[0]
        votes = smoothed.tally(Request(image(index), 400, Stream(0, index, "certify"), keep_votes=True)).votes
        assert votes is not None
        assert np.bincount(votes[: ball.n], minlength=4).tolist() == ball.counts.tolist()
        assert ball.n in set(looks(400))
        for draws, hits, _ in ball.evidence["wins"]:
            assert int((votes[:draws] == ball.evidence["top"]).sum()) == hits


@pytest.mark.parametrize(
    "asked", [config(), config(radii=None, precision=0.9, max_draws=2000)], ids=["radii", "precision"]
)
def test_the_same_certificates_at_every_batch_size_and_in_any_company(asked: db.CertifyConfig) -> None:
    xs = [torch.tensor([0.12 * seed, 0.0]) for seed in range(9)]
    model = HalfSpace(np.array([1.0, 0.0]), 0.05)
    single = db.Certifier(db.SmoothedClassifier(model, SIGMA, 2, None), asked)
    alone = [single.certify(x, index=i) for i, x in enumerate(xs)]
    assert len({made.balls[0].n for made in alone}) > 3
    for batch_size in (2, 7, 1000):
        smoothed = db.SmoothedClassifier(model, SIGMA, 2, None, batch_size=batch_size)
        assert db.Certifier(smoothed, asked).certify_many(xs, range(9)) == alone
    backwards = db.Certifier(smoothed, asked).certify_many(xs[::-1], range(8, -1, -1))
    assert backwards[::-1] == alone
    twice = db.Certifier(smoothed, asked).certify_many([xs[3], xs[3]])
    assert twice[0] == twice[1]


def test_a_stream_of_inputs_gives_the_same_and_takes_them_as_room_is_made() -> None:
    taken: list[int] = []

    def inputs() -> Iterator[Input]:
        for index in range(30):
            taken.append(index)
            yield Input(index, image(index))

    smoothed = db.SmoothedClassifier(small_net(), SIGMA, 4, None, batch_size=16)
    stream = db.Certifier(smoothed, config()).certify_stream(inputs())
    assert taken == []
    first = next(stream)
    assert 0 < len(taken) < 30, "the pool is four micro-batches of the smallest pieces"
    found = {made.index: made for made in (first, *stream)}
    assert taken == list(range(30))
    many = db.Certifier(smoothed, config()).certify_many([image(i) for i in range(30)], range(30))
    assert [found[i] for i in range(30)] == many


class Counted(Recorder):
    """Votes of the first class wherever the first coordinate is above 0; counts rows that are not all zero."""

    def real_rows(self) -> int:
        return sum(int((batch.flatten(1) != 0).any(1).sum()) for batch in self.seen)


def test_micro_batches_are_full() -> None:
    recorder = Counted().eval()
    smoothed = db.SmoothedClassifier(recorder, SIGMA, 2, None, batch_size=32)
    asked = db.CertifyConfig(radii=(0.25, 0.5))
    xs = [torch.full((4,), 0.1 * seed + 0.03) for seed in range(1, 13)]
    smoothed.counts(xs[0], 1, seed=0, index=99, stage="audit")
    recorder.seen.clear()
    made = db.Certifier(smoothed, asked).certify_many(xs, range(12))
    looks = [batch for batch in recorder.seen if len(batch) < 32]
    recorder.seen = [batch for batch in recorder.seen if len(batch) == 32]
    rows = 32 * len(recorder.seen)
    assert recorder.real_rows() == rows, "no row is padding"
    assert sum(map(len, looks)) < rows // 100, "and next to none is run to try out the model"
    used = sum(one.balls[0].n for one in made)
    assert rows < used + 12 * 33 + used // 50, "and few are drawn in vain"


class Neighbourly(nn.Module):
    """Rows influence each other in the last bits."""

    def forward(self, batch: Tensor) -> Tensor:
        first = batch.flatten(1)[:, 0]
        return torch.stack([first, 1e-6 * first.roll(1)], 1)


def test_inputs_whose_rows_are_not_interchangeable_do_not_share_batches() -> None:
    xs = [torch.full((3,), 0.1 * seed) for seed in range(5)]
    many, alone = (db.SmoothedClassifier(Neighbourly().eval(), SIGMA, 2, None, batch_size=32) for _ in range(2))
    together = db.Certifier(many, config()).certify_many(xs, range(5))
    for index, x in enumerate(xs):
        assert db.Certifier(alone, config()).certify(x, index=index) == together[index]
        counts = alone.counts(x, 400, seed=0, index=index)
        if together[index].balls[0].n == 400:
            assert together[index].balls[0].counts.tolist() == counts.tolist()


def test_a_precision_brackets_the_radius() -> None:
    case = Case("plain", HalfSpace(np.array([1.0, 0.0]), 0.4), torch.zeros(2), SIGMA)
    asked = db.CertifyConfig(precision=0.2, alpha=0.01, beta=0.05)
    found = list(repetitions(case, asked, 20))
    assert all(made.radius <= 0.4 for made in found)
    assert {made.balls[0].evidence["stop"] for made in found} == {"precise"}
    assert sum(made.radius * 1.2 >= 0.4 for made in found) >= 16
    assert np.median([made.balls[0].n for made in found]) < 20_000
    assert "no more than the precision" in found[0].reason


def test_radii_are_recorded_as_they_were_asked_for() -> None:
    """0.3 is a float below three tenths: its certificate must not be written down as 0.299999."""
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0]), 5.0), SIGMA, 2, None)
    for radius in (0.1, 0.3, 0.7, 0.25, 0.123457):
        run = db.certify(
            smoothed.model, torch.zeros(2, 1), SIGMA, num_classes=2, radii=(radius,), domain=None, quiet=True
        )
        assert run.records[0].radius == radius


def test_the_levels_leave_room_for_the_classes_that_do_not_lead() -> None:
    edges = sequential.edges_of(db.CertifyConfig(radii=(0.001, 0.5)), SIGMA)
    first, second = edges.ladder.levels
    assert first == pytest.approx(0.0005, rel=0.02)
    power = np.log(first) / np.log(Phi(0.002))
    assert second + Phi(-0.002) ** power <= 0.001


def test_radii_that_no_votes_can_reach_are_said_before_the_work() -> None:
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0]), 5.0), SIGMA, 2, None)
    with pytest.warns(DoubleBubbleWarning, match="cannot certify radius 2, even if all of them agree"):
        db.Certifier(smoothed, config(radii=(0.25, 2.0), max_draws=100))
    with pytest.raises(SettingError, match=r"7\.9 sigma"):
        db.Certifier(smoothed, config(radii=(4.5,)))


def test_a_stopped_certificate_differs_by_what_it_claims() -> None:
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0]), 5.0), SIGMA, 2, None)
    made = db.Certifier(smoothed, config()).certify(torch.zeros(1), index=1)
    assert made != replace(made, radius=0.1)
    assert made.guarantee is db.Guarantee.EXACT
    assert "class 1, radius 0.500000" in repr(made)


# Exact noise


def on_grid(case: Case, batch_size: int = 1000) -> db.SmoothedClassifier:
    classes = case.oracle.num_classes
    return db.SmoothedClassifier(case.oracle, case.sigma, classes, case.domain, batch_size, noise="lattice", grid=GRID)


@pytest.mark.parametrize("case", grid_cases(), ids=lambda case: case.name)
def test_wrong_claims_are_at_most_alpha_on_the_grid(case: Case) -> None:
    """The larger radius is a little beyond the truth; at a half-space, where the bound is tight, it is claimed."""
    truth = min(case.truth[1], 0.6)
    radii = (round(truth / 2, 6), math.ceil(truth * 1e6 + 1) / 1e6)
    asked = config(radii=radii, max_draws=100, beta=1e-6)
    certificates = list(repetitions(case, asked, 400, on_grid(case)))
    wrong = count_misses(case, certificates)["cohen"]
    assert wrong <= misses_allowed(400, ALPHA)
    assert wrong > 0 or case.name != "half-space on the grid", "a bound that is never wrong tests nothing"


def test_the_loss_of_all_draws_up_to_the_cap_is_taken_off_first() -> None:
    """In exact arithmetic, however few draws were made, and the levels of the ladder are those of what is left."""
    case = grid_cases()[0]
    smoothed, asked = on_grid(case), config(radii=(0.125,), alpha=0.001)
    made = db.Certifier(smoothed, asked).certify(case.x, index=1)
    ball = made.balls[0]
    assert ball.n < 400
    assert made.noise.loss == smoothed.noise.loss(400, 3, 0.001) > 0
    assert (made.noise.name, made.noise.grid) == ("lattice", GRID)
    assert (made.noise.low, made.noise.high) == smoothed.noise.limits
    spent = Fraction(made.noise.loss) + Fraction(ball.alpha)
    assert Fraction(0.001) * (1 - Fraction(1, 10**12)) < spent <= Fraction(0.001)
    assert made.alpha == 0.001


@pytest.mark.not_reverified("its loss is planted")
def test_a_loss_costs_draws() -> None:
    case = grid_cases()[0]
    asked = config(radii=(0.125, 0.25), alpha=0.001, max_draws=2000)
    plain = db.Certifier(on_grid(case), asked).certify_many([case.x] * 10, range(10))
    with mock.patch.object(NoiseLaw, "loss", lambda self, draws, dimension, alpha: alpha / 10):
        dear = db.Certifier(on_grid(case), asked).certify_many([case.x] * 10, range(10))
    for one, other in zip(plain, dear, strict=True):
        assert other.balls[0].alpha == pytest.approx(0.0009)
        levels = zip(one.balls[0].evidence["levels"], other.balls[0].evidence["levels"], strict=True)
        assert all(less < 0.91 * level for level, less in levels)
    assert sum(one.balls[0].n for one in dear) > sum(one.balls[0].n for one in plain)


def test_a_cap_whose_loss_is_too_large_is_refused_before_any_draw() -> None:
    case = grid_cases()[0]
    asked = config(alpha=1e-9, max_draws=10**9)
    with (
        mock.patch.object(sequential, "edges_of", side_effect=AssertionError("it went on")),
        mock.patch.object(db.Certifier, "_warn_if_out_of_reach"),
        pytest.raises(BudgetError, match="at most 1/10 of alpha"),
    ):
        db.Certifier(on_grid(case), asked).certify(case.x, index=0)


@pytest.mark.parametrize("noise", ["lattice", "gaussian64"])
def test_exact_noise_gives_the_same_certificates_at_every_batch_size_and_in_any_order(noise: NoiseName) -> None:
    """Of the draws that a fixed number has, as many as were looked at."""
    case = grid_cases()[4]
    xs = [torch.tensor([i / GRID, j / GRID]) for i in range(5) for j in range(2)]
    grid = GRID if noise == "lattice" else None

    def made(batch_size: int, order: range) -> list[db.Certificate]:
        smoothed = db.SmoothedClassifier(
            case.oracle, case.sigma, case.oracle.num_classes, case.domain, batch_size, noise=noise, grid=grid
        )
        return db.Certifier(smoothed, config()).certify_many([xs[i] for i in order], order)

    first = made(1000, range(10))
    assert len({one.balls[0].n for one in first}) > 3
    assert all(made(batch_size, range(10)) == first for batch_size in (2, 7))
    assert made(64, range(9, -1, -1))[::-1] == first
    smoothed = db.SmoothedClassifier(case.oracle, case.sigma, 3, case.domain, 64, noise=noise, grid=grid)
    for index, one in enumerate(first):
        votes = smoothed.tally(Request(xs[index], 400, Stream(0, index, "certify"), keep_votes=True)).votes
        assert votes is not None
        assert np.bincount(votes[: one.balls[0].n], minlength=3).tolist() == one.balls[0].counts.tolist()
        assert one.noise.name == noise


def test_gaussian64_takes_nothing_off_alpha() -> None:
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0]), 0.7), SIGMA, 2, None, noise="gaussian64")
    made = db.Certifier(smoothed, config()).certify(torch.zeros(1), index=0)
    assert made.noise == db.certificate.Noise("gaussian64")
    assert made.balls[0].alpha == ALPHA
    assert made.radius == 0.5


@pytest.mark.not_reverified("no draws are made")
def test_the_majority_is_asked_for_at_the_level_that_was_set_aside() -> None:
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0]), 0.0), 0.5, 2, None)
    asked = db.CertifyConfig(alpha=0.001, beta=0.05, radii=(0.5,), max_draws=10_000)
    one = sequential._Sampling(smoothed, asked, 0, Input(0, torch.zeros(1)))
    with mock.patch.object(sequential, "may_change", return_value=False) as asking:
        one._changed(one._race)
    assert [call.args[2] for call in asking.call_args_list] == [0.001]
