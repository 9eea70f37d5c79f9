"""A run on disk: specification, records, centres. Appended record by record, never rewritten, written by one process.

A record that `append` has returned from survives a crash of the program and of the machine. Whatever else happens to
the files is found when they are read: a line cut short at the very end is what a crash leaves and is dropped on resume;
any other damage is an error that names the line.
"""

import errno
import hashlib
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from doublebubble.certificate import Certificate
from doublebubble.errors import RunError
from doublebubble.files import make_folder, open_plain, read_plain, write_all, write_whole
from doublebubble.runs.encoding import decode, encode
from doublebubble.runs.indices import format_indices
from doublebubble.runs.lock import take_lock, unlock
from doublebubble.runs.record import Record, centres_of
from doublebubble.runs.spec import RunSpec, Spec, differences, identity_hash, parse_spec, spec_text
from doublebubble.types import Floats

SPEC, RECORDS, CENTRES, PICTURES, LOCK = "spec.json", "records.jsonl", "centres", "pictures", ".lock"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}


@dataclass(frozen=True)
class StoredRun:
    """What a run holds; `torn` says whether its last line on disk was cut short and is not among the records.

    A run in memory has a path that names no folder, and its files of centres in `kept`.
    """

    path: Path
    spec: Spec
    records: tuple[Record, ...]
    torn: bool = False
    kept: Mapping[int, bytes] | None = None

    @property
    def missing(self) -> tuple[int, ...]:
        """The inputs of the specification that have no record yet."""
        done = {record.index for record in self.records}
        return tuple(index for index in self.spec.index_list if index not in done)

    def centres(self, record: Record) -> Floats | None:
        """The centres that the record's plan used besides the input, exactly; None if there are none or none stored."""
        if record.centres_digest is None:
            return None
        content = _centres_bytes(self.path, record) if self.kept is None else self.kept[record.index]
        return _parsed_centres(content, _centres_path(self.path, record.index))


def read_run(path: Path) -> StoredRun:
    """The run as it is on disk, also while another process is writing it; nothing is repaired."""
    content = _records_bytes(path)  # before the specification: its inputs only ever grow
    spec = read_spec(path)
    records, _, torn = _parse_records(path, content, spec)
    return StoredRun(path, spec, tuple(records), torn)


class RunStore:
    """The one writer of a run: use it as a context manager.

    Opening creates the run, or resumes it if the specification is the same but for its inputs, repairing a last line
    that a crash cut short. A run's inputs are all that it was ever asked for: further ones are added, none is taken
    away. A run without a record takes any specification, since nothing is lost. A second writer, another specification
    and damage are refused; nothing on disk is changed by a refusal.
    """

    def __init__(self, path: Path, spec: Spec) -> None:
        self.path = path
        self.spec = spec
        self.records: list[Record] = []
        self.repaired = False
        self._digest = identity_hash(spec)
        self._length = 0
        self._lock: int | None = None
        self._file: int | None = None

    def __enter__(self) -> Self:
        try:
            with _explained(self.path, "opening the run"):
                self._open()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def append(self, outcome: Certificate | Record) -> Record:
        """Write one outcome; when this returns it is on the disk. After an error the records are as before."""
        with self._explained():
            if isinstance(outcome, Record):
                return self._append(outcome)
            centres = centres_of(outcome) if isinstance(self.spec, RunSpec) and self.spec.centres else None
            if centres is None:
                return self._append(Record.of(outcome))
            # First the centres, then the record: a record on disk never lacks its centres.
            content = centres_file(centres)
            self._write_centres(outcome.index, content)
            return self._append(Record.of(outcome, hashlib.sha256(content).hexdigest()))

    def append_copy(self, record: Record, source: StoredRun) -> Record:
        """Write a record of another run and, if it has any, the centres that belong to it."""
        with self._explained():
            if record.centres_digest is not None:
                self._write_centres(record.index, _centres_bytes(source.path, record))
            return self._append(record)

    def run(self) -> StoredRun:
        """What has been written so far."""
        return StoredRun(self.path, self.spec, tuple(self.records))

    # Inside

    def _open(self) -> None:
        self._require_ours()  # before anything is written: what is refused is left as it was
        made = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        taken = take_lock(self.path / LOCK)
        if taken is None:
            raise RunError(f"{self.path}: another process is writing this run; wait for it or stop it")
        self._lock, fresh = taken
        try:
            self._require_ours()
            if (self.path / SPEC).exists():
                self._resume()
            else:
                write_whole(self.path / SPEC, spec_text(self.spec).encode())
        except BaseException:
            if fresh:
                (self.path / LOCK).unlink(missing_ok=True)
            if made:
                self.path.rmdir()
            raise
        self._file = open_plain(self.path / RECORDS, os.O_WRONLY | os.O_APPEND)
        if self.repaired:
            os.ftruncate(self._file, self._length)
            os.fsync(self._file)

    def _resume(self) -> None:
        found = read_spec(self.path)
        self.records, self._length, self.repaired = _parse_records(self.path, _records_bytes(self.path), found)
        if self.records:
            if changed := differences(found.model_copy(update={"indices": self.spec.indices}), self.spec):
                raise RunError(
                    f"{self.path}: holds a run of another specification ({'; '.join(changed)}); "
                    "use the same settings to resume it, or another folder"
                )
            every = sorted({*found.index_list, *self.spec.index_list})
            self.spec = found.model_copy(update={"indices": format_indices(every)})  # its probe, to the last bit
        if found != self.spec:
            write_whole(self.path / SPEC, spec_text(self.spec).encode())

    def _require_ours(self) -> None:
        """An error if the folder holds something, and no run."""
        if not self.path.exists() or (self.path / SPEC).exists():
            return
        others = sorted(entry.name for entry in self.path.iterdir() if entry.name not in (LOCK, f"{SPEC}.tmp"))
        if others:
            raise RunError(f"{self.path}: is not a run (no {SPEC}) and not empty (it holds {others[0]})")

    def _append(self, record: Record) -> Record:
        if self._file is None:
            raise RunError(f"{self.path}: the run is not open for writing")
        line = encode(record, self._digest)
        try:
            write_all(self._file, line)
            os.fsync(self._file)
        except BaseException:
            os.ftruncate(self._file, self._length)
            raise
        self._length += len(line)
        self.records.append(record)
        return record

    def _write_centres(self, index: int, content: bytes) -> None:
        make_folder(self.path / CENTRES)
        write_whole(_centres_path(self.path, index), content)

    def _explained(self) -> AbstractContextManager[None]:
        return _explained(self.path, f"{len(self.records)} records are safe, writing the next")

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
        if self._lock is not None:
            unlock(self._lock)
            os.close(self._lock)
        self._file = self._lock = None


