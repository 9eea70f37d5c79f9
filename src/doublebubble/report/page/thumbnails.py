"""Thousands of small pictures in a few compressed sheets, within a given number of bytes."""

import base64
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from doublebubble.errors import InputError

_LARGEST_EDGE = 96
_SMALLEST_EDGE = 8
_MOST_PIXELS = 16_000_000
_COLUMNS = 32
_PER_SHEET = _COLUMNS * _COLUMNS
_QUALITIES = (90, 75, 60, 45, 30)

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Thumbnails:
    """Sheets of tiles, row by row, `columns` in a row and `per_sheet` in a sheet; tile i shows `indices[i]`."""

    width: int
    height: int
    columns: int
    per_sheet: int
    indices: tuple[int, ...]
    sheets: tuple[bytes, ...]
    exact: bool

    def as_data(self) -> dict[str, object]:
        """For the page's scripts."""
        return {
            "width": self.width,
            "height": self.height,
            "columns": self.columns,
            "perSheet": self.per_sheet,
            "indices": list(self.indices),
            "sheets": [data_uri(sheet, "webp") for sheet in self.sheets],
        }


def make_thumbnails(images: Pixels, indices: Sequence[int], budget: int) -> Thumbnails | None:
    """Sheets of the images (n, channels, height, width), of which no more than the budget's bytes come out.

    Small images stay exact, pixel by pixel; where that takes too much they are compressed with loss, and shrunk last.
    None if they do not fit while anything can still be seen on them.
    """
    if images.ndim != 4 or images.shape[1] not in (1, 3) or len(images) != len(indices):
        raise InputError(
            f"thumbnails: expected {len(indices)} images of 1 or 3 channels as (n, channels, height, width), "
            f"got shape {images.shape}"
        )
    height, width = images.shape[2:]
    scale = min(1.0, _LARGEST_EDGE / max(height, width), math.sqrt(_MOST_PIXELS / (len(images) * height * width)))
    least = min(_SMALLEST_EDGE, max(height, width))
    while True:
        size = max(1, int(width * scale)), max(1, int(height * scale))
        if max(size) < least:
            return None
        for quality in (None, *_QUALITIES):
            sheets = _encoded(images, size, quality, budget)
            if sheets is not None:
                exact = quality is None and size == (width, height)
                return Thumbnails(*size, _COLUMNS, _PER_SHEET, tuple(indices), sheets, exact)
        scale /= 2


def data_uri(content: bytes, kind: str) -> str:
    """A picture as the address of itself."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _encoded(images: Pixels, size: tuple[int, int], quality: int | None, budget: int) -> tuple[bytes, ...] | None:
    """The sheets at one quality (None: without loss), or None as soon as they are seen to pass the budget."""
    sheets: list[bytes] = []
    done = 0
    for sheet, tiles in _sheets(images, size):
        buffer = io.BytesIO()
        if quality is None:
            sheet.save(buffer, "WEBP", lossless=True, quality=40, method=2)
        else:
            sheet.save(buffer, "WEBP", quality=quality, method=4)
        sheets.append(buffer.getvalue())
        done += tiles
        if sum(map(len, sheets)) > budget * (done / len(images)) * (1.15 if done < len(images) else 1.0):
            return None
    return tuple(sheets)


def _sheets(images: Pixels, size: tuple[int, int]) -> Iterator[tuple[Image.Image, int]]:
    """Each sheet as a picture, with the number of tiles on it."""
    width, height = size
    for begin in range(0, len(images), _PER_SHEET):
        tiles = images[begin : begin + _PER_SHEET]
        rows = math.ceil(len(tiles) / _COLUMNS)
        sheet = Image.new("RGB", (min(len(tiles), _COLUMNS) * width, rows * height))
        for number, tile in enumerate(tiles):
            picture = Image.fromarray(tile[0] if len(tile) == 1 else np.moveaxis(tile, 0, 2))
            if picture.size != size:
                picture = picture.resize(size, Image.Resampling.LANCZOS)
            sheet.paste(picture, (number % _COLUMNS * width, number // _COLUMNS * height))
        yield sheet, len(tiles)
