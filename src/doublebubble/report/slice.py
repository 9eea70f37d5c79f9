"""The drawing of a slice: class regions, balls, domain, certified circle, and images around. Runs no model."""

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from doublebubble.geometry.plane import Disk
from doublebubble.picture import Slice
from doublebubble.runs.record import Record
from doublebubble.types import ABSTAIN, Floats, Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")  # of Okabe and Ito
REST = "#999999"
INK, PAPER = "#1a1a1a", "#ffffff"
_FINE = 401  # pixels along a side of the background
_WIDTH, _HEIGHT, _SIDE, _THUMB = 10.0, 7.3, 5.4, 1.2  # inches
_BOTTOM = 1.35  # from the figure's lower edge to the plane's

Box = tuple[float, float, float, float]


def draw_slice(found: Slice, record: Record, classes: Sequence[str]) -> bytes:
    """The picture as a PNG; its caption says what is estimated and what the record promises."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({"hatch.linewidth": 0.45, "text.parse_math": False}):
        figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor=PAPER)
        FigureCanvasAgg(figure)
        axes = figure.add_axes(_box((_WIDTH - _SIDE) / 2, _BOTTOM, _SIDE, _SIDE))
        names = [textwrap.shorten(str(name), 24, placeholder="…") for name in classes]
        _draw_regions(axes, found, record, names)
        _draw_domain(axes, found)
        _draw_balls(axes, found, record)
        _draw_certified(axes, found, record)
        left, right, low, high = _edges(found)
        axes.set(xlim=(left, right), ylim=(low, high), aspect="equal")
        axes.set_xlabel(f"L2 distance, {found.meanings[0]}")
        axes.set_ylabel(f"L2 distance, {_across(found)}", labelpad=1)
        axes.set_title(title(record, names), fontsize=13, pad=10)
        if _is_image(found.plane.origin):
            _draw_images(figure, axes, found)
        words = textwrap.fill(caption(found, record), 148)
        figure.text(0.5, 0.62 / _HEIGHT, words, fontsize=8, color="#444444", ha="center", va="top", linespacing=1.4)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=120, metadata={"Software": None})
    return content.getvalue()


def caption(found: Slice, record: Record) -> str:
    """What the picture shows, in words: the estimate, and the record's radius with what stands behind it."""
    side = found.resolution
    words = [
        f"Colours: the class that most of {found.draws} noisy copies get, at {side} x {side} points; stronger where "
        "more of them agree. An estimate without a guarantee."
    ]
    if record.radius > 0:
        alpha = "" if record.alpha is None else f" (alpha {record.alpha:g})"
        words.append(
            f"Heavy line: radius {record.radius:.4f} by {record.method}, protocol {record.protocol}; "
            f"it {record.guarantee.sentence}{alpha}."
        )
    else:
        words.append("No radius is certified.")
    if found.domain is not None:
        words.append("Hatched: outside the domain, where nobody can move the input to.")
    return " ".join(words)


def title(record: Record, names: Sequence[str]) -> str:
    """What the record says of its input, in a line."""
    labelled = "" if record.label is None or record.correct else f", labelled {names[record.label]}"
    if record.prediction == ABSTAIN:
        return f"Input {record.index}: abstained{labelled}"
    unsure = "" if _guaranteed(record) else " (not guaranteed)"
    certified = f", certified within {record.radius:.3f}{unsure}" if record.radius > 0 else ""
    return f"Input {record.index}: predicted {names[record.prediction]}{labelled}{certified}"


def _guaranteed(record: Record) -> bool:
    return record.guarantee in (Guarantee.EXACT, Guarantee.ASYMPTOTIC)


def _across(found: Slice) -> str:
    """The second axis is at right angles to the first, so it leads where it leads only as far as that allows."""
    second = found.meanings[1]
    return second if second.startswith("in a") else f"at right angles, {second}"


# The plane


