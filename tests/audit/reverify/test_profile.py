"""Certificates by profiles: true ones are confirmed, forged ones are not, and costs are above what they stand for."""

import copy
import functools
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import ndtr

import doublebubble as db
from doublebubble.audit.cases import orthonormal
from doublebubble.audit.coverage import Case
from doublebubble.audit.oracles import LinearClassifier
from doublebubble.audit.reverify import Confirmation, Verdict
from doublebubble.audit.reverify.plane import Piece, Prices, covers, tiled
from doublebubble.bounds import VotesRule
from doublebubble.search import profile as design
from doublebubble.search.forecast import Outlook
from doublebubble.search.trials import Trials
from tests.audit.reverify.made import Sample

D = 20
INSIDE = torch.full((D,), 0.5)
FACE = torch.cat([torch.zeros(4), torch.full((D - 4,), 0.5)])


@functools.cache
def sample(at_face: bool) -> Sample:
    """A profile of few bins and sectors, in the middle of the box or at a face of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(design, "BINS", 12)
        patch.setattr(design, "_RINGS", 2)
        patch.setattr(design, "_NEAR_ENDS", (0.0, 0.3, 0.55, 0.8, 1.1, 1.7))
        rows = orthonormal(5, D)
        rows[0, :4] += 0.4
        W = np.linalg.qr(rows.T)[0].T
        x = FACE if at_face else INSIDE
        offsets = np.array([0.5, 0.1, 0.1, 0.1, 0.1]) - W @ x.double().numpy()
        case = Case("gradual", LinearClassifier(W, offsets), x, 0.5, (0.0, 1.0))
        config = db.CertifyConfig(n=20_000, methods=("profile",))
        made = (db.Certifier(case.smoothed, config).certify(x, index=index) for index in range(5))
        wanted = next(cert for cert in made if any("eta" in name for name in cert.balls[0].vectors) == at_face)
    return Sample(wanted, x.double().numpy(), (0.0, 1.0))


def forged(change: Any, at_face: bool = False) -> Verdict:
    """What the verifier says if the evidence, the counts and the vectors of the ball are changed."""
    made = sample(at_face)
    ball = made.certificate.balls[0]
    parts: dict[str, Any] = {
        "evidence": copy.deepcopy(dict(ball.evidence)),
        "vectors": {k: v.copy() for k, v in ball.vectors.items()},
    }
    change(parts, str(parts["evidence"]["rules"][0]["rivals"][0]))
    return made.with_ball(**parts)


@pytest.mark.parametrize("at_face", [False, True])
def test_a_true_certificate_is_confirmed(at_face: bool) -> None:
    made = sample(at_face)
    assert made.certificate.balls[0].statistic == "profile"
    assert made.verdict().outcome is Confirmation.CONFIRMED, made.verdict().sentence


def of_profile(name: str, value: Any) -> Any:
    def change(parts: Any, rival: str) -> None:
        parts["evidence"]["profiles"][rival][name] = value(parts["evidence"]["profiles"][rival][name])

    return change


def of_sectors(name: str, value: Any) -> Any:
    def change(parts: Any, rival: str) -> None:
        for sector in parts["evidence"]["profiles"][rival]["sectors"]:
            sector[name] = value(sector[name])

    return change


def of_numbers(name: str, value: Any) -> Any:
    def change(parts: Any, rival: str) -> None:
        parts["evidence"]["rules"][0]["numbers"][name] = value(parts["evidence"]["rules"][0]["numbers"][name])

    return change


def of_vector(name: str, value: Any) -> Any:
    def change(parts: Any, rival: str) -> None:
        parts["vectors"][f"{name}/{rival}"] = value(parts["vectors"][f"{name}/{rival}"])

    return change


def moved_vote(table: list[list[int]]) -> list[list[int]]:
    row = max(table, key=lambda counts: counts[1])
    row[0] += 1
    row[1] -= 1
    return table


FORGERIES = {
    "a table that does not give back the votes": of_profile("table", moved_vote),
    "a row of the table lost": of_profile("table", lambda table: table[:-1]),
    "half a draw": of_profile("table", lambda table: [[row[0] + 0.5, row[1], row[2] - 0.5] for row in table]),
    "edges out of order": of_profile("edges", lambda edges: edges[::-1]),
    "an edge beyond the farthest": of_profile("edges", lambda edges: [*edges[:-1], 7.0]),
    "a sector lost": of_profile("sectors", lambda sectors: sectors[1:]),
    "a ring lost": of_profile("sectors", lambda sectors: [s for s in sectors if s["inner"] > 0]),
    "no sector": of_profile("sectors", lambda sectors: []),
    "a stake beyond what the range allows": of_sectors("stake", lambda stake: 1e3),
    "a stake below 0": of_sectors("stake", lambda stake: -stake),
    "no price on the slope off the line": of_sectors("mu", lambda mu: 0.0),
    "a price below 0 on it": of_sectors("mu", lambda mu: -0.1),
    "larger prices": of_sectors("k_a", lambda k: [1.3 * value for value in k]),
    "prices for fewer bins": of_sectors("k_b", lambda k: k[1:]),
    "another control variate": of_sectors("control", lambda c: [0.0 for _ in c]),
    "infinite prices": of_sectors("k_a", lambda k: [float("inf") for _ in k]),
    "a smaller slope off the line": of_numbers("gamma", lambda gamma: 0.9 * gamma),
    "a larger slope, which the same radius does not allow": of_numbers("gamma", lambda gamma: 2 * gamma),
    "more of the second half along the first": of_numbers("mean", lambda mean: mean + 0.02),
    "a spread below its mean": of_numbers("square", lambda square: 0.0),
    "a fourth power below the square of the second": of_numbers("fourth", lambda fourth: 0.01 * fourth),
    "a longer mean of the first half": of_numbers("norm1", lambda norm: 2 * norm),
    "an exponent below 0": of_numbers("lam", lambda lam: -lam),
    "a clip that moves the mean": of_numbers("clip", lambda clip: 0.5),
    "halves that are not all draws": of_numbers("n1", lambda n1: n1 + 1000),
    "an eta where there is none": of_numbers("ahead", lambda ahead: -0.05),
    "a larger lower bound": of_numbers("lower_a", lambda p: p + 0.01),
    "a smaller upper bound": of_numbers("q", lambda q: q - 0.01),
    "a longer line": of_vector("line", lambda u: 1.001 * u),
    "a line that is not finite": of_vector("line", lambda u: np.full_like(u, np.nan)),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_profile_is_refuted(what: str) -> None:
    verdict = forged(FORGERIES[what])
    assert verdict.outcome is Confirmation.REFUTED, verdict.sentence


def test_a_line_that_meets_eta_is_refuted() -> None:
    def turned(u: Any) -> Any:
        u = u + 0.01
        return u / np.linalg.norm(u)

    verdict = forged(of_vector("line", turned), at_face=True)
    assert verdict.outcome is Confirmation.REFUTED
    assert "right angles" in verdict.sentence


def test_an_eta_that_points_out_of_the_box_is_refuted() -> None:
    verdict = forged(of_vector("eta", lambda eta: -eta), at_face=True)
    assert verdict.outcome is Confirmation.REFUTED
    assert "points out" in verdict.sentence


def test_vectors_that_lack_or_that_nothing_uses_are_refuted() -> None:
    def lost(parts: Any, rival: str) -> None:
        del parts["vectors"][f"line/{rival}"]

    def more(parts: Any, rival: str) -> None:
        parts["vectors"]["line/9"] = parts["vectors"][f"line/{rival}"]

    assert "lacks the vector" in forged(lost).sentence
    assert "no rule uses" in forged(more).sentence


def test_too_little_of_alpha_for_the_rounding_of_bins_is_refuted() -> None:
    def less(parts: Any, rival: str) -> None:
        alphas = parts["evidence"]["rules"][0]["alphas"]
        alphas[1] *= 0.5

    assert "rounding of bins" in forged(less).sentence


@pytest.mark.parametrize("factor", [1.02, 2.0])
def test_a_larger_radius_is_refuted(factor: float) -> None:
    made = sample(False).certificate
    ball = made.balls[0]

    def larger(parts: Any, rival: str) -> None:
        for rule in parts["evidence"]["rules"]:
            rule["radius"] *= factor

    assert forged(larger).outcome is Confirmation.REFUTED
    assert sample(False).with_ball(radius=factor * ball.radius).outcome is Confirmation.REFUTED


@pytest.mark.parametrize("sigma", [0.6, 0.4])
def test_another_sigma_is_refuted(sigma: float) -> None:
    assert sample(False).verdict(sigma=sigma).outcome is Confirmation.REFUTED


# The control variate


@functools.cache
def controlled_sample() -> Sample:
    """A certificate by votes with a control variate, where the search found a profile and nothing of its slope."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(design.Scene, "design", lambda scene: (scene.controlled()[0], -np.inf))
        patch.setattr(Trials, "outlook", lambda trials, counts: Outlook(VotesRule(0, True), 0.0, np.zeros(2)))
        case = Case("sharp", LinearClassifier(orthonormal(3, D), [0.3, 0.0, -0.3]), torch.zeros(D), 0.5)
        config = db.CertifyConfig(n=5000, methods=("profile",))
        made = db.Certifier(case.smoothed, config).certify(case.x, index=0)
    return Sample(made, case.x.double().numpy(), None)


