"""What the design of a profile guesses: fits that find the truth, sectors without gaps, forecasts that come true."""

from math import inf, pi

import numpy as np
import pytest
from scipy.special import ndtr

from doublebubble.bounds.profile import ProfileCounts, profile_bound
from doublebubble.bounds.votes import rest_bound
from doublebubble.geometry.profile import bin_masses
from doublebubble.search import profile
from doublebubble.search.profile import Scene, fitted_profile, profile_edges
from doublebubble.types import Counts, Floats
from tests.bounds.test_profile import seen_along

EDGES = profile_edges(0.8)
MASSES = bin_masses(EDGES)


def profiles(middle: float = 0.8, slope: float = 0.8, bend: float = 0.0) -> tuple[Floats, Floats]:
    z = profile._bin_means(EDGES)
    f_a: Floats = ndtr(middle - slope * z + bend * (z * z - 1))
    return np.round(f_a, 4), np.round(0.7 * (1 - f_a), 4)


def drawn(n: int, f: tuple[Floats, Floats], seed: int) -> Counts:
    p = (MASSES[:, None] * np.stack([*f, np.maximum(1 - f[0] - f[1], 0)], axis=1)).ravel()
    return np.random.default_rng(seed).multinomial(n, p / p.sum()).reshape(-1, 3)


def scene(n: int, f: tuple[Floats, Floats], **changes: float) -> Scene:
    votes = np.rint(n * np.array([MASSES @ f[0], MASSES @ f[1], 0.0])).astype(np.int64)
    votes[2] = n - votes.sum()
    settings: dict[str, float] = {
        "gamma": 0.05,
        "alpha": 0.001,
        "sigma": 0.5,
        "misplaced": 1e-7,
        "seen": 1200,
        **changes,
    }
    return Scene(votes, 0, 1, EDGES, *f, dim=64, **settings)  # type: ignore[arg-type]


def test_the_mean_of_a_bin_is_that_of_the_normal_law_there() -> None:
    z = np.random.default_rng(0).standard_normal(400_000)
    places = np.searchsorted(EDGES, z)
    for number, mean in enumerate(profile._bin_means(EDGES)):
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


def test_a_design_fills_the_half_plane_and_promises_more_than_votes() -> None:
    f = profiles()
    made = scene(10_000, f)
    test, radius = made.design()
    plain = rest_bound(made.votes, 0, [], 0.001, 0.5)[0].radius
    assert radius > 1.1 * plain
    for angle in np.linspace(0, pi, 50):
        for length in (0.0, radius / 0.5, 3.0, 5.9):
            mine = [s for s in test.sectors if s.low <= angle <= s.high and s.inner <= length <= s.outer]
            assert mine, (angle, length)
    assert max(sector.outer for sector in test.sectors) == inf
    assert test.gradient_share + test.functional_share < 1


def test_a_forecast_comes_true_if_the_guess_is_right() -> None:
    f = profiles()
    made = scene(10_000, f)
    test, forecast = made.design()
    found = []
    for seed in range(5):
        table = drawn(10_000, f, seed)
        seen = ProfileCounts(table.sum(axis=0), table, seen_along(0.05, 0.12), 1e-7)
        found.append(profile_bound(seen, 0, test, 0.001, 0.5).radius)
    assert np.mean(found) == pytest.approx(forecast, rel=0.05)


def test_no_profile_is_designed_beyond_what_the_plane_is_covered_for() -> None:
    f = np.full(len(EDGES) + 1, 1 - 1e-9), np.full(len(EDGES) + 1, 1e-10)
    made = scene(10_000_000, f)
    test, _ = made.design()
    assert test.sectors == ()
