import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.errors import InputError
from doublebubble.geometry import cut_radius, double_bubble_radius

lengths = st.floats(0.01, 2.0)


@given(r2=lengths, d2=lengths, r3=lengths, d3=lengths)
def test_is_the_distance_to_the_common_circle_where_there_is_one(r2: float, d2: float, r3: float, d3: float) -> None:
    """Centres at -d2 and d3 on a line, x1 at 0: the spheres meet at (x, y) found from the two equations."""
    x = (r2**2 - d2**2 - r3**2 + d3**2) / (2 * (d2 + d3))
    y2 = r2**2 - (x + d2) ** 2
    if y2 >= 0:
        assert double_bubble_radius(r2, d2, r3, d3) == pytest.approx(math.sqrt(x * x + y2), rel=1e-9, abs=1e-7)
        assert cut_radius(r2, r3, d2 + d3) == pytest.approx(math.sqrt(y2), rel=1e-9, abs=1e-7)
    else:
        assert cut_radius(r2, r3, d2 + d3) == pytest.approx(0.0, abs=1e-7)


def test_by_hand_and_over_arrays() -> None:
    assert double_bubble_radius(5.0, 3.0, 5.0, 3.0) == 4.0
    assert double_bubble_radius(0.5, 0.4, 0.3, 0.0) == pytest.approx(0.3)  # centre 3 at x1
    assert double_bubble_radius(0.5, 0.0, 0.3, 0.0) == 0.5  # both at x1
    assert double_bubble_radius(0.1, 1.0, 0.1, 1.0) == 0.0  # x1 outside both
    found = double_bubble_radius([5.0, 0.5], [3.0, 0.0], 5.0, [3.0, 0.0])
    np.testing.assert_allclose(found, [4.0, 5.0])


def test_cut_radius_against_points_on_both_spheres() -> None:
    """Brute force: of many points on sphere 2 in R^3, those on sphere 3 are all at the cut's distance from the axis."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200_000, 3))
    points *= 0.7 / np.linalg.norm(points, axis=1, keepdims=True)
    gap = np.abs(np.linalg.norm(points - [0.9, 0.0, 0.0], axis=1) - 0.5)
    distances = np.linalg.norm(points[gap < 1e-4][:, 1:], axis=1)
    assert len(distances) > 10
    np.testing.assert_allclose(distances, cut_radius(0.7, 0.5, 0.9), atol=5e-4)


def test_refusals() -> None:
    with pytest.raises(InputError, match="r3"):
        double_bubble_radius(0.5, 0.1, -0.5, 0.1)
    with pytest.raises(InputError, match="broadcast"):
        double_bubble_radius([0.5, 0.5], [0.1, 0.1, 0.1], 0.5, 0.1)
    with pytest.raises(InputError, match="d: expected"):
        cut_radius(0.5, 0.5, 0.0)
