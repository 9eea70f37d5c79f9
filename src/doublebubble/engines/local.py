"""Certifies in this process, several inputs at a time so that they share micro-batches."""

from collections.abc import Iterator

from doublebubble.engines.base import CertifiesMany, Outcome, Task, certify_group


class LocalEngine:
    """The engine of one process: outcomes come in the order of the tasks."""

    def __init__(self, certifier: CertifiesMany) -> None:
        self._certifier = certifier

    def outcomes(self, groups: Iterator[list[Task]]) -> Iterator[Outcome]:
        """Certify group after group."""
        for group in groups:
            yield from certify_group(self._certifier, group)
