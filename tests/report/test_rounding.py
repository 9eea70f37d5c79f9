"""Numbers are rounded as they say: shares to the nearest, intervals outward, radii down."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.report.rounding import interval, length, percent
from doublebubble.runs.statistics import CertifiedAccuracy


@given(st.integers(1, 5000), st.data())
def test_percentages_are_to_the_nearest_tenth_halves_up(n: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, n))
    shown = Fraction(percent(count, n).removesuffix(" %"))
    error = shown - Fraction(100 * count, n)
    assert Fraction(-1, 20) < error <= Fraction(1, 20)


@given(st.floats(0, 1), st.floats(0, 1))
def test_intervals_are_rounded_outward(a: float, b: float) -> None:
    ends = [100 * Fraction(end) for end in sorted((a, b))]
    low, high = map(
        Fraction,
        interval(CertifiedAccuracy(radius=0.5, certified=30, n=40, low=min(a, b), high=max(a, b)))
        .removesuffix(" %")
        .split(" to "),
    )
    rounding = Fraction(1, 10**12)  # 0.12 as a float lies a little below 12 %
    assert ends[0] - Fraction(1, 10) - rounding < low <= ends[0] + rounding
    assert ends[1] - rounding <= high < ends[1] + Fraction(1, 10) + rounding


@given(st.integers(0, 5_000_000))
def test_radii_are_rounded_down(millionths: int) -> None:
    radius = millionths / 1e6
    shown = Fraction(length(radius))
    assert shown <= Fraction(radius) + Fraction(1, 10**12)
    assert Fraction(radius) - shown < Fraction(1, 10**4) + Fraction(2, 10**6)


@pytest.mark.parametrize(("count", "n", "shown"), [(1, 2000, "0.1 %"), (1, 2001, "0.0 %"), (7, 7, "100.0 %")])
def test_examples_of_percentages(count: int, n: int, shown: str) -> None:
    assert percent(count, n) == shown