def begun(path: Path | None) -> bool:
    """Whether a run in this folder has records; until then it takes any specification."""
    return path is not None and (path / RECORDS).exists() and (path / RECORDS).stat().st_size > 0


def read_spec(path: Path) -> Spec:
    """What the run in this folder was asked for, its records unread."""
    where = path / SPEC
    try:
        return parse_spec(read_plain(where).decode(), str(where))
    except FileNotFoundError:
        raise RunError(f"{path}: expected a run, found no {SPEC} there") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{where}: cannot be read ({error})") from error


def _records_bytes(path: Path) -> bytes:
    try:
        return read_plain(path / RECORDS)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RunError(f"{path / RECORDS}: cannot be read ({error})") from error


def _parse_records(path: Path, content: bytes, spec: Spec) -> tuple[list[Record], int, bool]:
    """The records, the length in bytes of the whole lines, and whether a line cut short follows them."""
    where = path / RECORDS
    *lines, rest = content.split(b"\n")
    digest, wanted, seen = identity_hash(spec), set(spec.index_list), dict[int, int]()
    records = []
    for number, line in enumerate(lines, start=1):
        record = decode(line, digest, f"{where}: line {number}", Record)
        if record.index in seen:
            raise RunError(f"{where}: line {number}: input {record.index} is on line {seen[record.index]} already")
        if record.index not in wanted:
            raise RunError(f"{where}: line {number}: input {record.index} is not one of the run's ({spec.indices})")
        seen[record.index] = number
        records.append(record)
    return records, len(content) - len(rest), bool(rest)


def _centres_path(path: Path, index: int) -> Path:
    return path / CENTRES / f"{index}.npy"


def centres_file(centres: Floats) -> bytes:
    """The centres as an .npy file, narrowed to float32 where that loses nothing."""
    with np.errstate(over="ignore"):
        narrow = centres.astype(np.float32)
    buffer = io.BytesIO()
    np.save(buffer, narrow if np.array_equal(narrow, centres) else centres, allow_pickle=False)
    return buffer.getvalue()


def _parsed_centres(content: bytes, where: Path) -> Floats:
    """The numbers of an .npy file, whose header must fit its length before anything is allocated."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, backwards, dtype = read(file)
        values = np.frombuffer(content[file.tell() :], dtype if dtype in (np.float32, np.float64) else np.void)
        if backwards or not np.isfinite(values).all():
            raise ValueError("expected finite numbers, row by row")
        return values.astype(np.float64).reshape(shape)
    except Exception as error:  # headers of other files raise whatever they like
        raise RunError(f"{where}: is not a file of centres ({error})") from error


def _centres_bytes(path: Path, record: Record) -> bytes:
    where = _centres_path(path, record.index)
    try:
        content = read_plain(where)
    except OSError as error:
        raise RunError(f"{where}: the centres of input {record.index} cannot be read ({error})") from error
    if hashlib.sha256(content).hexdigest() != record.centres_digest:
        raise RunError(f"{where}: damaged, not the centres that the record of input {record.index} was made with")
    return content


@contextmanager
def _explained(path: Path, doing: str) -> Iterator[None]:
    """Turn the system's errors into sentences about the run."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            why = "there is no space left; free some and run the same command again to resume"
        elif error.errno in _READ_ONLY:
            why = "the folder cannot be written; make it writable or choose another"
        else:
            why = str(error)
        raise RunError(f"{path}: {doing} failed: {why}") from error
