"""Scenes of known law: the blurred boundary is what it says, and radii are in the order that they must be in."""

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.profile_scenes import blurred, row
from doublebubble.geometry.profile import bin_masses


def test_the_blurred_boundary_has_its_mean_and_its_slope() -> None:
    edges = np.linspace(-3.9, 3.9, 131)
    middles = np.concatenate([[-4.1], 0.5 * (edges[1:] + edges[:-1]), [4.1]])
    f_a, f_b = blurred(0.9, 0.8, edges)
    masses = bin_masses(edges)
    assert float(masses @ f_a) == pytest.approx(0.9, abs=1e-4)
    assert float(masses @ (f_a * middles)) == pytest.approx(-0.8 * norm.pdf(norm.ppf(0.9)), rel=2e-3)
    assert f_b == pytest.approx(0.6 * (1 - f_a))


def test_what_is_certified_lies_between_votes_and_exact_numbers() -> None:
    found = row(0.9, 0.8, 100_000, times=1)
    assert found.cohen < 1
    assert 1.06 < found.from_draws <= found.from_truth + 0.005
    assert found.from_truth * found.cohen < found.exact
