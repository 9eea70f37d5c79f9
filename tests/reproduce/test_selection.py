"""The law of the largest of many looks: against the published bounds, simulation, closed forms, brute force."""

from itertools import product
from math import comb, pi, sqrt

import numpy as np
import pytest

from doublebubble.bounds import goodman
from doublebubble.errors import SettingError
from doublebubble.geometry import cohen_radius
from doublebubble.reproduce.selection import expected_maximum, first_order_gain, look_radii, sampled_law, two_class_law
from doublebubble.streams import Stream

STREAM = Stream(0, 0, "audit", "selection")


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.001])
def test_radii_of_rows_are_what_goodmans_bounds_give_one_by_one(alpha: float) -> None:
    rng = np.random.default_rng(1)
    rows = [rng.multinomial(n, p) for n in (60, 1500) for p in rng.dirichlet([0.3] * 6, 40)]
    rows += [np.array([1500, 0, 0, 0, 0, 0]), np.array([1497, 3, 0, 0, 0, 0]), np.array([5, 4, 4, 4, 4, 4])]
    for row in rows:
        top = int(row.argmax())
        bounds = goodman(row, alpha)
        expected = cohen_radius(float(bounds.lower[top]), float(np.delete(bounds.upper, top).max()), 0.5)
        assert look_radii(row, alpha, 0.5)[0] == pytest.approx(max(0.0, expected), abs=1e-9)


def test_the_expected_maximum_of_normal_numbers() -> None:
    # closed forms for up to 5 numbers, and 2.2491 for 50 (tables of order statistics)
    asin = np.arcsin(1 / 3)
    exact = {1: 0.0, 2: 1 / sqrt(pi), 3: 1.5 / sqrt(pi), 4: 3 / sqrt(pi) * (0.5 + asin / pi)}
    for m, value in exact.items():
        assert expected_maximum(m) == pytest.approx(value, abs=1e-9)
    assert expected_maximum(50) == pytest.approx(2.24907, abs=1e-4)
    with pytest.raises(SettingError, match="at least one number, got 0"):
        expected_maximum(0)


def test_the_law_of_two_classes_by_brute_force() -> None:
    p, n, m = 0.7, 12, 2
    law = two_class_law(p, n, 0.5, 1.0)
    radius = {k: float(look_radii([k, n - k], 0.5, 1.0)[0]) if 2 * k > n else 0.0 for k in range(n + 1)}
    mass = {k: comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)}
    pairs = [(max(radius[a], radius[b]), mass[a] * mass[b]) for a, b in product(radius, repeat=m)]
    assert law.mean == pytest.approx(sum(radius[k] * mass[k] for k in radius))
    assert law.largest(m) == pytest.approx(sum(r * w for r, w in pairs))
    truth = 0.4
    assert law.exceeds(truth, m) == pytest.approx(sum(w for r, w in pairs if r > truth))
    assert law.gain(1) == pytest.approx(0.0)
    assert law.gain(5) > law.gain(2) > 0


@pytest.mark.parametrize("p", [(0.9, 0.1), (0.6, 0.25, 0.1, 0.05)])
def test_the_closed_form_comes_near_the_law_for_many_draws(p: tuple[float, ...]) -> None:
    for n, tolerance in ((1500, 0.08), (20_000, 0.03)):
        law = sampled_law(p, n, 0.05, 0.5, STREAM)
        assert first_order_gain(p, n, 0.05, 0.5, 51) == pytest.approx(law.gain(51), rel=tolerance)
        if len(p) == 2:
            assert law.gain(51) == pytest.approx(two_class_law(p[0], n, 0.05, 0.5).gain(51), rel=0.02)
    ratio = first_order_gain(p, 1_000_000, 0.05, 0.5, 51) / first_order_gain(p, 4_000_000, 0.05, 0.5, 51)
    assert ratio == pytest.approx(2.0, rel=0.01), "the gain falls with the root of the draws"
