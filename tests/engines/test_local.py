"""The engine of one process: in order, one outcome for each input, and lazily."""

from collections.abc import Iterable, Iterator, Sequence

import pytest
import torch

from doublebubble.certificate import Certificate
from doublebubble.engines.base import Failure, in_groups
from doublebubble.engines.local import LocalEngine, StreamEngine
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


class Streams(Refuses):
    """Certifies inputs three at a time, the last of them first."""

    def __init__(self) -> None:
        self.alone: list[int] = []

    def certify_inputs(self, inputs: Sequence[Input]) -> list[Certificate]:
        self.alone += [given.index for given in inputs]
        return super().certify_inputs(inputs)

    def certify_stream(self, inputs: Iterable[Input]) -> Iterator[Certificate]:
        for group in in_groups(inputs, 3):
            yield from super().certify_inputs(group[::-1])


def test_after_an_error_those_at_work_are_done_alone_and_the_stream_goes_on() -> None:
    certifier = Streams()
    found = list(StreamEngine(certifier).outcomes(in_groups(inputs(9), 2)))
    assert [outcome.index for outcome in found] == [2, 1, 0, 3, 4, 5, 8, 7, 6]
    assert [outcome for outcome in found if isinstance(outcome, Failure)] == [
        Failure(4, 1, "input 4: expected finite values")
    ]
    assert certifier.alone == [3, 4, 5]


def test_an_error_of_the_data_ends_the_stream() -> None:
    """Else the inputs after it would be left out without a word."""

    def broken() -> Iterator[list[Input]]:
        yield list(inputs(2))
        raise InputError("input 2: expected a label from 0 to 9, got 11")

    with pytest.raises(InputError, match="label from 0 to 9"):
        list(StreamEngine(Streams()).outcomes(broken()))
