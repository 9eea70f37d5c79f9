from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.geometry.rounding import fold_sum, levels, sqrt_down


@given(st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=70))
def test_fold_sum_keeps_its_bound(terms: list[float]) -> None:
    exact = sum((Fraction(t) for t in terms), Fraction(0))
    size = sum((abs(Fraction(t)) for t in terms), Fraction(0))
    assert abs(Fraction(fold_sum(np.array(terms))) - exact) <= levels(len(terms)) * Fraction(2.0**-52) * size


def test_levels_is_the_depth_of_halving() -> None:
    assert [levels(n) for n in (1, 2, 3, 4, 5, 8, 9, 1024, 1025)] == [0, 1, 2, 2, 3, 3, 4, 10, 11]


@given(st.floats(0.0, 1e300))
def test_sqrt_down_squares_to_at_most_the_value(value: float) -> None:
    root = sqrt_down(value)
    assert Fraction(root) ** 2 <= Fraction(value)
    assert Fraction(root) ** 2 >= Fraction(value) * (1 - Fraction(2.0**-50)) - Fraction(1e-300)


def test_sqrt_down_of_nothing() -> None:
    assert sqrt_down(-1.0) == 0.0
    assert sqrt_down(float("-inf")) == 0.0
