"""Numbers and guarantees in words: rounded as they say, and no more claimed than is held."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.report.page.run_view import views
from doublebubble.report.page.sentences import headline, interval, length, percent, promise, state
from doublebubble.runs.statistics import CertifiedAccuracy
from tests.report.page.samples import SIZE, stored, stored_paper


def point(
    radius: float = 0.5, certified: int = 30, n: int = 40, low: float = 0.5, high: float = 0.9
) -> CertifiedAccuracy:
    return CertifiedAccuracy(radius=radius, certified=certified, n=n, low=low, high=high)


@given(st.integers(1, 5000), st.data())
def test_percentages_are_to_the_nearest_tenth_halves_up(n: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, n))
    shown = Fraction(percent(count, n).removesuffix(" %"))
    error = shown - Fraction(100 * count, n)
    assert Fraction(-1, 20) < error <= Fraction(1, 20)


@given(st.floats(0, 1), st.floats(0, 1))
def test_intervals_are_rounded_outward(a: float, b: float) -> None:
    ends = [100 * Fraction(end) for end in sorted((a, b))]
    low, high = map(Fraction, interval(point(low=min(a, b), high=max(a, b))).removesuffix(" %").split(" to "))
    rounding = Fraction(1, 10**12)  # 0.12 as a float lies a little below 12 %
    assert ends[0] - Fraction(1, 10) - rounding < low <= ends[0] + rounding
    assert ends[1] - rounding <= high < ends[1] + Fraction(1, 10) + rounding


@given(st.integers(0, 5_000_000))
def test_radii_are_rounded_down(millionths: int) -> None:
    radius = millionths / 1e6
    shown = Fraction(length(radius))
    assert shown <= Fraction(radius) + Fraction(1, 10**12)
    assert Fraction(radius) - shown < Fraction(1, 10**4) + Fraction(2, 10**6)


def test_only_what_is_guaranteed_is_said_to_hold(tmp_path: Path) -> None:
    sound, paper = views([stored(tmp_path / "sound"), stored_paper(tmp_path / "paper")])
    before, number, after = headline(sound, point())
    assert (before, number) == ("Of 40 inputs, ", "75.0 %")
    assert after == " are classified correctly and stay so under any change of L2 size below 0.5."
    before, _, after = headline(paper, point(n=1, certified=1))
    assert before == "Not guaranteed: of 1 input, "
    assert "stay so" not in after
    assert "Each radius holds with probability at least 1 - alpha" in promise(sound, point())
    assert "Alpha is 0.001 for each input." in promise(sound, point())
    assert "stays within [0, 1]" in promise(sound, point())
    assert "The noise is gaussian. Assumed: the model is a function of one row" in promise(sound, point())
    assert "is not a guarantee at any level" in promise(paper, point())
    assert "Assumed" not in promise(paper, point()), "there is nothing to rest on assumptions"
    assert "Alpha" not in promise(paper, point()), "a level would be read as a promise"


def test_missing_inputs_are_said(tmp_path: Path) -> None:
    whole, part = views([stored(tmp_path / "whole"), stored(tmp_path / "part", inputs=range(SIZE - 3))])
    assert state(whole) == ""
    assert state(part) == "The run is not complete: 3 of its inputs are still to be certified."


@pytest.mark.parametrize(("count", "n", "shown"), [(1, 2000, "0.1 %"), (1, 2001, "0.0 %"), (7, 7, "100.0 %")])
def test_examples_of_percentages(count: int, n: int, shown: str) -> None:
    assert percent(count, n) == shown