def _draw_regions(axes: "Axes", found: Slice, record: Record, names: Sequence[str]) -> None:
    """Each point in the colour of its class, paler where fewer draws agree, with the name in the middle of a region.

    Shares are averaged with their neighbours, which lowers their noise, and interpolated between the grid's points.
    """
    present = np.unique(found.winners)
    first = record.prediction if record.prediction != ABSTAIN else _class_at_input(found)
    order = sorted(present, key=lambda k: (k != first, -int((found.winners == k).sum())))
    smooth = ndimage.gaussian_filter(found.shares[:, :, order], (0.7, 0.7, 0.0), mode="nearest")
    shares = ndimage.zoom(smooth, (_FINE / found.resolution, _FINE / found.resolution, 1), order=1)
    winner, share = shares.argmax(axis=2), shares.max(axis=2).clip(0.0, 1.0)
    colours = np.array([_rgb(PALETTE[n] if n < len(PALETTE) else REST) for n in range(len(order))])
    strength = (0.08 + 0.62 * share)[:, :, None]
    image = 1.0 - strength * (1.0 - colours[winner])
    extent = _edges(found, half_pixel=found.window.reach / (_FINE - 1))
    axes.imshow(image, extent=extent, origin="lower", interpolation="nearest", zorder=0)
    for number, k in enumerate(order):
        place = _roomiest(winner == number, found)
        if place is not None:
            _text(axes, *place, names[k], 15, weight="bold", zorder=6)


def _edges(found: Slice, half_pixel: float = 0.0) -> Box:
    """Left, right, lower and upper end of the window."""
    window, reach = found.window, found.window.reach + half_pixel
    return window.a - reach, window.a + reach, window.b - reach, window.b + reach


def _class_at_input(found: Slice) -> int:
    """The class at the grid's point nearest to x1."""
    window, last = found.window, found.resolution - 1
    i, j = (round((1 - middle / window.reach) / 2 * last) for middle in (window.a, window.b))
    return int(found.winners[j, i])


def _roomiest(region: npt.NDArray[np.bool_], found: Slice) -> tuple[float, float] | None:
    """Where in a region a name has most room, off the marks of the centres; None if it is too small for one."""
    room = ndimage.distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
    left, right, low, high = _edges(found)
    across, up = np.linspace(left, right, region.shape[1]), np.linspace(low, high, region.shape[0])
    for disk in found.disks.values():
        away = np.hypot(across[None, :] - disk.a, up[:, None] - disk.b) / (across[1] - across[0])
        room = np.minimum(room, 0.5 * away)
    j, i = np.unravel_index(int(room.argmax()), room.shape)
    return (float(across[i]), float(up[j])) if room[j, i] >= 0.03 * region.shape[0] else None


def _draw_domain(axes: "Axes", found: Slice) -> None:
    """A veil and hatching over what lies outside the domain, and the domain's edge."""
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    if found.domain is None:
        return
    clockwise = found.window.corners[::-1]  # the hole runs the other way
    parts = [Path(np.vstack([clockwise, clockwise[:1]]), closed=True)]
    if len(found.domain) >= 3:
        parts.append(Path(np.vstack([found.domain, found.domain[:1]]), closed=True))
        axes.add_patch(Polygon(found.domain, fill=False, edgecolor="#555555", linewidth=1.4, zorder=2))
    veil = PathPatch(Path.make_compound_path(*parts), facecolor=(1, 1, 1, 0.5), edgecolor="#a8a8a8", linewidth=0)
    veil.set(hatch="//", zorder=1)
    axes.add_patch(veil)


def _draw_balls(axes: "Axes", found: Slice, record: Record) -> None:
    """A thin circle for each ball of the plan that meets the plane, and a mark for its centre."""
    from matplotlib.patches import Circle

    for name, disk in found.disks.items():
        if disk.radius > 0 and not _same(disk, record.radius):
            axes.add_patch(
                Circle((disk.a, disk.b), disk.radius, fill=False, edgecolor=INK, linewidth=1.2, linestyle=(0, (5, 2)))
            )
            turn = -0.6 * np.pi if name == "x1" else -0.25 * np.pi
            at = disk.a + disk.radius * np.cos(turn), disk.b + disk.radius * np.sin(turn)
            _text(axes, *at, f"ball of {name}", 8, zorder=6)
        axes.plot(disk.a, disk.b, "o", color=INK, markersize=5, markeredgecolor=PAPER, zorder=7)
        _text(axes, disk.a, disk.b, name, 11, zorder=7, offset=(-9, -9) if name == "x1" else (9, -9))


