"""Files that a run holds besides its records, each written whole or not at all."""

from pathlib import Path

from doublebubble.errors import RunError


def put_file(path: Path, content: bytes) -> Path:
    """Write a file into its folder, made if need be, in place of an earlier one; it is whole at any moment."""
    draft = path.with_suffix(".tmp")
    try:
        path.parent.mkdir(exist_ok=True)
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror})") from error
    return path
