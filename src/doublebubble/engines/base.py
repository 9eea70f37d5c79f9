"""What engines share: the tasks, the recipe every worker builds its certifier from, and the driver that writes the run.

An engine turns groups of inputs into outcomes in any order; the driver alone touches the store. May not import ray.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn

from doublebubble.certificate import Certificate
from doublebubble.certifier import Certifier
from doublebubble.config import CertifyConfig
from doublebubble.errors import DoubleBubbleError, RunError
from doublebubble.program import Program
from doublebubble.runs.memory import Store
from doublebubble.runs.record import Record
from doublebubble.smoothing import SmoothedClassifier

FAILURES_AT_START = 5
_LARGEST_GROUP = 64
_PADDING = 0.01  # the part of a group's forward passes that the last micro-batches of its two stages may waste


@dataclass(frozen=True)
class Task:
    """One input to certify."""

    index: int
    x: Tensor
    label: int | None


@dataclass(frozen=True)
class Failure:
    """An input that has no certificate, and why."""

    index: int
    label: int | None
    error: str


Outcome = Certificate | Failure


@dataclass(frozen=True)
class Recipe:
    """Everything a worker needs to certify: the model and how it is smoothed. Travels to other processes."""

    model: nn.Module
    sigma: float
    num_classes: int
    input_shape: tuple[int, ...]
    domain: tuple[float, float] | None
    batch_size: int
    config: CertifyConfig
    program: Program = field(default_factory=Program)
    device: str = "cpu"

    def smoothed(self) -> SmoothedClassifier:
        """The smoothed classifier, its model moved to the device."""
        return SmoothedClassifier(
            self.model.to(self.device),
            sigma=self.sigma,
            num_classes=self.num_classes,
            domain=self.domain,
            batch_size=self.batch_size,
            input_shape=self.input_shape,
            program=self.program,
        )

    def build(self) -> Certifier:
        """A certifier, ready to work."""
        return Certifier(self.smoothed(), self.config)

    @property
    def group_size(self) -> int:
        """How many inputs to certify together: enough to fill micro-batches, few enough to lose little in a crash."""
        draws = self.config.n + self.config.n0
        return min(_LARGEST_GROUP, math.ceil(2 * self.batch_size / (_PADDING * draws)))


class CertifiesMany(Protocol):
    """What is asked of a certifier."""

    def certify_many(
        self, xs: Sequence[Tensor], indices: Sequence[int], labels: Sequence[int | None] | None = None
    ) -> list[Certificate]:
        """Certificates of several inputs, each as if certified alone."""
        ...


class Engine(Protocol):
    """Certifies groups of inputs, somewhere."""

    def outcomes(self, groups: Iterator[list[Task]]) -> Iterator[Outcome]:
        """One outcome per input, in any order, as they come."""
        ...


def certify_group(certifier: CertifiesMany, tasks: Sequence[Task]) -> list[Outcome]:
    """One outcome per task. An input that cannot be certified becomes a failure and does not spoil its neighbours."""
    try:
        return list(certifier.certify_many([t.x for t in tasks], [t.index for t in tasks], [t.label for t in tasks]))
    except DoubleBubbleError as error:
        if isinstance(error.__cause__, torch.OutOfMemoryError):
            # The machine's fault, not the input's: nothing is to be recorded, and a smaller batch may go through.
            raise RunError(f"out of memory on the device; resume with nothing else running there ({error})") from error
        if len(tasks) == 1:
            return [Failure(tasks[0].index, tasks[0].label, str(error))]
    return [outcome for task in tasks for outcome in certify_group(certifier, [task])]


def in_groups(tasks: Iterable[Task], size: int) -> Iterator[list[Task]]:
    """The tasks in lists of `size`, the last one shorter."""
    group: list[Task] = []
    for task in tasks:
        group.append(task)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def execute(engine: Engine, groups: Iterator[list[Task]], store: Store, seen: Callable[[Record], None]) -> None:
    """Write every outcome to the run as it comes and show its record to `seen`.

    A failed input is recorded and the run goes on. If the first inputs of a run all fail it is not they that are wrong:
    then the run stops with their error, and nothing is recorded.
    """
    held: list[Failure] = []
    some_succeeded = any(record.status != "failed" for record in store.records)

    def keep(outcome: Outcome) -> None:
        if isinstance(outcome, Failure):
            seen(store.append(Record.failed(outcome.index, outcome.label, outcome.error)))
        else:
            seen(store.append(outcome))

    for outcome in engine.outcomes(groups):
        if isinstance(outcome, Failure) and not some_succeeded:
            held.append(outcome)
            if len(held) == FAILURES_AT_START:
                raise RunError(f"the first {len(held)} inputs all failed, nothing was recorded: {held[0].error}")
            continue
        some_succeeded = True
        for failure in held:
            keep(failure)
        held.clear()
        keep(outcome)
    for failure in held:
        keep(failure)
