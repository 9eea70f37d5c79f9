"""A picture in few colours is smaller, as large on paper, and looks the same."""

import io

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from doublebubble.report.few_colours import in_few_colours


def _drawn(transparent: bool) -> bytes:
    figure = Figure(figsize=(3, 2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for number, colour in enumerate(("#0072B2", "#E69F00", "#009E73", "#D55E00")):
        x = np.linspace(0, 1, 50)
        axes.plot(x, np.sin(3 * x + number), color=colour)
        axes.fill_between(x, np.sin(3 * x + number) - 0.1, np.sin(3 * x + number) + 0.1, color=colour, alpha=0.15)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=200, transparent=transparent)
    return content.getvalue()


def _pixels(png: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    with Image.open(io.BytesIO(png)) as found:
        return np.asarray(found.convert("RGB"), np.int64)


def test_it_is_smaller_and_looks_the_same() -> None:
    before = _drawn(transparent=False)
    after = in_few_colours(before)
    assert len(after) < len(before) / 2
    difference = np.abs(_pixels(after) - _pixels(before))
    assert difference.mean() < 0.2
    assert (difference.max(axis=2) > 24).mean() < 0.001
    with Image.open(io.BytesIO(after)) as few, Image.open(io.BytesIO(before)) as many:
        assert few.size == many.size
        assert few.info["dpi"] == many.info["dpi"]
        assert few.mode == "P"
    assert in_few_colours(before) == after


def test_what_is_transparent_becomes_white() -> None:
    assert (_pixels(in_few_colours(_drawn(transparent=True)))[0, 0] == 255).all()
