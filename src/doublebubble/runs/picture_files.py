"""Where a run keeps the pictures that were drawn of its inputs: `RUN/pictures/INDEX.png`."""

from pathlib import Path

from doublebubble.runs.store import PICTURES
from doublebubble.runs.whole_files import put_file


def picture_path(run: Path, index: int) -> Path:
    """The file of an input's picture, whether or not it is there."""
    return run / PICTURES / f"{index}.png"


def stored_pictures(run: Path) -> dict[int, Path]:
    """The pictures that a run holds, by input, in rising order; other files in the folder are left alone."""
    found = {int(path.stem): path for path in (run / PICTURES).glob("*.png") if path.stem.isdecimal()}
    return dict(sorted(found.items()))


def store_picture(run: Path, index: int, content: bytes) -> Path:
    """Keep a picture of an input in its run, in place of an earlier one; the file is whole at any moment."""
    return put_file(picture_path(run, index), content)
