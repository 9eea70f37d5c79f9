"""Drawn pictures and thumbnails within the room that the rest of a page leaves, and sentences on what gave way."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from doublebubble.data.pictures import open_picture
from doublebubble.errors import DataError, RunError
from doublebubble.report.page.run_view import Gallery
from doublebubble.report.page.thumbnails import Pixels, Thumbnails, data_uri, make_thumbnails
from doublebubble.runs.picture_files import stored_pictures
from doublebubble.runs.store import StoredRun

_MOST_FOR_THUMBNAILS = 6_000_000
_KEPT_FOR_THUMBNAILS = 1_500_000
_PICTURES = ((1.0, 85), (1.0, 60), (0.7, 55), (0.5, 50), (0.35, 40))
"""How drawn pictures are encoded, by scale and quality: the first that fits."""


@dataclass(frozen=True)
class Media:
    """Drawn pictures by run and input, thumbnails by data digest, and what a reader must know of both."""

    pictures: tuple[dict[int, str], ...]
    thumbnails: dict[str, object]
    notes: tuple[str, ...]


def fit_media(runs: Sequence[StoredRun], galleries: Mapping[str, Gallery], room: int) -> Media:
    """All that fits into so many characters.

    Drawn pictures come first, for they were asked for one by one, but leave a part to thumbnails, which get the rest.
    What does not fit is made coarser, and left out last; a note says so.
    """
    seen = {
        digest: (gallery.indices, gallery.images)
        for digest, gallery in galleries.items()
        if gallery.images is not None and len(gallery.images)
    }
    kept = min(_KEPT_FOR_THUMBNAILS, room // 4) if seen else 0
    pictures, of_pictures = _fit_pictures(runs, room - kept)
    left = room - sum(_cost(uri) for held in pictures for uri in held.values())
    thumbnails, of_thumbnails = _fit_thumbnails(seen, min(left, _MOST_FOR_THUMBNAILS))
    return Media(pictures, thumbnails, (*of_pictures, *of_thumbnails))


def _fit_pictures(runs: Sequence[StoredRun], room: int) -> tuple[tuple[dict[int, str], ...], list[str]]:
    """The pictures stored in the runs, as fine as they fit; at the coarsest, those of the lowest inputs."""
    stored = [
        (index, number, path)
        for number, run in enumerate(runs)
        for index, path in stored_pictures(run.path).items()
        if index in {record.index for record in run.records}
    ]
    found: list[str] = []
    for scale, quality in _PICTURES:
        found, used = [], 0
        for _, _, path in sorted(stored):
            uri = _picture(path, scale, quality)
            used += _cost(uri)
            if used > room:
                break
            found.append(uri)
        if len(found) == len(stored):
            break
    pictures: tuple[dict[int, str], ...] = tuple({} for _ in runs)
    for (index, number, _), uri in zip(sorted(stored), found, strict=False):
        pictures[number][index] = uri
    notes = []
    if found and (scale, quality) != _PICTURES[0]:
        notes.append("Drawn pictures are coarser here than in the folders of the runs, to keep this file small.")
    if len(found) < len(stored):
        notes.append(
            f"{len(stored) - len(found)} of {len(stored)} drawn pictures did not fit into this file and are left out; "
            "they are in the folders of the runs."
        )
    return pictures, notes


def _picture(path: Path, scale: float, quality: int) -> str:
    buffer = io.BytesIO()
    try:
        drawn = open_picture(path).convert("RGB")
    except DataError as error:
        raise RunError(f"{path}: expected a picture, it cannot be read ({error})") from error
    if scale < 1:
        drawn = drawn.resize((max(1, int(drawn.width * scale)), max(1, int(drawn.height * scale))))
    drawn.save(buffer, "WEBP", quality=quality)
    return data_uri(buffer.getvalue(), "webp")


def _cost(uri: str) -> int:
    """The characters that a picture takes, with its key and what stands around both."""
    return len(uri) + 20


def _fit_thumbnails(seen: Mapping[str, tuple[Sequence[int], Pixels]], room: int) -> tuple[dict[str, object], list[str]]:
    """Thumbnails of each data set, which share the room by their numbers of images."""
    total = sum(len(indices) for indices, _ in seen.values())
    thumbnails: dict[str, object] = {}
    notes = []
    for digest, (indices, images) in seen.items():
        around = sum(len(str(index)) + 1 for index in indices) + 60 * len(indices) // 1000 + 500
        rest = room * len(indices) // total - around
        made = make_thumbnails(images, indices, rest * 3 // 4) if rest > 0 else None
        if made is not None:
            thumbnails[digest] = made.as_data()
        notes.append(_of_thumbnails(made))
    return thumbnails, [note for note in dict.fromkeys(notes) if note]


def _of_thumbnails(made: Thumbnails | None) -> str:
    if made is None:
        return "Images of the inputs did not fit into this file and are left out."
    if made.exact:
        return ""
    return f"Images of the inputs are compressed, at {made.width} x {made.height} pixels, to keep this file small."
