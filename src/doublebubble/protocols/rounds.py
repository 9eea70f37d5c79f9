"""Inputs at work side by side: whoever is done leaves and the next takes its place, so that batches stay full."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from doublebubble.certificate import Certificate
from doublebubble.smoothing import Input


class AtWork(ABC):
    """One input at work, and its place among the inputs."""

    def __init__(self, number: int) -> None:
        self.number = number

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether nothing more is to be drawn for it."""

    @abstractmethod
    def certificate(self) -> Certificate:
        """What was found, once it is done."""


Work = TypeVar("Work", bound=AtWork)


def in_rounds(
    inputs: Iterable[Input],
    room: Callable[[], int],
    begin: Callable[[int, Input], Work],
    advance: Callable[[Sequence[Work]], None],
) -> Iterator[tuple[int, Certificate]]:
    """The certificates with the places of their inputs as they are done.

    Each round advances all that are at work together; before it inputs join as long as there is `room` for so many.
    """
    waiting = enumerate(inputs)
    active: list[Work] = []
    while True:
        while len(active) < room() and (following := next(waiting, None)) is not None:
            active.append(begin(*following))
        if not active:
            return
        advance(active)
        yield from ((one.number, one.certificate()) for one in active if one.done)
        active = [one for one in active if not one.done]


def in_order(found: Iterable[tuple[int, Certificate]]) -> list[Certificate]:
    """The certificates in the order of the inputs."""
    return [certificate for _, certificate in sorted(found, key=lambda one: one[0])]
