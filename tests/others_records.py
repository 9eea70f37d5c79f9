"""Every record that another process wrote below a test's temporary folders is verified again when the test ends.

Subprocesses of the command, runs that were killed and resumed: `tests/reverified.py` sees none of their certificates,
but their records are on the disk. A record that the test's own process appended to a run is left to
`tests/reverified.py`, and so are copies of it; any other line of a `records.jsonl` is verified, once in a session. A
test that forges or damages records on purpose is marked `forged_records` with its reason.
"""

import functools
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

import pytest

from doublebubble.audit.reverify import Confirmation, reverify_run
from doublebubble.errors import DoubleBubbleError
from doublebubble.facade.auditing import inputs_of
from doublebubble.runs import store
from doublebubble.runs.encoding import encode
from doublebubble.runs.record import Record
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import RECORDS, read_run

Stamp = tuple[int, int]


@dataclass
class Seen:
    """What need not be verified again: lines by their digest, files that have not changed since; and where to look."""

    lines: set[bytes] = field(default_factory=set)
    files: dict[Path, Stamp] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)

    def new(self, line: bytes) -> bool:
        """Whether this line was neither written by this process nor verified before; from now on it was."""
        digest = hashlib.sha256(line).digest()
        known = digest in self.lines
        self.lines.add(digest)
        return not known


@contextmanager
def noted(seen: Seen) -> Iterator[None]:
    """While this lasts, lines that this process appends to a run are known, and the temporary folders of tests."""

    @functools.wraps(encode)
    def encoded(record: Record, digest: str) -> bytes:
        line = encode(record, digest)
        seen.new(line.rstrip(b"\n"))
        return line

    @functools.wraps(pytest.TempPathFactory.mktemp)
    def made(factory: pytest.TempPathFactory, basename: str, numbered: bool = True) -> Path:
        seen.folders.append(mktemp(factory, basename, numbered))
        return seen.folders[-1]

    mktemp = pytest.TempPathFactory.mktemp
    with mock.patch.object(store, "encode", encoded), mock.patch.object(pytest.TempPathFactory, "mktemp", made):
        yield


def failures(seen: Seen, last: Path | None = None) -> list[str]:
    """What the verifier says of records that others wrote and that do not follow from what they store.

    `last` is the folder of a test that is over: it is not looked at again.
    """
    files = [file for folder in seen.folders for file in sorted(folder.rglob(RECORDS))]
    seen.folders = [folder for folder in seen.folders if folder != last]
    return [sentence for file in files for sentence in _file_failures(file, seen)]


def _file_failures(file: Path, seen: Seen) -> list[str]:
    if file.is_symlink() or not file.is_file():
        return []
    about = file.stat()
    stamp = (about.st_mtime_ns, about.st_size)
    if seen.files.get(file) == stamp:
        return []
    seen.files[file] = stamp
    *lines, _ = file.read_bytes().split(b"\n")  # what a crash cut short is no record
    new = [number for number, line in enumerate(lines) if seen.new(line)]
    if not new:
        return []
    try:
        run = read_run(file.parent)
    except DoubleBubbleError as error:
        return [str(error)]
    if not isinstance(run.spec, RunSpec):
        return []  # imported: no certificate was made
    run = replace(run, records=tuple(run.records[number] for number in new))
    return [
        f"{file}: input {verdict.index}: {verdict.outcome.value}: {verdict.sentence}"
        for verdict in reverify_run(run, inputs_of(run.spec)[0])
        if verdict.outcome not in (Confirmation.CONFIRMED, Confirmation.PUBLISHED)
    ]
