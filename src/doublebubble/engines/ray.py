"""Certifies on the workers of a Ray cluster; the only file that imports ray.

Each worker is an actor that holds the model once. The driver hands out groups of inputs, at most two to each worker,
and gets outcomes back; workers write nothing. A worker that dies is replaced and its inputs are done again, one at a
time, so that an input which kills its worker is found and recorded without taking others along.
"""

import logging
import pickle
import socket
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import ray
import torch
from ray.exceptions import RayActorError, RayError, RayTaskError
from torch import nn

from doublebubble.engines.base import CertifiesInputs, Failure, Outcome, Recipe, certify_group
from doublebubble.errors import DoubleBubbleWarning, RunError, SettingError
from doublebubble.freed_memory import keep_freed_memory
from doublebubble.models.calling import reason as reason_of
from doublebubble.runs.digests import device_kind, software_versions
from doublebubble.smoothing import Input

_Actor = Any  # ray makes the methods of its handles at run time

IN_FLIGHT = 2
ATTEMPTS = 3
PATIENCE, LONG_PATIENCE = 10.0, 180.0
"""Seconds after which it is said that workers have not started: if the cluster lacked room for them, and if not."""


class _Worker:
    """Runs inside the cluster."""

    def __init__(self) -> None:
        self._certifier: CertifiesInputs | None = None

    def build(self, recipe: Recipe, device: str, versions: dict[str, str]) -> None:
        """Make the certifier; another kind of device or other software could give other votes and is refused."""
        torch.set_num_threads(1)
        keep_freed_memory()
        found = {"device": device_kind(torch.device(recipe.device)), **software_versions()}
        for name, expected in {"device": device, **versions}.items():
            if found[name] != expected:
                host = socket.gethostname()
                raise RunError(f"the worker on {host} has {name} {found[name]!r}, the run's is {expected!r}")
        self._certifier = recipe.build()

    def certify(self, inputs: list[Input]) -> list[Outcome]:
        """One outcome for each input."""
        if self._certifier is None:
            raise RunError("the worker was asked to certify before it was built")
        return certify_group(self._certifier, inputs)


@dataclass(frozen=True)
class _Assignment:
    """A group of inputs at one worker; `alone` if they were given to it by themselves after an earlier worker died."""

    inputs: list[Input]
    alone: bool


@dataclass
class _Slot:
    """One worker and what it has been given, by the reference that its answer will have."""

    actor: _Actor
    given: dict[Any, _Assignment] = field(default_factory=dict)

    def has_room(self, alone: bool) -> bool:
        if alone:
            return not self.given
        return len(self.given) < IN_FLIGHT and not any(assignment.alone for assignment in self.given.values())


class RayEngine:
    """The engine of a cluster: outcomes come in any order.

    `address` names an existing cluster (`auto`: the one this machine belongs to); without it one is started here and
    ends with the run. Each worker takes one CPU, one torch thread, and `gpus_per_worker` of a GPU, which may be less
    than one. `device` is the kind of device the run was specified with.
    """

    def __init__(
        self, recipe: Recipe, device: str, workers: int, address: str | None = None, gpus_per_worker: float = 0.0
    ) -> None:
        if workers < 1:
            raise SettingError(f"workers: expected at least 1, got {workers}")
        self._recipe = recipe
        self._device = device
        self._versions = software_versions()
        self._workers = workers
        self._address = address
        self._gpus = gpus_per_worker

    def outcomes(self, groups: Iterator[list[Input]]) -> Iterator[Outcome]:
        """Certify the groups on the workers, as fast as outcomes are taken."""
        with self._cluster():
            yield from _Dispatch(self._start_workers(), groups, self._replacement).outcomes()

    @contextmanager
    def _cluster(self) -> Iterator[None]:
        here = self._address is None
        if self._address is not None:
            _require_listener(self._address)
        try:
            ray.init(
                address="local" if here else self._address,
                num_cpus=self._workers if here else None,
                include_dashboard=False if here else None,
                logging_level=logging.ERROR,
                log_to_driver=False,
            )
        except (ConnectionError, RayError, RuntimeError, ValueError) as error:
            raise RunError(f"ray: no cluster at {self._address or 'this machine'} ({error})") from error
        try:
            self._require_resources()
            yield
        finally:
            ray.shutdown()

    def _require_resources(self) -> None:
        have = _resources(ray.cluster_resources)
        for name, wanted in (("CPU", float(self._workers)), ("GPU", self._workers * self._gpus)):
            if have.get(name, 0.0) < wanted:
                raise RunError(
                    f"ray: {self._workers} workers need {wanted:g} {name}, the cluster has {have.get(name, 0.0):g}"
                )

    def _start_workers(self) -> list[_Slot]:
        _send_code_along(self._recipe.model)
        try:
            self._shared = ray.put(self._recipe)
        except (TypeError, ValueError, pickle.PickleError) as error:
            raise RunError(
                f"ray: the model cannot be sent to other processes ({reason_of(error)}); engine local needs no sending"
            ) from error
        try:
            return self._started(self._workers)
        except RayActorError as error:
            reason = str(error).strip().splitlines()[-1].strip()
            raise RunError(
                f"ray: a worker ended while it loaded the model ({reason}); doublebubble and the model's packages must "
                "be installed on every machine of the cluster"
            ) from error

    def _replacement(self) -> _Slot:
        for _ in range(ATTEMPTS):
            try:
                return self._started(1)[0]
            except RayActorError:
                continue
        raise RunError(f"ray: a lost worker could not be replaced, {ATTEMPTS} new ones died while loading the model")

    def _started(self, workers: int) -> list[_Slot]:
        """New workers that have built their certifiers; says so if the cluster keeps them waiting."""
        needs = {"CPU": float(workers), "GPU": workers * self._gpus}
        free = _resources(ray.available_resources)
        lacking = [name for name, wanted in needs.items() if free.get(name, 0.0) < wanted]
        actors = [self._actor() for _ in range(workers)]
        references = [actor.build.remote(self._shared, self._device, self._versions) for actor in actors]
        # The share of a worker that has just died may not be free yet, so a replacement is given more time.
        patience = PATIENCE if lacking and workers == self._workers else LONG_PATIENCE
        _, waiting = ray.wait(references, num_returns=workers, timeout=patience)
        if waiting:
            start = f"ray: {len(waiting)} of {workers} workers have not started after {patience:g} seconds"
            why = _occupied({name: (needs[name], free.get(name, 0.0)) for name in lacking})
            warnings.warn(start + why, DoubleBubbleWarning, stacklevel=2)
        _answers(references)
        return [_Slot(actor) for actor in actors]

    def _actor(self) -> _Actor:
        return ray.remote(num_cpus=1, num_gpus=self._gpus, max_restarts=0)(_Worker).remote()


class _Dispatch:
    """Hands out groups, collects outcomes, and deals with workers that die."""

    def __init__(self, slots: list[_Slot], groups: Iterator[list[Input]], replacement: Callable[[], _Slot]) -> None:
        self._slots = slots
        self._groups = groups
        self._replacement = replacement
        self._again: deque[Input] = deque()  # to be done alone, after a worker died holding them
        self._deaths: dict[int, int] = {}

    def outcomes(self) -> Iterator[Outcome]:
        while True:
            self._hand_out()
            waiting = [reference for slot in self._slots for reference in slot.given]
            if not waiting:
                return
            ready, _ = ray.wait(waiting, num_returns=1)
            yield from self._collect(ready[0])

    def _hand_out(self) -> None:
        for slot in self._slots:
            while self._again and slot.has_room(alone=True):
                self._give(slot, _Assignment([self._again.popleft()], alone=True))
        for _ in range(IN_FLIGHT):  # one group to every worker before a second to any
            for slot in self._slots:
                if slot.has_room(alone=False) and (group := next(self._groups, None)) is not None:
                    self._give(slot, _Assignment(group, alone=False))

    def _give(self, slot: _Slot, assignment: _Assignment) -> None:
        slot.given[slot.actor.certify.remote(assignment.inputs)] = assignment

    def _collect(self, reference: ray.ObjectRef[list[Outcome]]) -> list[Outcome]:
        number = next(number for number, slot in enumerate(self._slots) if reference in slot.given)
        try:
            outcomes = _answers([reference])[0]
        except RayActorError:
            return self._bury(number)
        del self._slots[number].given[reference]
        return list(outcomes)

    def _bury(self, number: int) -> list[Outcome]:
        """Replace a dead worker; its inputs are done again alone, or given up if they keep killing workers."""
        lost = self._slots[number].given.values()
        failures: list[Outcome] = []
        for assignment in lost:
            for given in assignment.inputs:
                # Only an input that was alone can be blamed for the death.
                self._deaths[given.index] = self._deaths.get(given.index, 0) + assignment.alone
                if self._deaths[given.index] < ATTEMPTS:
                    self._again.append(given)
                else:
                    reason = f"its worker died while certifying it alone, {ATTEMPTS} times"
                    failures.append(Failure(given.index, given.label, reason))
        self._slots[number] = self._replacement()
        return failures


def _resources(ask: Callable[[], dict[str, float]]) -> dict[str, float]:
    """What ray, whose functions have no types, says of its resources."""
    return ask()


def _occupied(lacking: dict[str, tuple[float, float]]) -> str:
    """What workers need and what was free when they were asked for, and what happens now."""
    if not lacking:
        return ", though the cluster had room for them; still waiting"
    total = _resources(ray.cluster_resources)
    parts = [
        f"they need {wanted:g} {name}, and of the cluster's {total.get(name, 0.0):g} only {free:g} were free"
        for name, (wanted, free) in lacking.items()
    ]
    return (
        f": {'; '.join(parts)}. The run waits until others release the rest; to begin at once, stop it and ask for "
        "fewer workers"
    )


def _require_listener(address: str) -> None:
    """An error if nobody answers at host:port: ray itself would go on trying for a long time."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():  # `auto` and `local` are names that ray resolves
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise RunError(f"ray: no cluster at {address} ({error})") from error


def _send_code_along(model: nn.Module) -> None:
    """Have the classes of a model that were written in the current folder travel with it: workers run elsewhere."""
    by_value: Callable[[ModuleType], None] = ray.cloudpickle.register_pickle_by_value
    for kind in {type(module) for module in model.modules()}:
        module = sys.modules[kind.__module__]
        file = Path(getattr(module, "__file__", None) or "/").resolve()
        if file.is_relative_to(Path.cwd()) and "site-packages" not in file.parts and module.__name__ != "__main__":
            by_value(module)


def _answers(references: list[ray.ObjectRef[Any]]) -> list[Any]:
    """What workers return; what they raise is raised here. The death of a worker stays a RayActorError."""
    try:
        return list(ray.get(references))
    except RayTaskError as error:
        raise RunError(f"ray: {error.cause}") from error
