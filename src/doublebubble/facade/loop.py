"""The one run loop: what is still to do goes to an engine, and every outcome into the store as it comes."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from doublebubble.engines.base import Engine, execute
from doublebubble.errors import DoubleBubbleWarning, SettingError
from doublebubble.facade.job import Job
from doublebubble.runs.memory import Store, open_store
from doublebubble.runs.record import Record
from doublebubble.runs.store import begun

Watching = Callable[[list[Record], int], AbstractContextManager[Callable[[Record], None]]]
"""Told the records that are there already and how many there will be; what it gives is shown each new one."""


@dataclass(frozen=True)
class Place:
    """Where inputs are certified: in this process, or on the workers of a Ray cluster."""

    engine: str = "local"
    workers: int = 1
    address: str | None = None
    gpus_per_worker: float = 0.0

    def build(self, job: Job) -> Engine:
        """The engine, ready to work; settings that cannot be meant are an error."""
        if self.engine == "local":
            from doublebubble.engines.local import LocalEngine, StreamEngine

            if self.workers != 1 or self.address is not None or self.gpus_per_worker:
                raise SettingError("workers, address and gpus-per-worker belong to engine ray, the engine is local")
            certifier = job.recipe.build()
            return StreamEngine(certifier) if job.recipe.streamed else LocalEngine(certifier)
        if self.engine != "ray":
            raise SettingError(f"engine: expected local or ray, got {self.engine!r}")
        if job.recipe.device.startswith("cuda") != (self.gpus_per_worker > 0):
            raise SettingError(
                "gpus-per-worker: expected more than 0 exactly if the device is cuda, got "
                f"{self.gpus_per_worker} for {job.recipe.device}"
            )
        try:
            from doublebubble.engines.ray import RayEngine
        except ModuleNotFoundError as error:
            raise SettingError("engine: ray is not installed; `pip install 'doublebubble[ray]'` brings it") from error
        return RayEngine(job.recipe, job.spec.device, self.workers, self.address, self.gpus_per_worker)


def prepare(job: Job, out: Path | None, place: Place) -> tuple[Store, Engine]:
    """Where the run is kept and what certifies it; until there are records, a first look at the model comes before.

    What is found wrong then, an error or a warning, is found before anything is written.
    """
    if not begun(out):
        for sentence in job.look_first():
            warnings.warn(sentence, DoubleBubbleWarning, stacklevel=3)
    return open_store(out, job.spec), place.build(job)


def perform(
    job: Job,
    store: Store,
    watching: Watching,
    engine: Engine | None = None,
    begin: Callable[[], None] = lambda: None,
) -> int:
    """Certify the inputs asked for that the store lacks, and say how many. However this ends, it keeps what is done.

    `begin` is called once the store is open and its records are known.
    """
    chosen = Place().build(job) if engine is None else engine
    with store:
        begin()
        asked = set(job.spec.index_list)
        earlier = [record for record in store.records if record.index in asked]
        if len(earlier) < len(asked):
            with watching(earlier, len(asked)) as seen:
                execute(chosen, job.groups(store), store, seen)
    return len(asked) - len(earlier)
