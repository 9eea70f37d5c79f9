"""Votes that were looked at as they came: true certificates are confirmed, forged ones are not."""

import functools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import ndtr as Phi

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.audit.reverify import Confirmation, Verdict, reverify
from doublebubble.audit.reverify.numbers import mp
from doublebubble.audit.reverify.runs import reverify_run
from doublebubble.audit.reverify.sequence import _bet, _levels, _log_wealth, _looks
from doublebubble.bounds.ladder import looks
from doublebubble.bounds.leader import open_levels
from doublebubble.bounds.sequences import log_wealth, vote_bet
from doublebubble.noise import NoiseLaw
from doublebubble.runs.store import read_run

pytestmark = pytest.mark.not_reverified("errors are planted")
RADII = (0.125, 0.25, 0.5, 1.0)


@functools.cache
def made(kind: str = "radii") -> db.Certificate:
    """Three of four radii certified, or a radius to a precision."""
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.7), 0.5, 2, None)
    question: dict[str, Any] = {"radii": RADII} if kind == "radii" else {"precision": 0.2}
    return db.Certifier(smoothed, db.CertifyConfig(**question)).certify(torch.zeros(2), index=3)


def forged(certificate: db.Certificate, **fields: Any) -> Verdict:
    """The verdict on a certificate whose evidence has other fields."""
    ball = certificate.balls[0]
    return reverify(replace(certificate, balls=(replace(ball, evidence={**ball.evidence, **fields}),)))


def refuted(verdict: Verdict, words: str) -> bool:
    assert words in verdict.sentence
    return verdict.outcome is Confirmation.REFUTED


@pytest.mark.parametrize("kind", ["radii", "precision"])
def test_a_true_certificate_is_confirmed(kind: str) -> None:
    assert made(kind).radius > 0
    verdict = reverify(made(kind))
    assert verdict.outcome is Confirmation.CONFIRMED, verdict.sentence


def test_the_wealth_is_that_of_the_bet() -> None:
    """Two implementations of one rule: stakes, weights and wealth agree to what rounding takes off."""
    for t in (0.0, 0.5, 2.0, 5.0):
        for level, cap in ((0.001, 100_000), (0.3, 20), (1e-9, 1000)):
            for draws, hits in ((10, 10), (10, 7), (1000, 990), (20_000, 15_000)):
                here = float(_log_wealth(_bet(mp.mpf(t), mp.mpf(level), cap), draws, hits))
                there = float(log_wealth(vote_bet(t, level, cap), [hits, draws - hits]))
                assert there <= here + 1e-9 * (1 + abs(here))
                assert here == pytest.approx(there, rel=1e-7, abs=1e-7)


def test_levels_and_looks_are_those_of_the_ladder() -> None:
    for radii in ((0.25,), RADII, (1e-3, 2.0)):
        levels = _levels([mp.ncdf(radius) for radius in radii], mp.mpf(0.001))
        assert [float(level) for level in levels] == pytest.approx(list(open_levels(radii, 1.0, 0.001)), rel=1e-9)
        assert all(a >= b for a, b in zip(levels, open_levels(radii, 1.0, 0.001), strict=True))
    for cap in (1, 3, 4, 5, 100, 100_000):
        assert _looks(cap) == set(looks(cap))


def test_a_larger_radius_is_refuted() -> None:
    true = made()
    radius = RADII[3]
    ball = replace(true.balls[0], radius=radius)
    claims: dict[str, Any] = {"radius": radius, "radii": {"cohen": radius}}
    assert refuted(reverify(replace(true, **claims)), "exceeds the")
    assert refuted(reverify(replace(true, **claims, balls=(ball,))), "not the last of those that won")
    wins = [*true.balls[0].evidence["wins"], [true.balls[0].n, int(true.balls[0].counts[1]), 1]]
    looked = replace(ball, evidence={**ball.evidence, "wins": wins, "stop": "certified"})
    assert refuted(reverify(replace(true, **claims, balls=(looked,))), "has not won at")


def test_a_precise_radius_cannot_climb_a_rung() -> None:
    true = made("precision")
    ball = true.balls[0]
    radius = true.radius * 1.2 ** (1 / 3)
    *before, (draws, hits, times) = ball.evidence["wins"]
    climbed = replace(ball, radius=radius, evidence={**ball.evidence, "wins": [*before, [draws, hits, times + 1]]})
    claims: dict[str, Any] = {"radius": radius, "radii": {"cohen": radius}}
    assert refuted(reverify(replace(true, **claims, balls=(climbed,))), "has not won at")
    between = replace(climbed, radius=true.radius * 1.001)
    claims = {"radius": true.radius * 1.001, "radii": {"cohen": true.radius * 1.001}}
    assert refuted(reverify(replace(true, **claims, balls=(between,))), "not a rung")


