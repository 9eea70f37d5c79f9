"""The drawing of a slice: class regions, balls, domain, certified circle, images around, a profile beside.

Runs no model.
"""

import io
import textwrap
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from doublebubble.geometry.plane import Disk
from doublebubble.report.insets import BOTTOM, CAPTION, HEIGHT, SIDE, WIDTH, Box, Point, box, draw_insets
from doublebubble.report.profile_figure import ROOM, draw_profile
from doublebubble.runs.record import Record
from doublebubble.sampled_slice import Slice
from doublebubble.types import ABSTAIN, Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")  # of Okabe and Ito
REST = "#999999"
INK, PAPER = "#1a1a1a", "#ffffff"
_FINE = 401  # pixels along a side of the background


def draw_slice(found: Slice, record: Record, classes: Sequence[str]) -> bytes:
    """The picture as a PNG; its caption says what is estimated and what the record promises."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({"hatch.linewidth": 0.45, "text.parse_math": False}):
        width = WIDTH if found.profile is None else WIDTH + ROOM
        figure = Figure(figsize=(width, HEIGHT), facecolor=PAPER)
        FigureCanvasAgg(figure)
        axes = figure.add_axes(box((WIDTH - SIDE) / 2, BOTTOM, SIDE, SIDE, width))
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
        draw_insets(figure, found)
        if found.profile is not None:
            draw_profile(figure, found.profile, names, _colours(found, record))
        words = textwrap.fill(caption(found, record), round(14.8 * width))
        figure.text(0.5, CAPTION / HEIGHT, words, fontsize=8, color="#444444", ha="center", va="top", linespacing=1.4)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=100, metadata={"Software": None})
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
            f"Heavy line: radius {_down(record.radius, 6)} by {record.method}, protocol {record.protocol}; "
            f"it {record.guarantee.sentence}{alpha}."
        )
    else:
        words.append("No radius is certified.")
    if found.profile is not None:
        words.append("Right: the certify draws by their place on the line, and the prices that were fixed before them.")
    if found.domain is not None:
        words.append("Hatched: outside the domain, where nobody can move the input to.")
    return " ".join(words)


def title(record: Record, names: Sequence[str]) -> str:
    """What the record says of its input, in a line."""
    labelled = "" if record.label is None or record.correct else f", labelled {names[record.label]}"
    if record.prediction == ABSTAIN:
        return f"Input {record.index}: abstained{labelled}"
    unsure = "" if _guaranteed(record) else " (not guaranteed)"
    certified = f", certified within {_down(record.radius, 3)}{unsure}" if record.radius > 0 else ""
    return f"Input {record.index}: predicted {names[record.prediction]}{labelled}{certified}"


def _down(radius: float, decimals: int) -> str:
    """A recorded radius, which has 6 decimals, with fewer of them: never more than it is."""
    return str(Decimal(f"{radius:.6f}").quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_FLOOR))


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
    order = _order(found, record)
    smooth = ndimage.gaussian_filter(found.shares[:, :, order], (0.7, 0.7, 0.0), mode="nearest")
    shares = ndimage.zoom(smooth, (_FINE / found.resolution, _FINE / found.resolution, 1), order=1)
    winner, share = shares.argmax(axis=2), shares.max(axis=2).clip(0.0, 1.0)
    colours = np.array([_rgb(PALETTE[n] if n < len(PALETTE) else REST) for n in range(len(order))])
    strength = (0.08 + 0.62 * share)[:, :, None]
    image = 1.0 - strength * (1.0 - colours[winner])
    extent = _edges(found, half_pixel=found.window.reach / (_FINE - 1))
    axes.imshow(image, extent=extent, origin="lower", interpolation="nearest", zorder=0)
    inside = _inside_domain(found)
    for number, k in enumerate(order):
        for part in (inside, ~inside):  # a name stands in the domain if there is room for it
            place = _roomiest((winner == number) & part, found, record.radius)
            if place is not None:
                _text(axes, *place, names[k], 15, weight="bold", zorder=6)
                break


def _order(found: Slice, record: Record) -> list[int]:
    """The classes of the picture: the record's first, then by the room that they take."""
    first = record.prediction if record.prediction != ABSTAIN else _class_at_input(found)
    present = np.unique(found.winners).tolist()
    return sorted(present, key=lambda k: (k != first, -int((found.winners == k).sum())))


def _colours(found: Slice, record: Record) -> dict[int, str]:
    """The colour of each class in the picture."""
    return dict(zip(_order(found, record), PALETTE, strict=False))


def _edges(found: Slice, half_pixel: float = 0.0) -> Box:
    """Left, right, lower and upper end of the window."""
    window, reach = found.window, found.window.reach + half_pixel
    return window.a - reach, window.a + reach, window.b - reach, window.b + reach


def _class_at_input(found: Slice) -> int:
    """The class at the grid's point nearest to x1."""
    window, last = found.window, found.resolution - 1
    i, j = (round((1 - middle / window.reach) / 2 * last) for middle in (window.a, window.b))
    return int(found.winners[j, i])


def _inside_domain(found: Slice) -> npt.NDArray[np.bool_]:
    """Which pixels of the background lie in the domain."""
    from matplotlib.path import Path

    if found.domain is None or len(found.domain) < 3:
        return np.full((_FINE, _FINE), found.domain is None)
    left, right, low, high = _edges(found)
    across, up = np.meshgrid(np.linspace(left, right, _FINE), np.linspace(low, high, _FINE))
    points = np.stack([across.ravel(), up.ravel()], axis=1)
    return np.asarray(Path(found.domain).contains_points(points)).reshape(_FINE, _FINE)


def _roomiest(region: npt.NDArray[np.bool_], found: Slice, radius: float) -> Point | None:
    """Where in a region a name has most room, off circles, centres and the radius's label; None if there is little."""
    room = ndimage.distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
    left, right, low, high = _edges(found)
    across, up = np.linspace(left, right, _FINE), np.linspace(low, high, _FINE)
    circles = [(0.0, 0.0, radius), *((disk.a, disk.b, disk.radius) for disk in found.disks.values())]
    marks = [(0.0, radius, 0.0), *((a, b, 0.0) for a, b, _ in circles), *circles]
    for a, b, r in marks:
        room = np.minimum(room, np.abs(np.hypot(across[None, :] - a, up[:, None] - b) - r) / (across[1] - across[0]))
    j, i = np.unravel_index(int(room.argmax()), room.shape)
    return (float(across[i]), float(up[j])) if room[j, i] >= 0.025 * _FINE else None


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
    words = f"r = {_down(record.radius, 3)}" + ("" if _guaranteed(record) else ", not guaranteed")
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
    offset: Point = (0.0, 0.0),
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


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue
