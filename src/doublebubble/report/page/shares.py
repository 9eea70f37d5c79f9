"""How sure is the model under noise, input by input? The distribution of p_A, which an average radius hides.

Two runs with one average radius can certify all inputs a little or few of them far ("Average Certified Radius is a
Poor Metric for Randomized Smoothing", 2025). The shares of votes are an estimate and carry no guarantee.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from doublebubble.report.page.markup import Markup, element, joined
from doublebubble.runs.record import Record

BINS = 20
_BAR, _GAP, _HEIGHT, _BASE = 14, 2, 64, 14


@dataclass(frozen=True)
class Shares:
    """How many inputs have a p_A in each twentieth of [0, 1], the right ones and the others; the last bin holds 1."""

    right: tuple[int, ...]
    other: tuple[int, ...]

    @property
    def n(self) -> int:
        """The inputs whose votes are known."""
        return sum(self.right) + sum(self.other)


def shares(records: Sequence[Record]) -> Shares:
    """For each input with votes the share of its class, the one that most certify draws voted for."""
    right, other = [0] * BINS, [0] * BINS
    for record in records:
        votes = record.counts.get("input") or record.counts.get("select")
        if votes:
            place = min(BINS - 1, BINS * max(votes.values()) // sum(votes.values()))
            (right if record.correct else other)[place] += 1
    return Shares(tuple(right), tuple(other))


def shares_figure(records: Sequence[Record]) -> Markup:
    """A small histogram with its numbers in words; nothing for a run without votes, as an imported one."""
    found = shares(records)
    if not found.n:
        return Markup("")
    sure = sum(found.right[-1:]) + sum(found.other[-1:])
    half = sum(found.right[: BINS // 2]) + sum(found.other[: BINS // 2])
    words = (
        f"Share of the noisy copies that vote for the leading class (p_A, an estimate), over {found.n} inputs: at least "
        f"95 % on {sure}, less than half on {half}. Dark: the label is predicted; light: it is not."
    )
    return element("figure", _drawing(found, words), element("figcaption", words, class_="quiet"), class_="shares")


def _drawing(found: Shares, words: str) -> Markup:
    most = max(a + b for a, b in zip(found.right, found.other, strict=True))
    width = BINS * (_BAR + _GAP)
    bars = []
    for place, (right, other) in enumerate(zip(found.right, found.other, strict=True)):
        x, low, all_ = place * (_BAR + _GAP), _HEIGHT * right / most, _HEIGHT * (right + other) / most
        bars.append(_rectangle(x, _HEIGHT - low, low, "right"))
        bars.append(_rectangle(x, _HEIGHT - all_, all_ - low, "other"))
    line = element("line", x1="0", x2=str(width), y1=str(_HEIGHT), y2=str(_HEIGHT))
    marks = [("0", 0, "start"), ("p_A 0.5", width / 2, "middle"), ("1", width, "end")]
    ticks = [element("text", text, x=f"{x:g}", y=str(_HEIGHT + _BASE - 2), text_anchor=at) for text, x, at in marks]
    box = f"0 0 {width} {_HEIGHT + _BASE}"
    # Attributes of SVG are told apart by case, which `element` keeps.
    return element("svg", joined(*bars, line, *ticks), viewBox=box, role="img", aria_label=words)


def _rectangle(x: float, y: float, height: float, kind: str) -> Markup:
    if height <= 0:
        return Markup("")
    return element("rect", x=f"{x:g}", y=f"{y:.2f}", width=str(_BAR), height=f"{height:.2f}", class_=kind)
