"""Certifies in this process, several inputs at a time so that they share micro-batches."""

from collections.abc import Iterator

from doublebubble.engines.base import CertifiesInputs, CertifiesStreams, Outcome, certify_group, certify_streamed
from doublebubble.smoothing import Input


class LocalEngine:
    """The engine of one process: outcomes come in the order of the inputs."""

    def __init__(self, certifier: CertifiesInputs) -> None:
        self._certifier = certifier

    def outcomes(self, groups: Iterator[list[Input]]) -> Iterator[Outcome]:
        """Certify group after group."""
        for group in groups:
            yield from certify_group(self._certifier, group)


class StreamEngine:
    """The engine of one process whose inputs need unequal draws: a decided one makes room for the next.

    Outcomes come in any order.
    """

    def __init__(self, certifier: CertifiesStreams) -> None:
        self._certifier = certifier

    def outcomes(self, groups: Iterator[list[Input]]) -> Iterator[Outcome]:
        """Certify all inputs as one stream."""
        return certify_streamed(self._certifier, (given for group in groups for given in group))
