"""Votes that went on with a control variate: true certificates are confirmed, forged ones are not."""

import copy
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import ndtr as Phi

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.audit.reverify import Confirmation, reverify
from doublebubble.audit.reverify.changed import Changed
from doublebubble.audit.reverify.numbers import mp
from doublebubble.bounds.controlled_votes import Control, is_majority
from doublebubble.bounds.sequences import log_wealth

pytestmark = pytest.mark.not_reverified("errors are planted")


@functools.cache
def made(kind: str = "radii") -> db.Certificate:
    """A radius won by counting, one with the control variate; or a precision; or one whose first radius was open."""
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([0.6, 0.8]), 0.0), 0.5, 2, None)
    questions: dict[str, dict[str, Any]] = {
        "radii": {"radii": (0.25, 0.5)},
        "one": {"radii": (0.5,)},
        "precision": {"precision": 0.2},
    }
    x = torch.tensor([0.6 * 0.53, 0.8 * 0.53])
    return db.Certifier(smoothed, db.CertifyConfig(**questions[kind])).certify(x, index=3)


def forged(edit: Callable[[dict[str, Any]], None], kind: str = "radii", **fields: Any) -> str:
    """What is said of a certificate whose evidence was edited; it must be refuted."""
    ball = made(kind).balls[0]
    evidence = copy.deepcopy(dict(ball.evidence))
    edit(evidence)
    verdict = reverify(replace(made(kind), balls=(replace(ball, evidence=evidence, **fields),)))
    assert verdict.outcome is Confirmation.REFUTED
    return verdict.sentence


def test_true_certificates_are_confirmed() -> None:
    for kind in ("radii", "one", "precision"):
        assert "change" in made(kind).balls[0].evidence
        verdict = reverify(made(kind))
        assert verdict.outcome is Confirmation.CONFIRMED, verdict.sentence
    assert made().radius == made("one").radius == 0.5
    assert made().balls[0].evidence["change"]["tables"]


def test_the_wealth_is_that_of_the_bet() -> None:
    """Two implementations of one rule agree to what rounding takes off."""
    stored = made().balls[0].evidence["change"]
    control = Control(tuple(stored["edges"]), tuple(stored["control"]), tuple(map(tuple, stored["pilot"])))
    checked = Changed(stored, 10**6, 10**6 - 100)
    generator = np.random.default_rng(0)
    for t, level in ((1.0, 0.001), (0.5, 0.0004)):
        for size in (10, 300, 5000):
            table = generator.multinomial(size, np.full(48, 1 / 48)).reshape(24, 2)
            there = float(log_wealth(control.claim(t, level, 100_000), table.ravel()))
            here = float(checked.log_wealth(mp.mpf(t), mp.mpf(level), 100_000, [(int(a), int(b)) for a, b in table]))
            assert there <= here + 1e-9 * (1 + abs(here))
            assert here == pytest.approx(there, rel=1e-6, abs=1e-6)


def test_a_radius_that_was_given_up_cannot_be_claimed() -> None:
    """By a table that gives back the votes and looks as the control variate expects."""
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([0.6, 0.8]), 0.0), 0.5, 2, None)
    x = torch.tensor([0.6 * 0.48, 0.8 * 0.48])
    true = db.Certifier(smoothed, db.CertifyConfig(radii=(0.25, 0.5))).certify(x, index=3)
    ball = true.balls[0]
    assert (true.radius, ball.evidence["stop"]) == (0.25, "given_up")
    change = ball.evidence["change"]
    n, hits = ball.n - change["at"][0], int(ball.counts[1]) - change["at"][1]
    even = [[0, 0] for _ in change["control"]]
    for number in range(n):
        even[number % len(even)][0 if number < hits else 1] += 1
    assert sum(row[0] for row in even) == hits
    ends = np.concatenate(([-np.inf], change["edges"], [np.inf]))
    places = np.repeat(np.arange(24), np.rint(n * np.diff(Phi(ends))).astype(int) + 1)[-n:]
    usual = [[0, 0] for _ in even]
    for number, place in enumerate(places.tolist()):
        usual[place][0 if number >= n - hits else 1] += 1
    for forgery, words in ((usual, "has not won"), (even, "draws fall in a bin where")):
        evidence = {
            **ball.evidence,
            "wins": [*ball.evidence["wins"], [ball.n, int(ball.counts[1]), 1]],
            "stop": "certified",
            "change": {**change, "tables": [forgery]},
        }
        claimed = replace(ball, radius=0.5, evidence=evidence)
        verdict = reverify(replace(true, radius=0.5, radii={"cohen": 0.5}, balls=(claimed,)))
        assert verdict.outcome is Confirmation.REFUTED
        assert words in verdict.sentence


