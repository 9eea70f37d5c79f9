"""One writer at a time: a lock on an open file that ends with the process, on POSIX by fcntl, on Windows by msvcrt."""

import errno
import importlib
import os
from pathlib import Path
from typing import Any

from doublebubble.files import open_plain

_TAKEN = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK}


def take_lock(path: Path) -> tuple[int, bool] | None:
    """The open file of a lock, and whether it was made just now; None if another process holds it.

    A file that its owner removed between opening and locking it here locks nobody out: then the next one is taken.
    """
    while True:
        try:
            file, fresh = open_plain(path, os.O_RDWR | os.O_EXCL), True
        except FileExistsError:
            file, fresh = open_plain(path, os.O_RDWR), False
        if not try_lock(file):
            os.close(file)
            return None
        if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
            return file, fresh
        os.close(file)


def try_lock(file: int) -> bool:
    """Lock the file for this process and say True, or leave it alone and say False if another holds it."""
    posix = _module("fcntl")
    try:
        if posix is not None:
            posix.flock(file, posix.LOCK_EX | posix.LOCK_NB)
        else:
            windows = importlib.import_module("msvcrt")
            windows.locking(file, windows.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        raise
    return True


def unlock(file: int) -> None:
    """Give up a lock that `try_lock` took: closing a file does so at once on POSIX only."""
    if _module("fcntl") is None:
        windows = importlib.import_module("msvcrt")
        windows.locking(file, windows.LK_UNLCK, 1)


def _module(name: str) -> Any:
    """A module of one system, None on the other."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
