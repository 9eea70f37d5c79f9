"""What the design of a profile guesses: bins and sectors without gaps, forecasts that come true."""

from math import inf, pi

import numpy as np
import pytest
from scipy.special import ndtr

from doublebubble.bounds import VoteBounds
from doublebubble.bounds.profile import ProfileCounts, profile_bound
from doublebubble.bounds.votes import rest_bound
from doublebubble.geometry.profile import bin_masses
from doublebubble.search import profile
from doublebubble.search.profile import Scene, profile_edges, usual_gain
from doublebubble.search.profile_fit import bin_means
from doublebubble.types import Counts, Floats
from tests.bounds.test_profile import seen_along

EDGES = profile_edges(0.8)
MASSES = bin_masses(EDGES)


def profiles(middle: float = 0.8, slope: float = 0.8, bend: float = 0.0) -> tuple[Floats, Floats]:
    z = bin_means(EDGES)
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


@pytest.mark.parametrize("radius", [0.0, 0.7, 1.5, 3.0, 4.5])
def test_bins_reach_to_where_displaced_noise_lies(radius: float) -> None:
    edges = np.array(profile_edges(radius))
    assert len(edges) == profile.BINS - 1
    assert np.diff(edges).min() >= 0.05
    assert edges[0] < -3
    assert ndtr(edges[-1] - radius) > 0.9
    assert edges[-1] <= 6


def certain(n: int, dim: int) -> Scene:
    """A class with 0.99 of the votes, the slope 0.8 of a half-space's along the line and a little off it."""
    edges = profile_edges(2.3)
    f_a: Floats = np.round(ndtr(3.88 - 1.33 * bin_means(edges)), 4)
    shares = float(bin_masses(edges) @ f_a)
    votes = np.array([round(n * shares), round(0.6 * n * (1 - shares)), 0])
    votes[2] = n - votes.sum()
    return Scene(votes, 0, 1, edges, f_a, np.round(0.6 * (1 - f_a), 4), 0.005, dim, 0.001, 0.5, 1e-7, 8000)


def test_prices_are_capped_where_the_class_is_nearly_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sectors behind the input would need prices of thousands, whose range (R2) pays for."""
    made = certain(100_000, 3072)
    plain = rest_bound(made.votes, 0, [], 0.001, 0.5)[0].radius
    assert made.design()[1] > 1.01 * plain
    monkeypatch.setattr(profile, "_CAPS", (1.0,))
    assert made.design()[1] < plain


def test_small_gains_are_promised_for_other_votes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    made = certain(100_000, 3072)
    honest = made.design()[1]
    monkeypatch.setattr(profile, "_SURE", 0.0)
    assert honest <= made.design()[1]


def test_the_usual_gain_grows_with_draws_and_doubt_and_falls_with_the_dimension() -> None:
    doubt, sure = VoteBounds(0.2, 0.12), VoteBounds(0.01, 0.006)
    base = usual_gain(doubt, 3072, 10_000, 0.001)
    assert base > 0.03
    assert usual_gain(doubt, 3072, 100_000, 0.001) > base
    assert usual_gain(doubt, 64, 10_000, 0.001) > base
    assert usual_gain(sure, 3072, 10_000, 0.001) < 0
    assert 0 < usual_gain(sure, 3072, 100_000, 0.001) < base


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
