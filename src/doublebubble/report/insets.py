"""The images around the drawing of a slice, and where everything stands in its figure."""

from typing import TYPE_CHECKING

import numpy as np

from doublebubble.sampled_slice import Slice
from doublebubble.types import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT, SIDE, THUMB = 10.0, 7.3, 5.4, 1.2  # inches
BOTTOM = 1.35  # from the figure's lower edge to the plane's
CAPTION = 0.62  # from the figure's lower edge to the caption's upper one

Box = tuple[float, float, float, float]
Point = tuple[float, float]


def draw_insets(figure: "Figure", found: Slice) -> None:
    """The inputs at the window's corners and at up to three centres; nothing if they are no images."""
    if not _is_image(found.plane.origin):
        return
    left, right = 0.12, WIDTH - 0.12 - THUMB
    low, middle, top = BOTTOM, BOTTOM + (SIDE - THUMB) / 2, BOTTOM + SIDE - THUMB
    slots = [(left, low), (right, low), (right, top), (left, top)]
    for (a, b), slot in zip(found.window.corners.tolist(), slots, strict=True):
        _thumbnail(figure, found, (a, b), slot, "corner" if _inside(found, a, b) else "corner, outside")
    apart = (SIDE - THUMB) / 6 if len(found.disks) > 2 else 0.0
    slots = [(left, middle), (right, middle + apart), (right, middle - apart)]
    for (name, disk), slot in zip(found.disks.items(), slots, strict=False):
        _thumbnail(figure, found, (disk.a, disk.b), slot, name)


def _thumbnail(figure: "Figure", found: Slice, place: Point, at: Point, name: str) -> None:
    """The input at a place of the plane; what lies beyond black and white is shown as black and white."""
    small = figure.add_axes(box(*at, THUMB, THUMB, figure.get_figwidth()))
    low, high = _range(found)
    shown = ((_as_image(found.plane.point(*place)) - low) / (high - low)).clip(0.0, 1.0)
    small.imshow(shown, interpolation="nearest", cmap="gray", vmin=0, vmax=1)
    small.set(xticks=[], yticks=[])
    small.set_title(name, fontsize=9, pad=3)


def _inside(found: Slice, a: float, b: float) -> bool:
    """Whether the window's corner is one of the domain's part of it."""
    return found.domain is None or bool((np.abs(found.domain - (a, b)).sum(axis=1) < 1e-9 * found.window.reach).any())


def _range(found: Slice) -> tuple[float, float]:
    """Black and white of the images: those of the input, at least 0 and 1."""
    return min(0.0, float(found.plane.origin.min())), max(1.0, float(found.plane.origin.max()))


def _is_image(x: Floats) -> bool:
    return x.ndim == 3 and x.shape[0] in (1, 3) and min(x.shape[1:]) > 1


def _as_image(x: Floats) -> Floats:
    return x[0] if x.shape[0] == 1 else x.transpose(1, 2, 0)


def box(left: float, bottom: float, width: float, height: float, whole: float = WIDTH) -> Box:
    """Inches as parts of a figure of this width."""
    return left / whole, bottom / HEIGHT, width / whole, height / HEIGHT