def _same(disk: Disk, radius: float) -> bool:
    """Whether a circle is the certified one, which is drawn by itself, up to the rounding of records."""
    return disk.a == 0.0 and disk.b == 0.0 and abs(disk.radius - radius) <= 1e-6


def _draw_certified(axes: "Axes", found: Slice, record: Record) -> None:
    """The certified circle: heavy where it runs in the domain, thin beyond; broken if nothing stands behind it."""
    from matplotlib.patches import Circle, Polygon

    if record.radius <= 0:
        return
    style = "-" if _guaranteed(record) else (0, (2, 1.5))
    axes.add_patch(Circle((0, 0), record.radius, fill=False, edgecolor=INK, linewidth=0.9, linestyle=style, zorder=4))
    heavy = Circle((0, 0), record.radius, fill=False, edgecolor=INK, linewidth=3.0, linestyle=style, zorder=5)
    axes.add_patch(heavy)
    if found.domain is not None:
        heavy.set_clip_path(Polygon(found.domain, transform=axes.transData))
    words = f"r = {record.radius:.3f}" + ("" if _guaranteed(record) else ", not guaranteed")
    _text(axes, 0, record.radius, words, 10, zorder=7, offset=(0, 11))


def _text(
    axes: "Axes",
    a: float,
    b: float,
    words: str,
    size: float,
    *,
    zorder: float,
    weight: str = "normal",
    offset: tuple[float, float] = (0.0, 0.0),
) -> None:
    """Words with a pale rim, readable on any colour, centred beside the point by an offset in points."""
    from matplotlib.patheffects import withStroke

    axes.annotate(
        words,
        (a, b),
        xytext=offset,
        textcoords="offset points",
        fontsize=size,
        fontweight=weight,
        color=INK,
        ha="center",
        va="center",
        zorder=zorder,
        path_effects=[withStroke(linewidth=2.5, foreground=(1, 1, 1, 0.85))],
    )


# The images around it


def _draw_images(figure: "Figure", axes: "Axes", found: Slice) -> None:
    """The inputs at the corners of the window, each tied to its place, and those at up to three centres."""
    left, right = 0.12, _WIDTH - 0.12 - _THUMB
    low, middle, top = _BOTTOM, _BOTTOM + (_SIDE - _THUMB) / 2, _BOTTOM + _SIDE - _THUMB
    slots = [(left, low), (right, low), (right, top), (left, top)]
    for (a, b), slot in zip(found.window.corners.tolist(), slots, strict=True):
        small = _thumbnail(figure, found, (a, b), slot, "corner" if _inside(found, a, b) else "corner, outside")
        _tie(figure, axes, small, (a, b), left=slot[0] == left)
    apart = 0.66 * _THUMB if len(found.disks) > 2 else 0.0
    slots = [(left, middle), (right, middle + apart), (right, middle - apart)]
    for (name, disk), slot in zip(found.disks.items(), slots, strict=False):
        _thumbnail(figure, found, (disk.a, disk.b), slot, name)


def _thumbnail(
    figure: "Figure", found: Slice, place: tuple[float, float], at: tuple[float, float], name: str
) -> "Axes":
    """The input at a place of the plane; what lies beyond black and white is shown as black and white."""
    small = figure.add_axes(_box(*at, _THUMB, _THUMB))
    low, high = _range(found)
    shown = ((_as_image(found.plane.point(*place)) - low) / (high - low)).clip(0.0, 1.0)
    small.imshow(shown, interpolation="nearest", cmap="gray", vmin=0, vmax=1)
    small.set(xticks=[], yticks=[])
    small.set_title(name, fontsize=9, pad=3)
    return small


def _tie(figure: "Figure", axes: "Axes", small: "Axes", place: tuple[float, float], left: bool) -> None:
    from matplotlib.patches import ConnectionPatch

    end = (1.0 if left else 0.0, 0.5)
    line = ConnectionPatch(end, place, "axes fraction", "data", axesA=small, axesB=axes, color="#999999", linewidth=0.8)
    figure.add_artist(line)


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


def _box(left: float, bottom: float, width: float, height: float) -> Box:
    return left / _WIDTH, bottom / _HEIGHT, width / _WIDTH, height / _HEIGHT


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue
