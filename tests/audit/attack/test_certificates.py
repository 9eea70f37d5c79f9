"""Attacks on certificates of oracles whose true robust distance is known: never below it, and close to it."""

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.audit.attack.confirming import TRIES, distance_up, sign_test
from doublebubble.audit.cases import boxed_cases, free_cases
from doublebubble.errors import InputError, ModelError, SettingError
from doublebubble.runs.attacks import Attacked, AttackSettings
from doublebubble.smoothing import SmoothedClassifier, SoftRequest, SoftScores
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally

CASES = {case.name: case for case in free_cases() + boxed_cases()}
SURE = AttackSettings(n=60_000)
QUICK = AttackSettings(n=2000, draws=64, steps=4, restarts=2)
REACHED = [
    name for name in CASES if "close" not in name and name not in ("half-space at a corner", "intervals at the end")
]


@functools.cache
def certified(name: str) -> db.Certificate:
    certificate = db.Certifier(CASES[name].smoothed, db.CertifyConfig(n=4000, n0=200)).certify(CASES[name].x, index=2)
    assert certificate.radius > 0
    return certificate


@functools.cache
def attacked(name: str) -> Attacked:
    return db.attack(certified(name), CASES[name].smoothed, CASES[name].x, SURE)


@pytest.mark.parametrize("name", REACHED)
def test_a_success_is_no_nearer_than_the_truth_and_not_much_farther(name: str) -> None:
    """How much farther: what 60 000 draws can show at 1e-6 is a lead of 0.027, about 0.034 sigma at a boundary."""
    case, found = CASES[name], attacked(name)
    truth = case.truth[1]
    assert found.distance is not None
    assert found.distance >= truth
    assert found.distance <= truth + 0.07 * case.sigma
    assert not found.inside
    assert found.gap == found.distance - found.radius
    assert found.searched >= found.radius
    if name.startswith("half-space"):
        assert found.distance <= 1.09 * truth


@pytest.mark.parametrize("name", REACHED)
def test_the_point_of_a_success_lies_in_the_domain_and_there_the_rival_is_likelier(name: str) -> None:
    case, found = CASES[name], attacked(name)
    point = found.where(tuple(case.x.shape))
    assert point is not None
    assert found.distance is not None
    if case.domain is not None:
        assert point.min() >= case.domain[0]
        assert point.max() <= case.domain[1]
    assert (
        distance_up(point, case.x.double().numpy()) <= found.distance <= np.linalg.norm(point - case.x.numpy()) + 2e-6
    )
    shares = case.oracle.probabilities(point, case.sigma)
    assert shares[found.rival] > shares[found.prediction]
    assert found.votes is not None
    assert found.p_value == sign_test(*found.votes) <= 1e-6 / TRIES


@pytest.mark.parametrize("name", ["half-space at a corner", "intervals at the end"])
def test_where_the_whole_domain_has_one_class_nothing_is_found(name: str) -> None:
    assert CASES[name].truth[1] == float("inf")
    found = db.attack(certified(name), CASES[name].smoothed, CASES[name].x, QUICK)
    assert (found.distance, found.rival, found.votes, found.point, found.inside) == (None, None, None, None, False)
    assert found.searched >= 0.99  # as far as the domain, or four sigmas beyond the radius


@pytest.mark.parametrize("name", ["half-space", "slab", "half-space at a face", "ball in a box"])
def test_a_radius_that_is_too_large_is_caught(name: str) -> None:
    case = CASES[name]
    truth = case.truth[1]
    for factor in (1.25, 2.0):
        forged = replace(certified(name), radius=factor * truth)
        found = db.attack(forged, case.smoothed, case.x, SURE)
        assert found.inside
        assert found.distance is not None
        assert truth <= found.distance < factor * truth


def test_successes_that_are_confirmed_are_true_at_any_level() -> None:
    """At a level so weak that half of all false claims would pass, attacks on the truth itself stay as rare."""
    case, weak = CASES["half-space"], AttackSettings(n=400, draws=32, steps=2, restarts=1, level=0.2, reach=0.0)
    truth, smoothed = case.truth[1], case.smoothed
    honest = replace(certified("half-space"), radius=0.999 * truth)
    false = 0
    for index in range(60):
        found = db.attack(replace(honest, index=index), smoothed, case.x, weak)
        false += found.distance is not None and found.distance < truth
    assert false <= 60 * 0.2


class Votes(nn.Module):
    """A black box: the class as a one-hot row, without a gradient."""

    def __init__(self, oracle: nn.Module) -> None:
        super().__init__()
        self.oracle = oracle

    def forward(self, batch: Tensor) -> Tensor:
        with torch.no_grad():
            return nn.functional.one_hot(self.oracle(batch).argmax(1), 2).to(batch.dtype)


@pytest.mark.parametrize("name", ["half-space", "half-space at a face", "ball"])
def test_a_black_box_is_attacked_by_its_votes(name: str) -> None:
    case = CASES[name]
    box = SmoothedClassifier(Votes(case.oracle).eval(), case.sigma, 2, case.domain, batch_size=1000)
    with pytest.raises(ModelError, match="without a gradient"):
        db.attack(certified(name), box, case.x, QUICK)
    found = db.attack(certified(name), box, case.x, SURE.model_copy(update={"gradient": "approximate", "draws": 500}))
    assert found.distance is not None
    assert case.truth[1] <= found.distance <= case.truth[1] + 0.1 * case.sigma


def test_the_same_seed_gives_the_same_attack_and_another_one_another() -> None:
    case, made = CASES["slab"], certified("slab")
    first, again = (db.attack(made, case.smoothed, case.x, QUICK) for _ in range(2))
    assert first.without_time() == again.without_time()
    other = db.attack(made, case.smoothed, case.x.numpy(), QUICK.model_copy(update={"seed": 1}))
    assert other.point != first.point


def test_its_draws_are_its_own_and_those_that_confirm_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    case, asked, streams = CASES["slab"], list[Request](), list[Stream]()
    tallies, soft = SmoothedClassifier.tallies, SmoothedClassifier.soft_scores_of

    def watched(self: SmoothedClassifier, requests: Sequence[Request]) -> list[Tally]:
        asked.extend(requests)
        return tallies(self, requests)

    def watched_soft(self: SmoothedClassifier, requests: Sequence[SoftRequest]) -> list[SoftScores]:
        streams.extend(request.stream for request in requests)
        return soft(self, requests)

    monkeypatch.setattr(SmoothedClassifier, "tallies", watched)
    monkeypatch.setattr(SmoothedClassifier, "soft_scores_of", watched_soft)
    made = certified("slab")
    asked.clear()
    streams.clear()
    found = db.attack(made, case.smoothed, case.x, QUICK)
    streams += [ask.stream for ask in asked]
    assert {(stream.seed, stream.index, stream.stage) for stream in streams} == {(0, 2, "attack")}
    apart = [stream for stream in streams if not stream.part.startswith("turn/")]
    assert len(set(apart)) == len(apart), "no two looks share draws but those that compare directions"
    confirming = [ask for ask in asked if ask.stream.part.startswith("confirm/")]
    assert confirming
    assert all(ask.n == QUICK.n for ask in confirming)
    steps = len(streams) - len(asked)
    assert found.draws == steps * QUICK.draws + sum(ask.n for ask in asked)
    assert found.forward_equivalents == 3 * steps * QUICK.draws + sum(ask.n for ask in asked)


def test_what_cannot_be_attacked_is_refused() -> None:
    case = CASES["slab"]
    made = certified("slab")
    with pytest.raises(InputError, match="input 2: expected a certificate with a class and a radius above 0"):
        db.attack(replace(made, radius=0.0), case.smoothed, case.x)
    with pytest.raises(SettingError, match=r"sigma: expected 0\.4, that of the certificate, got 0\.5"):
        db.attack(made, SmoothedClassifier(case.oracle, 0.5, 2, None), case.x)
    with pytest.raises(SettingError, match="program: expected 'eager', that of the certificate"):
        db.attack(made, SmoothedClassifier(case.oracle, 0.4, 2, None, program=db.Program(channels_last=True)), case.x)


def test_a_certificate_of_the_whole_domain_is_attacked_inside_only() -> None:
    case = CASES["half-space at a corner"]
    made = replace(certified(case.name), whole_domain=True, radius=2.0)
    found = db.attack(made, case.smoothed, case.x, QUICK)
    assert found.searched <= 2.0
    case = CASES["half-space at a face"]
    forged = replace(certified(case.name), whole_domain=True, radius=1.6 * case.truth[1])
    assert db.attack(forged, case.smoothed, case.x, SURE).inside
