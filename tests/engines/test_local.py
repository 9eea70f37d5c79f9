"""The engine of one process: in order, one outcome for each input, and lazily."""

from collections.abc import Iterator, Sequence

import torch

from doublebubble.certificate import Certificate
from doublebubble.engines.base import Failure, in_groups
from doublebubble.engines.local import LocalEngine
from doublebubble.errors import InputError
from doublebubble.smoothing import Input
from tests.runs.samples import certificate


class Refuses:
    """Certifies all inputs but one, and says so of the whole group."""

    def certify_inputs(self, inputs: Sequence[Input]) -> list[Certificate]:
        indices = [given.index for given in inputs]
        if 4 in indices:
            raise InputError("input 4: expected finite values")
        return [certificate(index) for index in indices]


def inputs(count: int) -> Iterator[Input]:
    return (Input(index, torch.zeros(1), 1) for index in range(count))


def test_outcomes_come_in_order_and_a_failure_spoils_nobody_else() -> None:
    found = list(LocalEngine(Refuses()).outcomes(in_groups(inputs(8), 3)))
    assert [outcome.index for outcome in found] == list(range(8))
    assert [outcome for outcome in found if isinstance(outcome, Failure)] == [
        Failure(4, 1, "input 4: expected finite values")
    ]


def test_a_group_is_taken_only_when_the_one_before_is_done() -> None:
    taken: list[int] = []

    def groups() -> Iterator[list[Input]]:
        for group in in_groups(inputs(6), 2):
            taken.append(group[0].index)
            yield group

    outcomes = LocalEngine(Refuses()).outcomes(groups())
    assert taken == []
    assert [next(outcomes).index, next(outcomes).index] == [0, 1]
    assert taken == [0], "an interruption loses one group at most"