def test_tables_that_do_not_fit_the_votes_are_refuted() -> None:
    def fewer(evidence: dict[str, Any]) -> None:
        row = max(evidence["change"]["tables"][0], key=lambda row: row[1])
        row[0], row[1] = row[0] + row[1], 0

    assert "give back the votes" in forged(fewer)
    assert "as many tables" in forged(lambda evidence: evidence["change"]["tables"].clear())


def test_another_control_variate_is_refuted() -> None:
    def own(evidence: dict[str, Any]) -> None:
        evidence["change"]["control"][7] = round(evidence["change"]["control"][7] - 0.01, 4)

    assert "not what the votes before the change say" in forged(own)

    def outside(evidence: dict[str, Any]) -> None:
        evidence["change"]["control"][0] = -0.5

    assert "leaves (0, 1)" in forged(outside)

    def larger(evidence: dict[str, Any]) -> None:
        evidence["change"]["pilot"][12][0] += 10**4

    assert "not among those before the change" in forged(larger)


def test_other_bins_are_refuted() -> None:
    """Bins of less mass where the control variate is small would raise its mean."""

    def moved(evidence: dict[str, Any]) -> None:
        evidence["change"]["edges"] = [edge - 0.7 for edge in evidence["change"]["edges"]]

    def fewer(evidence: dict[str, Any]) -> None:
        for name in ("edges", "control", "pilot"):
            evidence["change"][name].pop()

    for edit in (moved, fewer):
        assert "not those of the rule" in forged(edit)


def test_a_change_without_its_price_is_refuted() -> None:
    def nothing(evidence: dict[str, Any]) -> None:
        del evidence["reserve"]

    assert forged(nothing)

    def little(evidence: dict[str, Any]) -> None:
        evidence["reserve"] *= 0.5

    assert forged(little)
    assert "the reserve" in forged(lambda evidence: evidence.update(reserve=1e-7), "precision")
    assert "a reserve of" in forged(lambda evidence: evidence.update(reserve=-1e-6), "precision")


def test_a_change_at_other_votes_is_refuted() -> None:
    def earlier(evidence: dict[str, Any]) -> None:
        evidence["change"]["at"][0] -= 1

    assert forged(earlier)

    def luckier(evidence: dict[str, Any]) -> None:
        evidence["change"]["at"][1] += 3

    assert forged(luckier)


def test_a_class_without_a_majority_is_refuted() -> None:
    """Where no radius was won before, the votes at the change must show more than half of the probability."""
    for draws, hits in ((1000, 700), (1000, 560)):
        stored = {
            "at": [draws, hits],
            "edges": made().balls[0].evidence["change"]["edges"],
            "control": made().balls[0].evidence["change"]["control"],
            "pilot": made().balls[0].evidence["change"]["pilot"],
            "tables": [],
        }
        checked = Changed(stored, 2000, hits)
        if is_majority(draws, hits, 0.001, 100_000):
            checked.check_majority(mp.mpf(0.001), 100_000)
        else:
            with pytest.raises(Exception, match="do not show a majority"):
                checked.check_majority(mp.mpf(0.001), 100_000)
    assert is_majority(1000, 700, 0.001, 100_000)
    assert not is_majority(1000, 560, 0.001, 100_000)
