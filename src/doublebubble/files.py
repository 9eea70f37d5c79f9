"""Files are written in one way: whole or not at all, under the user's umask, and never through a symbolic link.

A link, a pipe or a device that lies where a file is to go could send what is written, or the process, elsewhere. The
folder that somebody names may be a link; nothing inside it is followed. May import nothing.
"""

import errno
import os
import stat
from pathlib import Path

FILE_MODE = 0o666
"""What every file is made with; the umask takes its part off."""
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would write other line ends
_UNPACKED, _RATIO = 1 << 28, 32


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, and have it on the disk when this returns. A link at its name is replaced."""
    draft = path.with_name(path.name + ".tmp")
    draft.unlink(missing_ok=True)  # what a crash left, or a link that was put there
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN | _BINARY, FILE_MODE)
    try:
        try:
            write_all(file, content)
            os.fsync(file)
        finally:
            os.close(file)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if os.name == "nt":
        return  # folders cannot be opened there, and a rename is written with the file system's own log
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def open_plain(path: Path, flags: int) -> int:
    """Open, or make, a file of our own for writing; a link, a pipe or a device in its place is an error."""
    try:
        file = os.open(path, flags | os.O_CREAT | _PLAIN | _BINARY, FILE_MODE)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise _not_plain(path) from error
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _not_plain(path)
    return file


def write_all(file: int, content: bytes) -> None:
    """Write everything to an open file."""
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def make_folder(path: Path) -> None:
    """Make a folder of our own if it is not there; a link in its place is an error."""
    if path.is_symlink():
        raise _not_plain(path)
    path.mkdir(exist_ok=True)


def read_plain(path: Path) -> bytes:
    """The content of an ordinary file; a pipe or a device, which could go on for ever, is an error."""
    file = os.open(path, os.O_RDONLY | (_PLAIN & ~getattr(os, "O_NOFOLLOW", 0)) | _BINARY)
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "is not an ordinary file", str(path))
        return opened.read()


def largest_unpacked(packed: int) -> int:
    """How many bytes so many packed ones may become: 32 times as many, or 256 MiB if that is more."""
    return max(_UNPACKED, _RATIO * packed)


def _not_plain(path: Path) -> OSError:
    return OSError(errno.EINVAL, "is a link or no ordinary file, and such are not written to", str(path))
