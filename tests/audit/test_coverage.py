"""Counting misses: against certificates whose truth is known by hand, and the binomial tail written out."""

import math
from dataclasses import replace

import pytest
import torch

from doublebubble import CertifyConfig
from doublebubble.audit.coverage import Case, at, count_misses, count_wrong_predictions, misses_allowed, repetitions
from doublebubble.audit.oracles import HalfSpace
from doublebubble.smoothing import Prediction, SmoothedClassifier
from doublebubble.types import ABSTAIN
from tests.runs.samples import certificate

CASE = Case("half-space", HalfSpace([1.0, 0.0], -0.2), at([0.5, 0.4]), 0.5)


def test_the_truth_of_a_half_space_is_its_margin() -> None:
    g, distance = CASE.truth
    assert g == 1
    assert distance == pytest.approx(0.3)
    assert replace(CASE, domain=(0.4, 1.0)).truth[1] == math.inf, "no point of the box has another class"


def test_a_miss_is_a_radius_beyond_the_truth_or_any_radius_for_a_wrong_class() -> None:
    made = [certificate(0, radius) for radius in (0.29, 0.3, 0.31)]  # the other method claims a third of it
    assert count_misses(CASE, made) == {"cohen": 1, "double": 0}
    wrong = replace(CASE, x=at([-0.5, 0.4]))
    assert count_misses(wrong, [certificate(0, 0.01), certificate(1, 0.0)]) == {"cohen": 1, "double": 1}
    tied = replace(CASE, oracle=HalfSpace([1.0, 0.0], -0.5))
    assert tied.truth[1] == 0
    assert count_misses(tied, [certificate(0, 1e-9)]) == {"cohen": 1, "double": 1}


@pytest.mark.parametrize(("times", "alpha", "level"), [(500, 0.05, 1e-4), (200, 0.001, 1e-4), (50, 0.3, 0.01)])
def test_the_misses_allowed_are_those_of_the_exact_test(times: int, alpha: float, level: float) -> None:
    def more_than(k: int) -> float:
        return math.fsum(math.comb(times, j) * alpha**j * (1 - alpha) ** (times - j) for j in range(k + 1, times + 1))

    allowed = misses_allowed(times, alpha, level)
    assert more_than(allowed) <= level < more_than(allowed - 1)


def test_repetitions_have_randomness_of_their_own() -> None:
    config = CertifyConfig(n=50, n0=10, alpha=0.05, methods=("cohen",))
    found = list(repetitions(CASE, config, 130))
    assert [certificate.index for certificate in found] == list(range(130))
    assert len({tuple(certificate.balls[0].counts) for certificate in found}) > 5


def test_wrong_predictions_are_counted() -> None:
    assert count_wrong_predictions(replace(CASE, x=at([2.0, 0.0])), 20, 50, 0.05) == 0
    tied = replace(CASE, x=torch.tensor([0.2, 0.0], dtype=torch.float64), oracle=HalfSpace([1.0, 0.0], -0.2))
    assert count_wrong_predictions(tied, 60, 40, 0.9) > 0, "at a tie every class that is named is wrong"


def test_every_prediction_at_a_tie_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever class is named: neither is alone the likeliest."""
    tied = replace(CASE, oracle=HalfSpace([1.0, 0.0], -0.5))
    assert tied.truth[1] == 0
    for named, wrong in ((0, 7), (1, 7), (ABSTAIN, 0)):
        answers = [Prediction(named, 50)] * 7
        monkeypatch.setattr(SmoothedClassifier, "predictions", lambda *given, answers=answers, **more: answers)
        assert count_wrong_predictions(tied, 7, 50, 0.05) == wrong
