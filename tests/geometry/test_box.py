from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.geometry.box import box_around

numbers = st.floats(-1e90, 1e90)


@given(st.tuples(numbers, numbers, numbers).map(sorted))
def test_offsets_contain_the_domain_and_stay_zero_where_x1_touches_it(ends: list[float]) -> None:
    low, x1, high = ends
    box = box_around(np.array([x1]), np.array([low]), np.array([high]))
    assert Fraction(float(box.below[0])) <= Fraction(low) - Fraction(x1) <= 0
    assert Fraction(float(box.above[0])) >= Fraction(high) - Fraction(x1) >= 0
    assert (box.below[0] == 0.0) == (low == x1)
    assert (box.above[0] == 0.0) == (high == x1)
    assert box.reach[0] <= max(high - x1, x1 - low) * (1 + 1e-14)
    assert Fraction(float(box.reach[0])) >= max(Fraction(high) - Fraction(x1), Fraction(x1) - Fraction(low))


def test_free_space_has_no_ends() -> None:
    box = box_around(np.zeros(3), None, None)
    assert box.free
    assert box.clip(np.array([1e300, -1e300, 0.0])).tolist() == [1e300, -1e300, 0.0]
    assert not box_around(np.zeros(3), np.zeros(3), np.ones(3)).free
