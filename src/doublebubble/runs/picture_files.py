"""Where a run keeps the pictures that were drawn of its inputs: `RUN/pictures/INDEX.png`."""

import re
from pathlib import Path

from doublebubble.runs.store import PICTURES
from doublebubble.runs.whole_files import put_file

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
    return put_file(picture_path(run, index), content)
