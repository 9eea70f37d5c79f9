"""What engines share: the recipe every worker builds its certifier from, and the driver that writes the run.

An engine turns groups of inputs into outcomes in any order; the driver alone touches the store. May not import ray.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from torch import nn

from doublebubble.certificate import Certificate
from doublebubble.certifier import Certifier
from doublebubble.config import CertifyConfig
from doublebubble.errors import DoubleBubbleError, FunctionError, RunError
from doublebubble.models.calling import out_of_memory, reason
from doublebubble.program import Program
from doublebubble.runs.memory import Store
from doublebubble.runs.record import Record
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.types import NoiseName

FAILURES_AT_START = 5
_LARGEST_GROUP = 64
_PADDING = 0.01  # the part of a group's forward passes that the last micro-batches of its two stages may waste


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
    noise: NoiseName = "gaussian"
    grid: int | None = None

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
            noise=self.noise,
            grid=self.grid,
        )

    def build(self) -> Certifier:
        """A certifier, ready to work."""
        return Certifier(self.smoothed(), self.config)

    @property
    def streamed(self) -> bool:
        """Whether inputs need unequal draws, so that in one process a decided one makes room for the next."""
        return self.config.sequential or self.config.protocol == "paper"

    @property
    def group_size(self) -> int:
        """How many inputs to certify together: enough to fill micro-batches, few enough to lose little in a crash."""
        if self.config.protocol == "paper":
            return 1  # one input takes as long as many; in one process inputs join as others leave
        if self.config.sequential:
            return _LARGEST_GROUP  # how many draws they need is not known yet
        draws = self.config.n + self.config.n0
        return min(_LARGEST_GROUP, math.ceil(2 * self.batch_size / (_PADDING * draws)))


class CertifiesInputs(Protocol):
    """What is asked of a certifier."""

    def certify_inputs(self, inputs: Sequence[Input]) -> list[Certificate]:
        """Certificates of several inputs, each as if certified alone."""
        ...


class CertifiesStreams(CertifiesInputs, Protocol):
    """What is asked of a certifier that takes further inputs as others are decided."""

    def certify_stream(self, inputs: Iterable[Input]) -> Iterator[Certificate]:
        """The same certificates, in the order in which they are decided."""
        ...


class Engine(Protocol):
    """Certifies groups of inputs, somewhere."""

    def outcomes(self, groups: Iterator[list[Input]]) -> Iterator[Outcome]:
        """One outcome for each input, in any order, as they come."""
        ...


def certify_group(certifier: CertifiesInputs, inputs: Sequence[Input]) -> list[Outcome]:
    """One outcome for each input. An input that cannot be certified becomes a failure and spoils no neighbour.

    Out of memory, or a model that is no function of its input, is no input's fault: an error, and nothing is recorded.
    """
    try:
        return list(certifier.certify_inputs(inputs))
    except FunctionError as error:
        raise _distrusted(error) from error
    except (DoubleBubbleError, MemoryError, RuntimeError) as error:
        _require_memory(error)
        if not isinstance(error, DoubleBubbleError):
            raise
        if len(inputs) == 1:
            return [Failure(inputs[0].index, inputs[0].label, str(error))]
    return [outcome for given in inputs for outcome in certify_group(certifier, [given])]


def _distrusted(error: FunctionError) -> RunError:
    return RunError(f"{error}. The run stops; do not use what it recorded of this model before, if it did")


def _require_memory(error: BaseException) -> None:
    """An error for the run if this one says that memory ran out."""
    if out_of_memory(error):
        said = reason(error.__cause__ or error)
        raise RunError(
            "out of memory on the device: free some there and resume with the same command, or start again in "
            f"another folder with a smaller batch size, which makes it another run ({said})"
        ) from error


def certify_streamed(certifier: CertifiesStreams, inputs: Iterable[Input]) -> Iterator[Outcome]:
    """One outcome for each input as it is decided. After an error, the inputs then at work are done again alone."""
    at_work: dict[int, Input] = {}
    waiting, broken = iter(inputs), False

    def taken() -> Iterator[Input]:
        nonlocal broken
        try:
            for given in waiting:
                at_work[given.index] = given
                yield given
        except DoubleBubbleError:
            broken = True
            raise

    while True:
        try:
            for certificate in certifier.certify_stream(taken()):
                del at_work[certificate.index]
                yield certificate
            return
        except FunctionError as error:
            raise _distrusted(error) from error
        except (DoubleBubbleError, MemoryError, RuntimeError) as error:
            _require_memory(error)
            if broken or not isinstance(error, DoubleBubbleError):
                raise  # it was the data that failed, not the certification of an input; or a bug
        again = list(at_work.values())
        at_work.clear()
        yield from (outcome for given in again for outcome in certify_group(certifier, [given]))


def in_groups(inputs: Iterable[Input], size: int) -> Iterator[list[Input]]:
    """The inputs in lists of `size`, the last one shorter."""
    group: list[Input] = []
    for given in inputs:
        group.append(given)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def execute(engine: Engine, groups: Iterator[list[Input]], store: Store, seen: Callable[[Record], None]) -> None:
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
