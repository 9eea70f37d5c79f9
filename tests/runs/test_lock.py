"""The lock of a run on both kinds of system, Windows being played by a stand-in."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from doublebubble.errors import RunError
from doublebubble.runs.lock import try_lock, unlock
from doublebubble.runs.store import RunStore, read_run
from tests.runs.samples import certificate, spec


class Windows(ModuleType):
    """Locks bytes of files as msvcrt does: by handle, refused while another handle holds them."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.holders: dict[int, int] = {}

    def locking(self, file: int, mode: int, size: int) -> None:
        assert size == 1
        where = os.fstat(file).st_ino
        if mode == self.LK_UNLCK:
            assert self.holders.pop(where) == file
        elif where in self.holders:
            raise OSError(errno.EACCES, "Permission denied")
        else:
            self.holders[where] = file


@pytest.fixture(params=["posix", "windows"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "windows":
        monkeypatch.setitem(sys.modules, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", Windows())
    return str(request.param)


def test_one_handle_at_a_time_holds_the_lock(system: str, tmp_path: Path) -> None:
    first, second = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    assert try_lock(first)
    assert not try_lock(second)
    unlock(first)
    os.close(first)
    assert try_lock(second)
    unlock(second)
    os.close(second)


def test_other_errors_are_not_taken_for_a_lock(system: str, tmp_path: Path) -> None:
    closed = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    os.close(closed)
    with pytest.raises(OSError, match="Bad file descriptor"):
        try_lock(closed)


def test_a_run_has_one_writer_and_is_free_afterwards(system: str, tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec()) as store:
        store.append(certificate(0))
        with pytest.raises(RunError, match="another process is writing"), RunStore(tmp_path / "run", spec()):
            pass
        store.append(certificate(1))
    with RunStore(tmp_path / "run", spec()) as store:
        store.append(certificate(2))
    assert [record.index for record in read_run(tmp_path / "run").records] == [0, 1, 2]


def test_the_package_can_be_imported_where_there_is_no_fcntl() -> None:
    code = "import sys; sys.modules['fcntl'] = None; import doublebubble, doublebubble.runs.store; print('imported')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "imported\n", done.stderr
