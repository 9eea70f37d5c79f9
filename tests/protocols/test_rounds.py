"""Inputs at work side by side: how many, for how long, and in what order they are handed out."""

from collections.abc import Iterator, Sequence

import pytest
import torch

from doublebubble.certificate import Certificate
from doublebubble.protocols.rounds import AtWork, in_order, in_rounds
from doublebubble.smoothing import Input
from tests.runs.samples import certificate


class Counting(AtWork):
    """An input that is done after as many rounds as its index says."""

    def __init__(self, number: int, given: Input) -> None:
        super().__init__(number)
        self.left = given.index

    @property
    def done(self) -> bool:
        return self.left == 0

    def certificate(self) -> Certificate:
        assert self.done
        return certificate(self.number)


def rounds_of(lengths: Sequence[int], room: int) -> tuple[list[tuple[int, int]], list[list[int]]]:
    together: list[list[int]] = []

    def advance(active: Sequence[Counting]) -> None:
        together.append([one.number for one in active])
        for one in active:
            one.left -= 1

    def inputs() -> Iterator[Input]:
        for length in lengths:
            yield Input(length, torch.zeros(1))

    found = list(in_rounds(inputs(), lambda: room, Counting, advance))
    assert [one.index for one in in_order(found)] == list(range(len(lengths)))
    return [(number, one.index) for number, one in found], together


def test_whoever_is_done_makes_room_for_the_next() -> None:
    found, together = rounds_of([3, 1, 2, 1], 2)
    assert together == [[0, 1], [0, 2], [0, 2], [3]]
    assert found == [(number, number) for number in (1, 0, 2, 3)]


@pytest.mark.parametrize("room", [1, 2, 5, 50])
def test_every_input_is_handed_out_once(room: int) -> None:
    lengths = [1 + number * 7 % 5 for number in range(20)]
    found, together = rounds_of(lengths, room)
    assert sorted(number for number, _ in found) == list(range(20))
    assert max(map(len, together)) == min(room, 20)
    assert sum(map(len, together)) == sum(lengths)


def test_no_inputs_are_no_rounds() -> None:
    assert rounds_of([], 3) == ([], [])
