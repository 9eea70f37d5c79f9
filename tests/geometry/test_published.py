import math

import numpy as np
import pytest

from doublebubble.errors import InputError
from doublebubble.geometry import certified_radius, published_boundary_radius
from doublebubble.geometry.published import published_boundary_radii
from tests.geometry.truth import Case, true_distance


def slowly(x1: list[float], x2: list[float], r2: float) -> float:
    """The printed formula, one coordinate at a time."""
    best, between = 0.0, math.dist(x1, x2)
    for a, b in zip(x1, x2, strict=True):
        z = 1.0 if a > 0.5 else 0.0
        if r2**2 - (b - z) ** 2 >= 0:
            inner = math.sqrt(r2**2 - (z - b) ** 2) - math.sqrt(max(0.0, between**2 - (b - a) ** 2))
            best = max(best, math.sqrt((z - a) ** 2 + inner**2))
    return best


def test_counterexample_the_printed_radius_exceeds_the_truth() -> None:
    x1, x2, r2 = [0.49, 0.51], [0.49, 0.41], 0.52
    truth = true_distance(Case(np.array(x1), np.array([x2]), np.array([r2])), 0.0, 1.0)
    assert truth == pytest.approx(0.42, abs=1e-12)
    assert published_boundary_radius(x1, x2, r2) == pytest.approx(0.4956, abs=5e-5)
    assert certified_radius(x1, [x2], [r2]).radius == pytest.approx(0.42, abs=1e-9)


def test_is_the_distance_to_the_cut_where_the_ball_leaves_by_one_face() -> None:
    """x1 near the face 0 of the first axis, x2 further in: the sphere meets that face at distance sqrt(r2^2 - x2^2)."""
    found = published_boundary_radius([0.1, 0.5], [0.3, 0.5], 0.45)
    assert found == pytest.approx(math.hypot(0.1, math.sqrt(0.45**2 - 0.3**2)))


def test_agrees_with_one_coordinate_at_a_time() -> None:
    rng = np.random.default_rng(1)
    x1s, r2s = rng.uniform(size=(50, 2, 3)), rng.uniform(0.0, 1.2, 50)
    x1s[:, 0, 0] = 0.5
    x2s = x1s + rng.normal(size=x1s.shape) * 0.2
    expected = [
        slowly(a.ravel().tolist(), b.ravel().tolist(), r) for a, b, r in zip(x1s, x2s, r2s.tolist(), strict=True)
    ]
    np.testing.assert_allclose(published_boundary_radii(x1s, x2s, r2s), expected, rtol=1e-9, atol=1e-12)
    assert published_boundary_radius(x1s[3], x2s[3], float(r2s[3])) == pytest.approx(expected[3], rel=1e-9)


def test_a_coordinate_of_one_half_belongs_to_the_face_at_zero() -> None:
    assert published_boundary_radius([0.5], [0.3], 0.4) == pytest.approx(math.hypot(0.5, math.sqrt(0.16 - 0.09)))
    assert published_boundary_radius([0.5], [0.9], 0.2) == 0.0  # no cut with that face


def test_refusals() -> None:
    with pytest.raises(InputError, match="unit box"):
        published_boundary_radius([1.5], [0.5], 0.3)
    with pytest.raises(InputError, match="matching shapes"):
        published_boundary_radius([0.5, 0.5], [0.5], 0.3)
    with pytest.raises(InputError, match="r2"):
        published_boundary_radius([0.5], [0.5], -0.3)
