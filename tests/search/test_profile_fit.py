"""Fits of profiles: they find the truth in many draws, and keep the mean that more draws show in few."""

import numpy as np
import pytest

from doublebubble.search.profile_fit import bin_means, fitted_profile
from tests.search.test_profile import EDGES, MASSES, drawn, profiles


def test_the_mean_of_a_bin_is_that_of_the_normal_law_there() -> None:
    z = np.random.default_rng(0).standard_normal(400_000)
    places = np.searchsorted(EDGES, z)
    for number, mean in enumerate(bin_means(EDGES)):
        mine = z[places == number]
        assert mean == pytest.approx(mine.mean(), abs=5 * mine.std() / np.sqrt(len(mine)))


@pytest.mark.parametrize(("middle", "slope", "bend"), [(0.8, 0.8, 0.0), (0.3, 0.4, 0.1), (1.5, 1.2, -0.1)])
def test_a_fit_to_many_draws_finds_the_profile(middle: float, slope: float, bend: float) -> None:
    f = profiles(middle, slope, bend)
    fitted = fitted_profile(drawn(200_000, f, 1), EDGES, float(MASSES @ f[0]), float(MASSES @ f[1]))
    assert float(MASSES @ np.abs(fitted[0] - f[0])) < 0.01
    assert float(MASSES @ np.abs(fitted[1] - f[1])) < 0.02


def test_a_fit_to_few_draws_has_the_mean_that_more_draws_show() -> None:
    f = profiles()
    for seed in range(5):
        f_a, f_b = fitted_profile(drawn(200, f, seed), EDGES, 0.7, 0.2)
        assert float(MASSES @ f_a) == pytest.approx(0.7, abs=1e-3)
        assert float(MASSES @ f_b) == pytest.approx(0.2, abs=5e-3)
        assert np.all(f_a + f_b <= 1 + 1e-12)


def test_a_fit_without_any_vote_for_a_rival_is_finite() -> None:
    table = np.zeros((len(EDGES) + 1, 3), np.int64)
    table[:, 0] = 20
    f_a, f_b = fitted_profile(table, EDGES, 0.99, 0.005)
    assert np.all(np.isfinite(f_a))
    assert np.all(np.isfinite(f_b))
