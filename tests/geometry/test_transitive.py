import numpy as np
import pytest

from doublebubble.errors import InputError
from doublebubble.geometry import transitive_radius


def test_distance_to_the_sphere_and_zero_outside_it() -> None:
    assert transitive_radius(0.5, 0.2) == pytest.approx(0.3)
    assert transitive_radius(0.2, 0.5) == 0.0
    assert isinstance(transitive_radius(0.5, 0.2), float)
    np.testing.assert_allclose(transitive_radius([0.5, 0.1], [[0.2], [0.0]]), [[0.3, 0.0], [0.5, 0.1]])


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf")])
def test_refuses_what_is_no_radius(bad: float) -> None:
    with pytest.raises(InputError, match="r2"):
        transitive_radius(bad, 0.1)
    with pytest.raises(InputError, match="d2"):
        transitive_radius(0.1, bad)