def forged_control(change: Any) -> Verdict:
    ball = controlled_sample().certificate.balls[0]
    evidence = copy.deepcopy(dict(ball.evidence))
    rule = next(rule for rule in evidence["rules"] if rule["rule"] == "controlled")
    change(rule, evidence["profiles"][str(rule["rivals"][0])])
    return controlled_sample().with_ball(evidence=evidence)


def test_a_true_controlled_certificate_is_confirmed() -> None:
    rules = controlled_sample().certificate.balls[0].evidence["rules"]
    assert "controlled" in [rule["rule"] for rule in rules]
    assert controlled_sample().verdict().outcome is Confirmation.CONFIRMED, controlled_sample().verdict().sentence


def of_rule(name: str, factor: float) -> Any:
    return lambda rule, stored: rule["numbers"].update({name: factor * rule["numbers"][name]})


def of_stored(name: str, value: Any) -> Any:
    return lambda rule, stored: stored.update({name: value(stored[name])})


def of_part(number: int, factor: float) -> Any:
    def change(rule: Any, stored: Any) -> None:
        rule["alphas"][number] *= factor

    return change


CONTROL_FORGERIES = {
    "no control variate": of_stored("control", lambda c: [0.0 for _ in c]),
    "another one in one bin": of_stored("control", lambda c: [*c[:5], c[5] + 0.5, *c[6:]]),
    "one for fewer bins": of_stored("control", lambda c: c[1:]),
    "a table that does not give back the votes": of_stored("table", moved_vote),
    "a larger price": of_rule("k_a", 1.1),
    "a price below 0": of_rule("k_b", -1.0),
    "a stake beyond what the range allows": of_rule("stake", 1e3),
    "a stake below 0": of_rule("stake", -1.0),
    "too little of alpha for bins": of_part(0, 0.5),
    "too little of alpha for the mean": of_part(1, 0.01),
    "a larger radius": lambda rule, stored: rule.update(radius=1.02 * rule["radius"]),
}


