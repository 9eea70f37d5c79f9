"""Counting misses of every method: the same whoever counts, none too many for honest methods, too many for others."""

from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
from scipy import stats

from doublebubble import registry
from doublebubble.audit import validity
from doublebubble.audit.coverage import repetitions, repetitions_of_a_plan
from doublebubble.audit.validity import (
    Coverage,
    Question,
    answers,
    every_question,
    invalid,
    tight_questions,
)
from doublebubble.certificate import Certificate
from doublebubble.protocols import sound

METHODS = registry.names("sound")


def test_every_method_is_asked_at_every_point_and_level() -> None:
    questions = every_question(METHODS, (0.2, 0.05), 7, 100)
    assert {question.config.methods for question in questions} == {METHODS}
    assert {question.config.alpha for question in questions} == {0.2, 0.05}
    assert {question.times for question in questions} == {7}
    assert any(question.case.domain for question in questions)
    assert any("tied" in question.case.name for question in questions)
    published = every_question(METHODS, (0.2,), 7, 100, "paper")
    assert {question.config.methods for question in published} == {registry.names("paper")}
    assert every_question(("dipole",), (0.2,), 7, 100, "paper") == [], "not a method of the publication"
    assert {question.config.methods for question in tight_questions(METHODS, (0.2,), 7, 100)} == {(m,) for m in METHODS}


def test_the_p_value_is_that_of_the_exact_test() -> None:
    one = Coverage("half-space", "sound", "cohen", 0.05, 100, 100, 9)
    assert one.share == 0.09
    assert one.p_value == pytest.approx(sum(stats.binom.pmf(k, 100, 0.05) for k in range(9, 101)))
    assert replace(one, misses=0).p_value == 1
    many = [replace(one, misses=20), one, replace(one, protocol="paper", misses=90)]
    assert invalid(many) == [many[0]], "nothing is promised under paper"


def test_a_hundred_repetitions_share_a_plan_and_nothing_else() -> None:
    (question,) = tight_questions(("boundary",), (0.2,), 100, 300)
    first, second = (repetitions_of_a_plan(question.case, question.config, asked) for asked in (range(6), range(6, 9)))
    assert len({one.counts["select"].tobytes() for one in first}) == 1, "one choice of the class"
    assert len({str([ball.centre for ball in one.balls]) for one in first}) == 1, "one set of centres"
    assert len({one.balls[0].counts.tobytes() for one in first}) > 3, "draws of their own"
    assert [one.index for one in first] == list(range(6))
    alone = list(repetitions(question.case, question.config, range(9)))
    assert first[0] == alone[0], "the plan is that of the first"
    assert second[0] == alone[6]
    assert str([ball.centre for ball in second[0].balls]) != str([ball.centre for ball in first[0].balls])


def test_numbers_do_not_depend_on_the_workers() -> None:
    questions = [replace(question, times=120) for question in tight_questions(("cohen", "dipole"), (0.5,), 1, 60)]
    told: list[int] = []
    alone = answers(questions, 1, told.append)
    assert alone == answers(questions, 2)
    assert sum(told) == 240
    assert [(one.method, one.times) for one in alone] == [("cohen", 120), ("dipole", 120)]
    assert 0 < alone[0].misses < 120
    assert alone[0].own == 120


@pytest.mark.parametrize("method", ["cohen", "boundary", "double", "dipole", "first_order"])
def test_methods_hold_where_their_bounds_are_tight(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validity, "_CHUNK", 10)  # so many certificates for each plan
    (question,) = tight_questions((method,), (0.2,), 80, 300)
    (found,) = answers([question])
    assert not invalid([found])
    assert found.own >= 50, "the plan is the method's own"


@pytest.mark.not_reverified("radii are enlarged on purpose")
def test_radii_a_tenth_too_large_are_seen_where_bounds_are_tight() -> None:
    certify_again = sound.certify_again

    def enlarged(*given: Any) -> list[Certificate]:
        made = certify_again(*given)
        return [replace(one, radii={m: 1.1 * r for m, r in one.radii.items()}) for one in made]

    (question,) = tight_questions(("cohen",), (0.05,), 300, 1000)
    with mock.patch.object(sound, "certify_again", enlarged):
        assert invalid(answers([question]))


def test_what_a_plan_of_ones_own_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validity, "_CHUNK", 2)
    (question,) = tight_questions(("boundary",), (0.2,), 20, 300)
    (found,) = answers([question])
    assert 0 < found.own <= 20
    published = Question(question.case, question.config.model_copy(update={"protocol": "paper", "n0": 1}), 3)
    published = replace(published, config=published.config.model_copy(update={"methods": ("cohen", "single")}))
    assert {one.method for one in answers([published])} == {"cohen", "single"}
    assert validity.ALPHAS == (0.5, 0.2, 0.1, 0.05, 0.01)
