"""True certificates are confirmed, forged ones are not: every method, every field that a radius rests on."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.audit.reverify import Confirmation, Verdict, reverify
from doublebubble.audit.reverify.balls import check_ball
from doublebubble.audit.reverify.certificates import _check_radius
from doublebubble.audit.reverify.numbers import Unconfirmed, mp, upper_tail
from doublebubble.certificate import Ball, Claim, Status
from doublebubble.types import Guarantee
from tests.audit.reverify.made import METHODS, Sample, samples

NAMES = (
    *("binary", "counts", "joint", "first_order", "first_order, all others", "eta", "dipole"),
    *("boundary", "single", "double"),
)
every = pytest.mark.parametrize("name", NAMES)


def refuted(verdict: Verdict, words: str = "") -> bool:
    assert words in verdict.sentence
    return verdict.outcome is Confirmation.REFUTED and not verdict.confirmed


def changed(**fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda rule: {**rule, **fields}


@every
def test_a_true_certificate_is_confirmed(name: str) -> None:
    sample = samples()[name]
    assert sample.certificate.radius > 0
    verdict = sample.verdict()
    assert verdict.outcome is Confirmation.CONFIRMED, verdict.sentence


@every
@pytest.mark.parametrize("factor", [1.003, 100.0])
def test_a_larger_radius_is_refuted(name: str, factor: float) -> None:
    sample = samples()[name]
    radius = factor * sample.certificate.radius
    radii = {sample.certificate.method: radius}
    assert refuted(sample.verdict(radius=radius, radii=radii), "exceeds the")
    ball = sample.certificate.balls[0]
    assert refuted(sample.with_ball(radius=factor * ball.radius), "exceeds that of its rule")
    rules = [{**rule, "radius": factor * rule["radius"]} for rule in ball.evidence["rules"]]
    balls = (replace(ball, radius=factor * ball.radius, evidence={**ball.evidence, "rules": rules}),)
    forged = {"radius": radius, "radii": radii, "balls": balls + sample.certificate.balls[1:]}
    assert refuted(sample.verdict(**forged), "do not prove the radius")


@every
@pytest.mark.parametrize("sigma", [5.0, 0.6, 0.1])
def test_another_sigma_is_refuted(name: str, sigma: float) -> None:
    assert refuted(samples()[name].verdict(sigma=sigma))


@every
def test_enlarged_parts_of_alpha_are_refuted(name: str) -> None:
    sample = samples()[name]
    first = sample.certificate.balls[0].evidence["rules"][0]
    for part in range(len(first["alphas"])):
        more = [alpha * (1.01 if part == number else 1) for number, alpha in enumerate(first["alphas"])]
        assert refuted(sample.with_rule(changed(alphas=more)), "parts of alpha sum to")
    assert refuted(sample.verdict(alpha=0.99 * sample.certificate.alpha), "the plan: its parts of alpha")
    none = [0.0, *first["alphas"][1:]]
    assert refuted(sample.with_rule(lambda rule: {**rule, "alphas": none}), "not above 0")
    assert refuted(sample.with_rule(lambda rule: {**rule, "alphas": first["alphas"][:-1]}), "parts of alpha")


@every
def test_balls_share_alpha(name: str) -> None:
    """Were each ball of a pair to spend all of alpha, its own rules would still add up."""
    sample = samples()[name]
    balls = tuple(replace(ball, alpha=sample.certificate.alpha) for ball in sample.certificate.balls)
    assert refuted(sample.verdict(balls=balls)) == (len(balls) > 1)


@pytest.mark.parametrize("name", ["counts", "joint", "first_order"])
def test_a_rule_that_is_dropped_or_doubled_is_refuted(name: str) -> None:
    sample = samples()[name]
    evidence = sample.certificate.balls[0].evidence
    for number in range(len(evidence["rules"])):
        rules = [rule for other, rule in enumerate(evidence["rules"]) if other != number]
        assert refuted(sample.with_ball(evidence={**evidence, "rules": rules}))
    assert refuted(sample.with_ball(evidence={**evidence, "rules": evidence["rules"] * 2}))


@pytest.mark.parametrize("name", ["joint", "first_order"])
def test_a_rule_for_another_rival_is_refuted(name: str) -> None:
    sample = samples()[name]
    top = sample.certificate.prediction
    assert refuted(sample.with_rule(lambda rule: {**rule, "rivals": [top]}), "no rival")
    assert refuted(sample.with_rule(lambda rule: {**rule, "rivals": []}))
    fewest = int(np.argmin(sample.certificate.balls[0].counts))
    assert refuted(sample.with_rule(lambda rule: {**rule, "rivals": [fewest]}))


@every
def test_shifted_counts_are_refuted(name: str) -> None:
    """Twenty votes for the class less, or more: the radius is no longer that of the votes."""
    sample = samples()[name]
    ball, top = sample.certificate.balls[0], sample.certificate.prediction
    rival = int(np.argmax(np.where(np.arange(len(ball.counts)) == top, -1, ball.counts)))
    for moved in (-20, 20):
        votes = ball.counts.copy()
        votes[top] += moved
        votes[rival] -= moved
        balls = (replace(ball, counts=votes), *sample.certificate.balls[1:])
        same = ball.centre is None and ball.statistic != "dipole"
        counts = {**sample.certificate.counts, **({"input": votes} if same else {})}
        verdict = sample.verdict(balls=balls, counts=counts)
        # With more votes the stored numbers are lower bounds still, where they are not computed again from the votes.
        assert verdict.outcome is Confirmation.REFUTED or (moved > 0 and ball.statistic != "dipole")
    votes = ball.counts.copy()
    votes[top] += 1
    assert refuted(sample.with_ball(counts=votes), "the votes sum to")


@pytest.mark.parametrize(
    ("name", "number", "factor"),
    [
        ("binary", "lower_a", 1.001),
        ("counts", "lower_a", 1.001),
        ("counts", "q", 0.99),
        ("joint", "k_a", 1.5),
        ("joint", "k_b", 0.5),
        ("joint", "stake", 2.0),
        ("joint", "stake", 1e3),
        ("first_order", "lower_a", 1.001),
        ("first_order", "q", 0.99),
        ("first_order", "gamma", 0.99),
        ("first_order", "dot", 3.0),
        ("first_order", "norm1", 2.0),
        ("first_order", "n1", 2.0),
        ("first_order", "offset", 5.0),
        ("first_order, all others", "q", 0.99),
        ("first_order, all others", "gamma", 0.9),
        ("eta", "shift", 0.9),
        ("eta", "gamma", 0.99),
        ("eta", "norm1", 2.0),
        # so little that the radius would still fit: the bound itself must be seen not to hold
        ("binary", "lower_a", 1.0001),
        ("counts", "lower_a", 1.0001),
        ("counts", "q", 0.9999),
        ("first_order", "lower_a", 1.0001),
        ("first_order", "q", 0.9999),
        ("first_order", "gamma", 0.9999),
    ],
)
def test_changed_numbers_are_refuted(name: str, number: str, factor: float) -> None:
    def change(rule: dict[str, Any]) -> dict[str, Any]:
        return {**rule, "numbers": {**rule["numbers"], number: factor * rule["numbers"][number]}}

    assert refuted(samples()[name].with_rule(change))


def test_changed_pairs_are_refuted() -> None:
    sample = samples()["dipole"]
    evidence, top = sample.certificate.balls[0].evidence, str(sample.certificate.prediction)
    both, one, never = evidence["pairs"][top]
    for forged in ([both + 10, one - 20, never + 10], [both + 10, one, never], [both, one + 1, never - 1]):
        assert refuted(sample.with_ball(evidence={**evidence, "pairs": {**evidence["pairs"], top: forged}}))
    assert refuted(sample.with_ball(evidence={k: v for k, v in evidence.items() if k != "pairs"}), "lacks pairs")
    rival = str(1 - sample.certificate.prediction)
    twice, once, none = evidence["pairs"][rival]
    one_more = {top: [both + 1, one - 1, never], rival: [twice, once - 1, none + 1]}  # pairs enough, other votes
    assert refuted(sample.with_ball(evidence={**evidence, "pairs": one_more}), "do not give its votes")


@pytest.mark.parametrize("name", ["boundary", "single", "double"])
def test_changed_multipliers_and_centres_are_refuted(name: str) -> None:
    sample = samples()[name]
    for factor in (0.5, 0.98):
        assert refuted(sample.verdict(multipliers=tuple(factor * m for m in sample.certificate.multipliers)), "exceeds")
    assert refuted(sample.verdict(multipliers=(-1.0,) * len(sample.certificate.balls)), "below 0")
    assert refuted(sample.verdict(multipliers=()), "multipliers")
    assert refuted(sample.verdict(whole_domain=True))
    centre = sample.certificate.balls[0].centre
    assert centre is not None
    assert refuted(sample.with_ball(centre=centre + 0.05))
    moved = replace(sample, x=np.where(sample.x > 0.5, sample.x - 0.05, sample.x + 0.05))
    assert refuted(moved.verdict())


def test_eta_must_be_zero_off_the_faces_and_point_inwards() -> None:
    sample = samples()["eta"]
    eta = sample.certificate.balls[0].vectors["eta/others"]
    assert refuted(sample.with_ball(vectors={"eta/others": -eta}), "points out of the domain")
    assert refuted(sample.with_ball(vectors={"eta/others": 1.01 * eta}), "longer than the shift")
    assert refuted(sample.with_ball(vectors={}), "lacks the vector")
    assert refuted(sample.with_ball(vectors={"eta/others": eta, "eta/1": eta}), "no rule uses")
    inside = replace(sample, x=np.full_like(sample.x, 0.1))
    assert refuted(inside.verdict(), "not zero away from the faces")
    assert refuted(replace(sample, domain=None).verdict(), "free space")

    def unshifted(rule: dict[str, Any]) -> dict[str, Any]:
        return {**rule, "numbers": {k: v for k, v in rule["numbers"].items() if k != "shift"}}

    assert refuted(sample.with_rule(unshifted))


@every
def test_words_that_do_not_fit_are_refuted(name: str) -> None:
    sample = samples()[name]
    made = sample.certificate
    other = (made.prediction + 1) % len(made.balls[0].counts)
    assert refuted(sample.verdict(prediction=other), "prediction")
    assert refuted(sample.verdict(prediction=db.ABSTAIN), "prediction")
    assert refuted(sample.verdict(status=Status.NOT_SEPARATED), "status")
    assert refuted(sample.verdict(radius=0.0, radii={made.method: 0.0}), "status")
    assert refuted(sample.verdict(guarantee=Guarantee.NONE), "guarantee")
    assert refuted(sample.verdict(protocol="other"), "protocol")
    assert refuted(sample.verdict(protocol="paper"))
    assert refuted(sample.verdict(radii={made.method: 2 * made.radius}), "method")
    wrong = "gradient" if made.reason.startswith("all draws at the input") else "all draws at the input: no gain"
    assert refuted(sample.verdict(reason=wrong), "reason")
    tops = [{**ball.evidence, "top": other} for ball in made.balls]
    balls = tuple(replace(ball, evidence=top) for ball, top in zip(made.balls, tops, strict=True))
    assert refuted(sample.verdict(balls=balls, prediction=other))
    assert refuted(sample.with_ball(statistic="binary" if made.balls[0].statistic != "binary" else "dipole"))


def test_what_stands_beside_the_chosen_method_is_verified_like_it() -> None:
    sample = samples()["all"]
    made = sample.certificate
    assert set(made.claims) == set(METHODS)
    assert made.beside["double"].balls[1].centre is not None
    assert sample.verdict().outcome is Confirmation.CONFIRMED
    for method, claim in made.beside.items():

        def beside(radius: float | None = None, method: str = method, claim: Claim = claim, **changes: Any) -> Verdict:
            said = claim.radius if radius is None else radius
            forged = {**made.beside, method: replace(claim, radius=said, **changes)}
            return sample.verdict(beside=forged, radii={**made.radii, method: said})

        assert beside().confirmed
        assert refuted(beside(1.01 * claim.radius), "exceeds the")
        assert refuted(sample.verdict(radii={**made.radii, method: 2.0}), f"method {method}")
        assert refuted(beside(balls=()), "multipliers")
        assert refuted(beside(multipliers=(*claim.multipliers, 0.0)), "multipliers")
        ball, *more = claim.balls
        assert refuted(beside(balls=(replace(ball, alpha=1.01 * ball.alpha), *more)), "alpha")
        assert refuted(beside(balls=(replace(ball, radius=1.01 * ball.radius), *more)), "exceeds that of its rule")
        other = {**ball.evidence, "top": 1 - made.prediction}
        assert refuted(beside(balls=(replace(ball, evidence=other), *more)), "different classes")
        few = {name: one for name, one in made.beside.items() if name != method}
        assert sample.verdict(beside=few).outcome is Confirmation.UNKNOWN
    assert refuted(sample.verdict(beside={**made.beside, made.method: made.claims[made.method]}), "twice")
    pair = made.beside["double"]
    forged = {**made.beside, "double": replace(pair, multipliers=(0.0, 0.0))}
    assert refuted(sample.verdict(beside=forged))


def test_each_ball_is_for_the_one_class() -> None:
    sample = samples()["double"]
    evidence = {**sample.certificate.balls[1].evidence, "top": 1 - sample.certificate.prediction}
    assert refuted(sample.with_ball(1, evidence=evidence), "different classes")


@pytest.mark.parametrize("top", [-1, 4, True, 1.0, None])
def test_the_class_of_a_ball_is_one_of_those_counted(top: object) -> None:
    ball = samples()["counts"].certificate.balls[0]
    assert len(ball.counts) == 4
    with pytest.raises(Unconfirmed, match="the class of a ball is"):
        check_ball(replace(ball, evidence={**ball.evidence, "top": top}), 0.5, None, None, 6)


def test_a_ball_elsewhere_does_not_lend_its_radius_to_one_at_the_input() -> None:
    x = np.zeros(2)
    at_input, elsewhere = (
        Ball(centre, radius, 100, 0.01, np.array([90, 10]), "votes")
        for centre, radius in ((None, 0.25), (np.array([0.75, 0.0]), 1.0))
    )
    claim = Claim(0.25 - 1e-9, (at_input, elsewhere), (1.0, 0.0), False, "")
    for radius in (1.0, 0.5):
        with pytest.raises(Unconfirmed, match=r"exceeds the 0\.250000 that the balls prove"):
            _check_radius("double", replace(claim, radius=radius), x, None, None)
    _check_radius("double", claim, x, None, None)


def test_what_is_not_known_is_not_confirmed() -> None:
    """A statistic, rule or method without a verifier, and an input that is not at hand."""
    sample = samples()["binary"]

    def outcome(verdict: Verdict, words: str) -> Confirmation:
        assert words in verdict.sentence
        assert not verdict.confirmed
        return verdict.outcome

    assert outcome(sample.with_ball(statistic="unheard_of"), "reason") is Confirmation.REFUTED
    double = samples()["double"]
    assert (
        outcome(double.with_rule(lambda r: {**r, "rule": "unheard_of"}), "no verifier for rule unheard_of")
        is Confirmation.UNKNOWN
    )
    assert (
        outcome(sample.verdict(method="toy", radii={"toy": sample.certificate.radius}), "toy") is Confirmation.UNKNOWN
    )
    for name in ("eta", "boundary", "single", "double"):
        one = samples()[name]
        assert outcome(reverify(one.certificate, None, one.domain), "not at hand") is Confirmation.UNKNOWN


@every
def test_damaged_evidence_is_refuted_without_a_traceback(name: str) -> None:
    sample = samples()[name]
    evidence = sample.certificate.balls[0].evidence
    for damage in ({}, {"top": 0}, {**evidence, "rules": []}, {**evidence, "rules": [{}]}, {**evidence, "top": "1"}):
        assert not sample.with_ball(evidence=damage).confirmed
    for number in evidence["rules"][0]["numbers"]:
        for value in (float("nan"), float("inf"), "1", None, True):
            found = sample.with_rule(changed(numbers={**evidence["rules"][0]["numbers"], number: value}))
            assert not found.confirmed


def test_an_abstention_claims_nothing() -> None:
    from doublebubble.audit.cases import tied_cases

    case = tied_cases()[0]
    made = db.Certifier(case.smoothed, db.CertifyConfig(n=500, n0=50, methods=("cohen",))).certify(case.x, index=0)
    assert made.abstained
    sample = Sample(made, case.x.double().numpy(), None)
    assert sample.verdict().outcome is Confirmation.CONFIRMED
    assert refuted(sample.verdict(radius=0.1, radii={"cohen": 0.1}))
    assert refuted(sample.verdict(status=Status.NOT_COVERED), "does not fit")


@pytest.mark.parametrize(
    ("k", "n", "p"),
    [
        (8, 10, 0.5),
        (900, 1000, 0.85),
        (60, 200, 0.25),
        (1, 3, 0.1),
        (9, 9, 0.9),
        (1, 900, 1e-9),
        (51, 100, 0.5),
        (50, 100, 0.5),  # from here on most of the mass lies above k
        (840, 1000, 0.85),
        (1, 900, 0.9),
        (2, 3, 0.9),
        (1, 1, 1.0),
    ],
)
def test_binomial_tails_are_those_of_exact_sums(k: int, n: int, p: float) -> None:
    q = Fraction(p)
    below = sum((math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(k)), Fraction(0))
    above = (math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(k, n + 1))
    exact = 1 - below if 2 * k <= n else sum(above, Fraction(0))
    tail = upper_tail(k, n, mp.mpf(p))
    true = mp.mpf(exact.numerator) / exact.denominator
    assert true <= tail <= true * (1 + mp.mpf(10) ** (-33 if k > n * p else -30))


@pytest.mark.parametrize("alpha", [0.4, 0.55, 0.6, 0.8])
def test_a_certificate_at_a_large_alpha_is_confirmed(alpha: float) -> None:
    """Beyond 1/2 a bound lies on the other side of the votes' share."""
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.3), 0.5, 2, None)
    config = db.CertifyConfig(n=2000, n0=50, alpha=alpha, methods=("cohen",))
    made = db.Certifier(smoothed, config).certify(torch.zeros(2), index=0)
    assert made.radius > 0
    sample = Sample(made, np.zeros(2), None)
    assert sample.verdict().outcome is Confirmation.CONFIRMED, sample.verdict().sentence
    assert refuted(sample.verdict(radius=made.radius * 1.05, radii={"cohen": made.radius * 1.05}))
