"""Runs as small files for a repository: a run is one .tar.xz that any tar unpacks to an ordinary run folder.

Equal runs give equal files. Of a run under `paper`, which no audit can confirm, centres and attacks are left out.
"""

import io
import lzma
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from doublebubble.errors import RunError
from doublebubble.files import read_plain, write_whole
from doublebubble.runs.attacks import ATTACKS
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import CENTRES, RECORDS, SPEC, StoredRun, read_run

SUFFIX = ".tar.xz"


def pack_run(run: Path, file: Path) -> int:
    """Write the run, which must be complete, as one file; its size in bytes."""
    found = read_run(run)
    if found.missing or found.torn:
        raise RunError(f"{run}: expected a complete run, {len(found.missing)} inputs have no record")
    assert isinstance(found.spec, RunSpec)
    members = [run / SPEC, run / RECORDS]
    if found.spec.config.protocol == "sound":
        kept = {record.index for record in found.records if record.centres_digest is not None}
        members += [run / CENTRES / f"{index}.npy" for index in sorted(kept)]
        members += sorted((run / ATTACKS).glob("*.jsonl"))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for member in members:
            content = read_plain(member)
            entry = tarfile.TarInfo(f"{run.name}/{member.relative_to(run).as_posix()}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    packed = lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, packed)
    return len(packed)


@contextmanager
def unpacked(file: Path) -> Iterator[Path]:
    """The run's folder, for as long as it is wanted."""
    folder = Path(tempfile.mkdtemp(prefix="doublebubble-"))
    try:
        try:
            with tarfile.open(file, mode="r:xz") as tar:
                tar.extractall(folder, filter="data")
        except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
            raise RunError(f"{file}: is not a packed run ({error})") from error
        yield folder / file.name.removesuffix(SUFFIX)
    finally:
        shutil.rmtree(folder)


def read_packed(file: Path) -> StoredRun:
    """The records of a packed run; its centres are gone when this returns."""
    with unpacked(file) as run:
        return read_run(run)
