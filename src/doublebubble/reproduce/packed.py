"""Runs as small files for a repository: those of one network, protocol and number of draws are one .tar.xz together.

Any tar unpacks it to ordinary run folders. Runs of the same draws repeat each other, lines and prices of profiles
above all, and what is repeated takes no room. Equal runs give equal files. Of a run under `paper`, which no audit can
confirm, centres and attacks are left out.
"""

import io
import lzma
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from doublebubble.errors import RunError
from doublebubble.files import read_plain, write_whole
from doublebubble.runs.attacks import ATTACKS
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import CENTRES, RECORDS, SPEC, StoredRun, read_run

SUFFIX = ".tar.xz"
_UP_TO_DRAWS = re.compile(r".*?-n\d+(?=-)")


def packed_as(name: str) -> str:
    """The name of the file that holds a run: the run's own up to its draws, or the whole where it says none."""
    found = _UP_TO_DRAWS.match(name)
    return (name if found is None else found.group()) + SUFFIX


def pack_runs(runs: Iterable[Path], folder: Path) -> None:
    """Put complete runs into the files of the folder; runs of other names that are there stay as they are."""
    files: dict[Path, list[Path]] = {}
    for run in runs:
        files.setdefault(folder / packed_as(run.name), []).append(run)
    for file, new in files.items():
        if not file.exists():
            _write(file, new)
            continue
        with unpacked(file) as there:
            replaced = {run.name for run in new}
            _write(file, [*new, *(run for run in there.iterdir() if run.name not in replaced)])


def _write(file: Path, runs: Iterable[Path]) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for run in sorted(runs, key=lambda run: run.name):
            for member in _members(run):
                content = read_plain(member)
                entry = tarfile.TarInfo(f"{run.name}/{member.relative_to(run).as_posix()}")
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def _members(run: Path) -> list[Path]:
    """What of a run is kept; the run must be complete."""
    found = read_run(run)
    if found.missing or found.torn:
        raise RunError(f"{run}: expected a complete run, {len(found.missing)} inputs have no record")
    assert isinstance(found.spec, RunSpec)
    members = [run / SPEC, run / RECORDS]
    if found.spec.config.protocol == "sound":
        kept = {record.index for record in found.records if record.centres_digest is not None}
        members += [run / CENTRES / f"{index}.npy" for index in sorted(kept)]
        members += sorted((run / ATTACKS).glob("*.jsonl"))
    return members


@contextmanager
def unpacked(file: Path) -> Iterator[Path]:
    """A folder with the runs of the file, for as long as it is wanted."""
    folder = Path(tempfile.mkdtemp(prefix="doublebubble-"))
    try:
        try:
            with tarfile.open(file, mode="r:xz") as tar:
                tar.extractall(folder, filter="data")
        except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
            raise RunError(f"{file}: holds no packed runs ({error})") from error
        yield folder
    finally:
        shutil.rmtree(folder)


def read_packed(file: Path) -> dict[str, StoredRun]:
    """The records of the runs of a file, by name; their centres are gone when this returns."""
    with unpacked(file) as folder:
        return {run.name: read_run(run) for run in sorted(folder.iterdir())}