@pytest.mark.parametrize("what", CONTROL_FORGERIES)
def test_a_forged_control_variate_is_refuted(what: str) -> None:
    verdict = forged_control(CONTROL_FORGERIES[what])
    assert verdict.outcome is Confirmation.REFUTED, verdict.sentence


# The plane


def test_costs_are_above_the_integral_and_near_it() -> None:
    """Against a quadrature of the plane, bin by bin."""
    rng, edges = np.random.default_rng(0), [-3.5, -1.2, -0.3, 0.4, 1.5, 3.5]
    y, dy = np.linspace(-9, 9, 6001, retstep=True)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    for _ in range(6):
        k = (rng.uniform(-0.2, 2.5, 7), rng.uniform(-0.2, 2.5, 7))
        mu, (a, b) = rng.uniform(0.05, 1.0), (rng.uniform(-1.2, 1.2), rng.uniform(0.05, 1.2))
        prices = Prices(edges, [Piece(0, np.pi, 0, 6, mu, k, 0.0)])
        cost = -float(prices.lead(np.array([0]), np.array([a]), np.array([b]))[0])
        total = 0.0
        for number, (low, high) in enumerate(pairwise([-9.0, *edges, 9.0])):
            z = 0.5 * (low + high) + 0.5 * (high - low) * nodes
            density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * 0.5 * (high - low) * weights
            for side in k:
                bracket = side[number] + mu * y - np.exp(a * z[:, None] + b * y - (a * a + b * b) / 2)
                inner = np.maximum(bracket, 0) @ (np.exp(-y * y / 2) / np.sqrt(2 * np.pi)) * dy
                total += float(inner @ density)
        assert total - 1e-5 <= cost <= total + 4e-3


def test_only_leads_cover() -> None:
    edges, ones = [-3.5, 0.0, 3.5], (np.ones(4), np.ones(4))
    # k = 1 and mu = 0: the cost at distance t is twice 2 Phi(t/2) - 1, so a value v leads while that is below v
    value = 2 * (2 * ndtr(0.4) - 1)
    piece = Piece(0.0, np.pi, 0.0, 6.0, 0.0, ones, value)
    assert covers(edges, [piece], 0.3, 0.79)
    assert not covers(edges, [piece], 0.3, 0.9)
    assert covers(edges, [piece], 0.9, 0.9)


def test_pieces_that_leave_a_gap_do_not_tile() -> None:
    def piece(low: float, high: float, inner: float, outer: float) -> Piece:
        return Piece(low, high, inner, outer, 0.0, (np.ones(2), np.ones(2)), 1.0)

    whole = [piece(0, 1, 0, 9), piece(1, 4, 0, 0.5), piece(1, 4, 0.5, 9)]
    assert tiled(whole, 0.2, 1.0)
    for lost in range(3):
        assert not tiled([p for i, p in enumerate(whole) if i != lost], 0.2, 1.0)
    assert not tiled([*whole[:2], piece(1, 3.1, 0.5, 9)], 0.2, 1.0)
    assert not tiled([*whole[:2], piece(1, 4, 0.6, 9)], 0.2, 1.0)
