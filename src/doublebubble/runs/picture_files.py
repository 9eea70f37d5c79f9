"""Where a run keeps the pictures that were drawn of its inputs: `RUN/pictures/INDEX.png`."""

import re
from pathlib import Path

from doublebubble.errors import RunError
from doublebubble.files import make_folder, write_whole
from doublebubble.runs.store import PICTURES

_NUMBER = re.compile(r"\d{1,19}", re.ASCII)


def picture_path(run: Path, index: int) -> Path:
    """The file of an input's picture, whether or not it is there."""
    return run / PICTURES / f"{index}.png"


def stored_pictures(run: Path) -> dict[int, Path]:
    """The pictures that a run holds, by input, in rising order; links and other files there are left alone."""
    names = (run / PICTURES).glob("*.png")
    found = {int(p.stem): p for p in names if _NUMBER.fullmatch(p.stem) and not p.is_symlink() and p.is_file()}
    return dict(sorted(found.items()))


def store_picture(run: Path, index: int, content: bytes) -> Path:
    """Keep a picture of an input in its run, in place of an earlier one; the file is whole at any moment."""
    path = picture_path(run, index)
    try:
        make_folder(path.parent)
        write_whole(path, content)
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror})") from error
    return path
