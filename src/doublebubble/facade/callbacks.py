"""Who else wants to know how a certification goes? Trackers, dashboards, notebooks: one protocol for all of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from doublebubble.facade.loop import Watching
from doublebubble.facade.run import Run
from doublebubble.runs.memory import Store
from doublebubble.runs.record import Record


class Callback(Protocol):
    """What `certify(callbacks=[...])` tells of a run while it is made.

    Called in the process that keeps the run, with every engine. A record is told after it was stored, so whatever a
    callback does, no record is lost: an error that it raises ends the run, and the same call resumes it. It cannot
    change a number.
    """

    def on_start(self, run: Run) -> None:
        """The run before any work: its specification, and the records that it held already."""

    def on_record(self, record: Record) -> None:
        """One more input is done."""

    def on_end(self, run: Run) -> None:
        """The run as it is now, however it ended; `run.interrupted` says whether something ended it early."""


class Telling:
    """Tells callbacks of one run: of its start once its store is open, of its records, and of its end if it started."""

    def __init__(self, callbacks: Sequence[Callback], store: Store) -> None:
        self._callbacks, self._store = callbacks, store
        self._begun: list[Callback] = []

    def begin(self) -> None:
        """The store is open and holds what was done earlier."""
        run = Run.of(self._store.run())
        for callback in self._callbacks:
            self._begun.append(callback)
            callback.on_start(run)

    @contextmanager
    def watching(self, others: Watching, earlier: list[Record], total: int) -> Iterator[Callable[[Record], None]]:
        """Who sees new records: the others first, then the callbacks."""
        with others(earlier, total) as seen:

            def tell(record: Record) -> None:
                seen(record)
                for callback in self._callbacks:
                    callback.on_record(record)

            yield tell

    def end(self, interrupted: bool) -> None:
        """Nothing more comes."""
        run = Run.of(self._store.run(), interrupted)
        for callback in self._begun:
            callback.on_end(run)


@contextmanager
def telling(callbacks: Sequence[Callback], store: Store) -> Iterator[Telling]:
    """Callbacks that are told of the end however it comes: a mistake and Ctrl-C count as an interruption."""
    teller, complete = Telling(callbacks, store), False
    try:
        yield teller
        complete = True
    finally:
        teller.end(interrupted=not complete)
