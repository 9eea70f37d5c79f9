"""A run that lives in memory: what `RunStore` is on disk, without a folder. Its records are the same."""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from doublebubble.certificate import Certificate
from doublebubble.runs.record import Record, centres_of
from doublebubble.runs.spec import RunSpec, Spec
from doublebubble.runs.store import RunStore, StoredRun, centres_file

IN_MEMORY = Path("(in memory)")
"""What stands where the folder of a run stands otherwise; no such folder is read or written."""


class Store(Protocol):
    """Where the records of a run go: use it as a context manager."""

    records: list[Record]

    def append(self, outcome: Certificate | Record) -> Record:
        """Keep one outcome."""

    def run(self) -> StoredRun:
        """What has been kept so far."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class MemoryStore:
    """The store of a run without a folder: what it holds is gone with the process."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec: Spec = spec
        self.records: list[Record] = []
        self._with_centres = spec.centres
        self._centres: dict[int, bytes] = {}

    def append(self, outcome: Certificate | Record) -> Record:
        """Keep one outcome."""
        if isinstance(outcome, Record):
            record = outcome
        elif not self._with_centres or (centres := centres_of(outcome)) is None:
            record = Record.of(outcome)
        else:
            content = self._centres[outcome.index] = centres_file(centres)
            record = Record.of(outcome, hashlib.sha256(content).hexdigest())
        self.records.append(record)
        return record

    def run(self) -> StoredRun:
        """What has been kept so far."""
        return StoredRun(IN_MEMORY, self.spec, tuple(self.records), kept=dict(self._centres))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is to be closed."""


def open_store(out: Path | None, spec: RunSpec) -> Store:
    """The store of a run on disk, or of one in memory."""
    return MemoryStore(spec) if out is None else RunStore(out, spec)