def test_other_radii_are_refuted() -> None:
    for radii in ([0.125, 0.25, 0.6, 1.0], [0.125, 0.3, 0.5, 1.0], [0.5, 0.25, 0.125, 1.0], [-0.5, 0.25, 0.5, 1.0]):
        assert forged(made(), radii=radii).outcome is Confirmation.REFUTED
    assert refuted(forged(made(), radii=[0.125, 0.25]), "more radii won")
    assert refuted(forged(made(), radii=[0.125, 0.25, math.nan, 1.0]), "finite")


def test_levels_above_what_the_theorem_allows_are_refuted() -> None:
    levels = list(made().balls[0].evidence["levels"])
    assert refuted(forged(made(), levels=[0.001, *levels[1:]]), "Theorem O allows")
    assert refuted(forged(made(), levels=[levels[0], 0.0011, *levels[2:]]), "Theorem O allows")
    assert refuted(forged(made(), levels=[0.9 * levels[0], *levels[1:]]), "not that of the ladder")
    assert refuted(forged(made(), levels=levels[:-1]), "as many levels")


def test_a_first_level_must_leave_room_for_the_classes_that_do_not_lead() -> None:
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.7), 0.5, 2, None)
    one = db.Certifier(smoothed, db.CertifyConfig(radii=(0.05,))).certify(torch.zeros(2), index=3)
    ball = one.balls[0]
    (level,) = ball.evidence["levels"]
    assert level < 0.001
    for higher in (level * (1 + 1e-6), 0.001):
        changed = replace(ball, evidence={**ball.evidence, "levels": [higher]})
        assert refuted(reverify(replace(one, balls=(changed,))), "Theorem O allows")


@pytest.mark.parametrize(("radii", "alpha"), [((0.01, 0.55, 0.92), 0.3), ((0.01, 0.41, 1.02), 0.2)])
def test_levels_that_follow_from_a_first_one_a_little_lower_are_confirmed(
    radii: tuple[float, ...], alpha: float
) -> None:
    """A lower first level leaves a little more for the others; Theorem O asks for no more than that they fit it."""
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.9), 0.5, 2, None)
    config = db.CertifyConfig(radii=radii, alpha=alpha, max_draws=1500)
    certificate = db.Certifier(smoothed, config).certify(torch.zeros(2), index=3)
    levels = certificate.balls[0].evidence["levels"]
    own = _levels([mp.ncdf(mp.mpf(radius) / mp.mpf(0.5)) for radius in radii], mp.mpf(alpha))
    assert any(mp.mpf(level) > most for level, most in zip(levels, own, strict=True))
    verdict = reverify(certificate)
    assert verdict.outcome is Confirmation.CONFIRMED, verdict.sentence


def test_looks_that_did_not_win_are_refuted() -> None:
    wins = made().balls[0].evidence["wins"]
    first = wins[0]
    assert refuted(forged(made(), wins=[[first[0] - 2, first[1] - 2, 1], *wins[1:]]), "has not won at")
    later = [[first[0], first[0] + 5, 1], *wins[1:]]
    assert refuted(forged(made(), wins=later), "not one sequence")
    skipped = [[draws + 1, hits + 1, times] for draws, hits, times in wins]
    assert any(draws + 1 not in set(looks(100_000)) for draws, *_ in wins)
    assert refuted(forged(made(), wins=skipped), "not a look")
    assert refuted(forged(made(), wins=wins[::-1]), "")
    assert refuted(forged(made(), wins=wins[:-1]), "not the last")
    assert refuted(forged(made(), wins=[[first[0], first[1], 3]]), "has not won")
    assert refuted(forged(made(), wins=[[*first[:2], 0.5]]), "stored as")


def test_one_sequence_of_votes_cannot_lose_hits() -> None:
    true = made()
    ball = true.balls[0]
    n, hits = ball.n, int(ball.counts[1])
    fewer = np.array([n - 30, 30])
    assert refuted(
        reverify(replace(true, balls=(replace(ball, counts=fewer),), counts={"input": fewer})), "not one sequence"
    )
    other = replace(ball, counts=np.array([n - hits + 1, hits]))
    assert refuted(reverify(replace(true, balls=(other,), counts={"input": other.counts})), "the votes sum to")


