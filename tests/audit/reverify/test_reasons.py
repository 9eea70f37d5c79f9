"""Reasons: what the methods say is confirmed, and what they could not have said is refuted."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from doublebubble import registry
from doublebubble.audit.reverify import Confirmation, reverify
from doublebubble.audit.reverify.numbers import Unconfirmed
from doublebubble.audit.reverify.reasons import AT_INPUT, SENTENCES, check_reason
from doublebubble.bounds.ladder import Stop
from doublebubble.certificate import Ball, Claim
from tests.audit.reverify import test_changed as changed
from tests.audit.reverify import test_profile as profiles
from tests.audit.reverify import test_sequence as sequences
from tests.audit.reverify.made import METHODS, Sample, samples

pytestmark = pytest.mark.not_reverified("errors are planted")
FOLDER = Path(__file__).parents[3] / "src" / "doublebubble" / "methods"
GROWS, BLOCKS = "the radius grows by {} per unit distance", "the box blocks a slope of {}"
NO_GAIN, AGREE = ", but fresh search draws predict no gain", ", and fresh search draws agree ({})"
PAIR = "a pair of balls along the free gradient was tried"


def certified(name: str) -> Sample:
    """A true certificate: of a method with n draws, of profiles, or of votes that were looked at as they came."""
    if name == "profile":
        return profiles.sample(False)
    if name in ("radii", "precision"):
        return Sample(sequences.made(name), np.zeros(2), None)
    if name.startswith("changed "):
        return Sample(changed.made(name.removeprefix("changed ")), np.zeros(2), None)
    return samples()[name]


LIES = {
    "binary": ["all draws at the input: ", "all draws at the input: pairs of opposite draws promise no gain"],
    "first_order": ["the gradient of the lead is expected to be small, with the part that the box blocks taken off"],
    "eta": ["the gradient of the lead is expected to be small", "pairs of opposite draws promise a gain"],
    "dipole": ["pairs of opposite draws promise no gain", "the gradient of the lead is expected to be small"],
    "boundary": [
        *(BLOCKS.format(slope) + AGREE.format("first_order") for slope in ("0.04", "0.91", "-0.50", "0.5", "00.50")),
        BLOCKS.format("0.50") + AGREE.format("binary"),
        BLOCKS.format("0.50") + AGREE.format("first_order, first_order"),
        BLOCKS.format("0.50") + ", too little to gain",
        GROWS.format("1.50") + AGREE.format("first_order"),
    ],
    "single": [
        *(GROWS.format(slope) + AGREE.format("first_order") for slope in ("0.99", "-1.50", "inf", "1.5")),
        GROWS.format("1.50") + AGREE.format("binary"),
        BLOCKS.format("0.50") + AGREE.format("first_order"),
    ],
    "double": [PAIR + AGREE.format("dipole"), PAIR + NO_GAIN, GROWS.format("1.50") + AGREE.format("binary")],
    "profile": [f"profiles along lines against {n} of the rivals" for n in (0, 7, "01", "no")],
    "radii": [
        f"votes at the input, looked at as they came: {said}"
        for said in (
            Stop.GIVEN_UP.value,
            f"2 of 4 radii certified; {Stop.GIVEN_UP.value}",
            f"3 of 3 radii certified; {Stop.GIVEN_UP.value}",
            f"3 of 4 radii certified; {Stop.CAP.value}",
            f"03 of 4 radii certified; {Stop.GIVEN_UP.value}",
            f"with a control variate since draw 50; 3 of 4 radii certified; {Stop.GIVEN_UP.value}",
        )
    ],
    "precision": [
        f"votes at the input, looked at as they came: {said}"
        for said in (f"1 of 1 radii certified; {Stop.PRECISE.value}", Stop.GIVEN_UP.value)
    ],
    "changed radii": [
        f"votes at the input, looked at as they came: {said}2 of 2 radii certified; {Stop.CERTIFIED.value}"
        for said in ("", "with a control variate since draw 5; ")
    ],
}


@pytest.mark.parametrize("name", LIES)
def test_a_true_reason_is_confirmed_and_a_changed_one_refuted(name: str) -> None:
    sample = certified(name)
    true = sample.certificate.reason
    assert sample.verdict().outcome is Confirmation.CONFIRMED, sample.verdict().sentence
    said = true.partition(" ")[0]
    spelled = [true + ".", true + "\n", " " + true, true.removeprefix(said), true.upper(), f"{true}; {true}", ""]
    for lie in [*LIES[name], *spelled]:
        assert lie != true
        verdict = sample.verdict(reason=lie)
        assert verdict.outcome is Confirmation.REFUTED, lie
        assert "reason" in verdict.sentence


def test_the_reasons_of_methods_that_were_not_chosen_are_verified_too() -> None:
    made = samples()["all"].certificate
    for method, claim in made.beside.items():
        forged = {**made.beside, method: replace(claim, reason=claim.reason + " indeed")}
        verdict = samples()["all"].verdict(beside=forged)
        assert verdict.outcome is Confirmation.REFUTED
        assert "reason" in verdict.sentence


def test_evidence_that_is_changed_where_only_the_reason_tells_is_refuted() -> None:
    true = sequences.made("precision")
    ball = true.balls[0]
    other = replace(ball, evidence={**ball.evidence, "stop": "given_up"})
    verdict = reverify(replace(true, balls=(other,)))
    assert verdict.outcome is Confirmation.REFUTED
    assert "why sampling stopped" in verdict.sentence


def plain(reason: str, n: int = 1000) -> Claim:
    """A claim by votes at the input."""
    ball = Ball(None, 0.1, n, 0.001, np.array([n, 0]), "binary", {"top": 0, "rules": []})
    return Claim(0.1, (ball,), (1.0,), False, reason)


TRUE = {
    "single": [
        "the select draws do not separate the leading class",
        *(GROWS.format(s) + ", and one ball in free space gains only above 1" for s in ("1.00", "0.31", "-0.00")),
        *(GROWS.format(slope) + NO_GAIN for slope in ("1.00", "12.34")),
    ],
    "boundary": [
        "the select draws do not separate the leading class",
        *(BLOCKS.format(slope) + ", too little to gain" for slope in ("0.00", "0.05", "-0.00")),
        *(BLOCKS.format(slope) + NO_GAIN for slope in ("0.05", "0.90")),
    ],
    "double": ["no draw shows a free direction to put a pair of balls along", PAIR + NO_GAIN],
    "dipole": ["pairs of opposite draws promise no gain"],
    "first_order": ["too few draws to halve, or none for the class"],
    "profile": ["a profile is not expected to gain"],
}
FALSE = {
    "single": [
        GROWS.format("1.01") + ", and one ball in free space gains only above 1",
        GROWS.format("0.99") + NO_GAIN,
        BLOCKS.format("0.50") + NO_GAIN,
    ],
    "boundary": [
        BLOCKS.format("0.06") + ", too little to gain",
        BLOCKS.format("-0.01") + ", too little to gain",
        BLOCKS.format("0.04") + NO_GAIN,
        BLOCKS.format("0.91") + NO_GAIN,
    ],
    "double": ["a pair of balls along the free gradient was tried", BLOCKS.format("0.50") + NO_GAIN],
    "dipole": ["no pair in n", "a profile is not expected to gain"],
    "first_order": ["no pair in n"],
    "profile": ["the select draws do not separate the leading class"],
}


@pytest.mark.parametrize("method", TRUE)
def test_why_all_draws_stay_at_the_input(method: str) -> None:
    for said in TRUE[method]:
        check_reason(method, plain(f"{AT_INPUT}: {said}"))
    for said in ["", "no gain", *FALSE[method]]:
        with pytest.raises(Unconfirmed, match="reason"):
            check_reason(method, plain(f"{AT_INPUT}: {said}"))
    with pytest.raises(Unconfirmed, match="no sentence of method"):
        check_reason(method, plain(AT_INPUT))


def test_sentences_about_few_draws_are_for_few_draws() -> None:
    check_reason("dipole", plain(f"{AT_INPUT}: no pair in n", n=1))
    with pytest.raises(Unconfirmed, match="1 draws"):
        check_reason("dipole", plain(f"{AT_INPUT}: pairs of opposite draws promise no gain", n=1))
    halved = f"{AT_INPUT}: a bound on the gradient would cost more alpha than it gains"
    check_reason("first_order", plain(halved, n=4))
    with pytest.raises(Unconfirmed, match="3 draws"):
        check_reason("first_order", plain(halved, n=3))


def test_a_pair_is_two_balls() -> None:
    claim = samples()["double"].certificate.claims["double"]
    check_reason("double", claim)
    with pytest.raises(Unconfirmed, match="number of balls"):
        check_reason("double", replace(claim, balls=claim.balls[:1]))


def test_names_are_those_of_the_balls_in_their_order() -> None:
    claim = samples()["double"].certificate.claims["double"]
    two = tuple(
        replace(ball, statistic=name) for ball, name in zip(claim.balls, ("first_order", "binary"), strict=True)
    )
    check_reason("double", replace(claim, balls=two, reason=PAIR + AGREE.format("first_order, binary")))
    for names in ("binary, first_order", "first_order", "binary"):
        with pytest.raises(Unconfirmed, match="the statistics"):
            check_reason("double", replace(claim, balls=two, reason=PAIR + AGREE.format(names)))


def test_every_method_and_every_stop_has_its_sentences() -> None:
    assert set(SENTENCES) == {*METHODS, "profile"} == set(registry.names("sound"))
    for kind, stop in (("radii", Stop.GIVEN_UP), ("precision", Stop.PRECISE)):
        assert sequences.made(kind).reason.endswith(stop.value)
    ball = sequences.made("radii").balls[0]
    for stop in Stop:
        reason = f"votes at the input, looked at as they came: 3 of 4 radii certified; {stop.value}"
        stopped = replace(ball, evidence={**ball.evidence, "stop": stop.name.lower()})
        check_reason("cohen", Claim(ball.radius, (stopped,), (1.0,), False, reason))


@pytest.mark.parametrize("method", sorted(SENTENCES))
def test_a_sentence_that_is_added_to_a_method_asks_for_its_pattern(method: str) -> None:
    """As many ways to stay at the input as the source of the method has; those without numbers, word for word."""
    path = FOLDER / f"{method}.py"
    source = (path if path.exists() else FOLDER / method / "__init__.py").read_text()
    ways = re.findall(r"fall_back\(trials, self\.name, (.*)\)", source)
    assert len(ways) == len([words for words in SENTENCES[method] if words.startswith(AT_INPUT)])
    for words in (way[1:-1] for way in ways if re.fullmatch(r'"[^"]+"', way)):
        assert f"{AT_INPUT}: {words}" in SENTENCES[method]
