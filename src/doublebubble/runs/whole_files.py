"""Files that a run holds besides its records, each written whole or not at all."""

from pathlib import Path

from doublebubble.errors import RunError
from doublebubble.files import make_folder, write_whole


def put_file(path: Path, content: bytes) -> Path:
    """Write a file into its folder, made if need be, in place of an earlier one; it is whole at any moment."""
    try:
        make_folder(path.parent)
        write_whole(path, content)
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror})") from error
    return path