def test_other_settings_are_refuted() -> None:
    true = made()
    ball = true.balls[0]
    assert refuted(reverify(replace(true, sigma=0.8)), "")
    assert refuted(reverify(replace(true, alpha=0.0005)), "parts of alpha")
    assert refuted(reverify(replace(true, alpha=0.0005, balls=(replace(ball, alpha=0.0005),))), "Theorem O allows")
    assert refuted(forged(true, cap=10), "with a cap")
    assert refuted(forged(true, stop="cap"), "stopped at the cap")
    assert refuted(forged(true, stop="certified"), "another reason")
    assert refuted(forged(true, stop="tired"), "stopped because")
    assert refuted(forged(true, stop="precise"), "no precision")
    assert refuted(reverify(replace(true, counts={**true.counts, "select": np.array([1, 9])})), "select draws")
    assert refuted(reverify(replace(true, method="single", radii={"single": true.radius})), "not of single")


def test_an_abstention_claims_nothing_and_names_no_class() -> None:
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.0), 0.5, 2, None)
    none = db.Certifier(smoothed, db.CertifyConfig(radii=RADII)).certify(torch.zeros(2), index=3)
    assert none.abstained
    assert reverify(none).outcome is Confirmation.CONFIRMED
    assert reverify(replace(none, prediction=1)).outcome is Confirmation.REFUTED
    assert reverify(replace(none, status=db.Status.NOT_SEPARATED)).outcome is Confirmation.REFUTED
    assert reverify(replace(none, radius=0.125, radii={"cohen": 0.125})).outcome is Confirmation.REFUTED


def test_a_run_with_another_question_is_refuted(tmp_path: Path) -> None:
    """A run whose specification asks for other radii, another cap, or a fixed number of draws."""
    model = HalfSpace(np.array([1.0, 0.0]), 0.7)
    data = torch.zeros(3, 2)
    run = db.certify(model, data, 0.5, num_classes=2, radii=RADII, domain=None, out=tmp_path / "run", quiet=True)
    assert all(verdict.confirmed for verdict in reverify_run(run))
    questions: list[tuple[dict[str, Any], str]] = [
        ({"radii": (0.125, 0.25, 0.5)}, "radii of the ladder"),
        ({"radii": (0.125, 0.25, 0.5, 1.1)}, "radii of the ladder"),
        ({"radii": RADII, "max_draws": 5000}, "cap"),
        ({"precision": 0.1}, "precision"),
        ({}, "fixed number of draws"),
    ]
    for settings, words in questions:
        spec = run.spec.model_copy(update={"config": db.CertifyConfig(**settings)})
        verdicts = reverify_run(replace(read_run(tmp_path / "run"), spec=spec))
        assert all(refuted(verdict, words) for verdict in verdicts)


def test_wrong_levels_would_be_wrong() -> None:
    """The condition of Theorem O, evaluated directly for the levels that are confirmed."""
    levels = made().balls[0].evidence["levels"]
    p = [float(Phi(radius / 0.5)) for radius in RADII]
    power = math.log(levels[0]) / math.log(p[0])
    for level, before in zip(levels, [p[0], *p[:-1]], strict=True):
        assert level + (1 - before) ** power <= 0.001


@functools.cache
def on_grid() -> db.Certificate:
    """Three of four radii certified under exact noise, with fewer draws than the cap."""
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.7), 0.5, 2, (0.0, 1.0), noise="lattice", grid=20)
    return db.Certifier(smoothed, db.CertifyConfig(radii=RADII)).certify(torch.zeros(2), index=3)


def test_the_loss_of_a_sequence_is_that_of_all_draws_up_to_its_cap() -> None:
    """One of the draws that were made, or a larger level for the bets, is not enough."""
    true, x, domain = on_grid(), np.zeros(2), (0.0, 1.0)
    ball, noise = true.balls[0], true.noise
    law = NoiseLaw.of("lattice", 0.5, 20, domain)
    assert ball.n < 10_000 < ball.evidence["cap"]
    verdict = reverify(true, x, domain)
    assert verdict.outcome is Confirmation.CONFIRMED, verdict.sentence
    for draws in (ball.n, ball.evidence["cap"] - 1):
        loss = law.loss(draws, 2, true.alpha)
        assert refuted(reverify(replace(true, noise=replace(noise, loss=loss)), x, domain), "only")
    evidence = {**ball.evidence, "cap": ball.n - 1}
    capped = replace(true, balls=(replace(ball, evidence=evidence),))
    assert refuted(reverify(capped, x, domain), f"{ball.n} draws of at most {ball.n - 1}")
    greedy = replace(true, balls=(replace(ball, alpha=true.alpha),))
    assert refuted(reverify(greedy, x, domain), "parts of alpha")
