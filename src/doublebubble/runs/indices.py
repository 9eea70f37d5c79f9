"""Which inputs of a data set a run covers: slices as text, and the one text that stands for a set of inputs."""

import warnings
from collections.abc import Sequence
from itertools import pairwise

from doublebubble.errors import DoubleBubbleWarning, SettingError

MOST = 4_000_000
"""How many inputs one run can have."""


def parse_indices(text: str, size: int) -> tuple[int, ...]:
    """The inputs named by comma-separated pieces `a`, `a:b` or `a:b:step` of a data set of `size`, in rising order.

    Pieces read like Python slices: one that ends beyond the data set is cut, with a warning if it then names fewer
    inputs. Negative numbers are an error, and so is a piece that begins beyond the data set or names an input again.
    """
    chosen: list[int] = []
    for piece in text.split(","):
        parts = piece.strip().split(":")
        try:
            numbers = [int(part) if part.strip() else None for part in parts]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3 or (len(numbers) == 1 and numbers[0] is None):
            raise SettingError(f"indices: expected pieces like 7, 0:100 or 0:10000:20, got {piece.strip()!r}")
        found = _piece(piece.strip(), numbers, size)
        if len(chosen) + (found.stop - found.start) // found.step > MOST:
            raise SettingError(f"indices: expected at most {MOST} inputs in one run, got {text[:80]!r}")
        chosen += found
    if not chosen:
        raise SettingError(f"indices: expected at least one input, {text!r} names none")
    chosen.sort()
    if (twice := next((a for a, b in pairwise(chosen) if a == b), None)) is not None:
        raise SettingError(f"indices: {text!r} names input {twice} twice")
    return tuple(chosen)


def _piece(text: str, numbers: Sequence[int | None], size: int) -> range:
    first = numbers[0] if numbers[0] is not None else 0
    last = first + 1 if len(numbers) == 1 else (size if numbers[1] is None else numbers[1])
    step = numbers[2] if len(numbers) == 3 and numbers[2] is not None else 1
    if step < 1 or first < 0 or first > last or size <= first < last:
        raise SettingError(f"indices: expected a rising slice within 0:{size}, got {text!r}")
    asked, there = range(first, last, step), range(first, min(last, size), step)
    if there[-1:] != asked[-1:]:
        message = f"indices: {text!r} ends beyond the data, which have {size} inputs; it is cut there"
        warnings.warn(message, DoubleBubbleWarning, stacklevel=6)
    return there


def format_indices(indices: Sequence[int]) -> str:
    """The shortest left-to-right text of a rising sequence of inputs: `parse_indices` gives the sequence back."""
    pieces = []
    at = 0
    while at < len(indices):
        step = indices[at + 1] - indices[at] if at + 1 < len(indices) else 1
        end = at + 1
        while end < len(indices) and indices[end] - indices[end - 1] == step:
            end += 1
        if end - at == 2 and step > 1:
            end -= 1  # two inputs far apart are no slice
        if end - at == 1:
            pieces.append(str(indices[at]))
        else:
            pieces.append(f"{indices[at]}:{indices[end - 1] + 1}" + (f":{step}" if step > 1 else ""))
        at = end
    return ",".join(pieces)
