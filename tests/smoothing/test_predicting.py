"""Predictions that stop early: the same whatever the company, with few draws where the class is clear."""

import numpy as np
import torch

from doublebubble.audit.cases import tied_cases
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds.prediction import Lead
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.types import ABSTAIN


def classifier(batch_size: int = 64) -> SmoothedClassifier:
    return SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.0), 0.5, 2, None, batch_size=batch_size)


def inputs() -> list[Input]:
    return [Input(index, torch.tensor([at, 0.0])) for index, at in enumerate((2.0, -2.0, 0.3, 0.0, 0.05))]


def test_clear_inputs_need_few_draws_and_ties_need_not_all() -> None:
    clear, other, near, tie, _ = classifier().predictions(inputs(), 1000, seed=0)
    needed = Lead(0.001, 2, 1000).needed(0)
    assert (clear.label, other.label) == (1, 0)
    assert clear.draws == other.draws == needed
    assert near.label == 1
    assert needed < near.draws < 200
    assert tie.label == ABSTAIN
    assert 500 < tie.draws < 1000, "no draws are made once none can help"


def test_the_same_predictions_in_any_company() -> None:
    together = classifier().predictions(inputs(), 400, 0.05, seed=3)
    for batch_size in (2, 7, 500):
        alone = [classifier(batch_size).predictions([one], 400, 0.05, seed=3)[0] for one in inputs()]
        assert alone == together


def test_too_few_draws_to_name_anything() -> None:
    found = classifier().predictions(inputs()[:1], 5, seed=0)
    assert found[0].label == ABSTAIN


def test_no_inputs_give_no_predictions() -> None:
    assert classifier().predictions([], seed=0) == []


def test_a_lead_over_the_weakest_class_is_no_lead() -> None:
    """Two classes tie and a third gets next to no votes: naming either is wrong."""
    case = next(case for case in tied_cases() if case.oracle.num_classes > 2)
    found = case.smoothed.predictions((Input(index, case.x) for index in range(50)), 200, seed=0)
    assert [one.label for one in found].count(ABSTAIN) >= 49
