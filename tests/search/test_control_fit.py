"""Directions and control variates from earlier draws: by hand, by simulation, and why the draws must be earlier."""

import numpy as np
import pytest
from scipy.special import ndtr as Phi

from doublebubble.bounds.controlled_votes import Change, Control, change_at
from doublebubble.bounds.ladder import vote_ladder
from doublebubble.search.control_fit import EDGES, expected_cosine, fitted_control
from doublebubble.types import Counts

T = 1.0
P0 = float(Phi(T))


def by_bin(z: np.ndarray, hits: np.ndarray) -> Counts:
    table = np.zeros((len(EDGES) + 1, 2), np.int64)
    np.add.at(table, (np.digitize(z, EDGES), np.where(hits, 0, 1)), 1)
    return table


def changed(control: Control) -> Change:
    """A change before any draw: the wealth is that of the control variate alone."""
    free = Control(control.edges, control.values, ((0, 0),) * len(control.values))
    return change_at(vote_ladder((T,), 1.0, 0.05, 0.05, 4000), 1.0, 0, 0, 0, [0], free)


def test_the_share_of_hits_nearby_by_hand() -> None:
    pilot = np.array([[4, 1], [0, 0], [2, 2], [0, 5]])
    share = 6.5 / 15
    found = fitted_control(pilot, (-1.0, 0.0, 1.0))
    expected = [
        (3 * 4 + 1 * 2 + share) / (3 * 5 + 1 * 4 + 1),
        (2 * 4 + 2 * 2 + share) / (2 * 5 + 2 * 4 + 1 * 5 + 1),
        (1 * 4 + 3 * 2 + share) / (1 * 5 + 3 * 4 + 2 * 5 + 1),
        (2 * 2 + share) / (2 * 4 + 3 * 5 + 1),
    ]
    assert found.values == pytest.approx(expected, abs=5.1e-5)
    assert found.pilot == ((4, 1), (0, 0), (2, 2), (0, 5))
    unanimous = fitted_control(np.array([[10**6, 0]] * 4), (-1.0, 0.0, 1.0))
    assert unanimous.values == (0.9999,) * 4


def test_the_variance_left_is_that_given_the_place() -> None:
    """A half-space seen along a line at an angle: P[hit | z] is known."""
    generator = np.random.default_rng(3)
    z, y = generator.standard_normal((2, 40_000))
    cosine = 0.8
    hits = T + cosine * z + 0.6 * y > 0
    found = fitted_control(by_bin(z, hits))
    inner = Phi((T + cosine * np.linspace(-6, 6, 4001)) / 0.6)
    weights = np.exp(-0.5 * np.linspace(-6, 6, 4001) ** 2)
    given = float((weights * inner * (1 - inner)).sum() / weights.sum()) / (P0 * (1 - P0))
    assert found.left == pytest.approx(given, rel=0.05)
    assert found.variance / (P0 * (1 - P0)) == pytest.approx(given, rel=0.1)


def test_the_cosine_to_expect_is_what_simulated_draws_show() -> None:
    generator = np.random.default_rng(5)
    d, n = 100, 2000
    cosines = []
    for _ in range(20):
        noise = generator.standard_normal((n, d))
        hits = T + 0.75 * noise[:, 0] + np.sqrt(1 - 0.75**2) * generator.standard_normal(n) > 0
        slope = (hits - hits.mean()) @ noise
        cosines.append(slope[0] / np.linalg.norm(slope))
    assert expected_cosine(n, round(n * P0), d) == pytest.approx(np.mean(cosines), rel=0.05)
    assert expected_cosine(10, 10, 10**6) < 0.01


def test_a_direction_that_has_seen_the_draws_claims_what_is_false() -> None:
    """Votes that have nothing to do with the noise, at the threshold itself: a fit to earlier draws claims nothing.

    Applied to the draws it was made from, it claims the radius most of the time, at level 0.05.
    """
    generator = np.random.default_rng(0)
    d = n = 400
    own = later = 0
    for _ in range(20):
        noise, hits = generator.standard_normal((2 * n, d)), generator.random(2 * n) < P0
        slope = (hits[:n] - hits[:n].mean()) @ noise[:n]
        z = noise @ (slope / np.linalg.norm(slope))
        change = changed(fitted_control(by_bin(z[:n], hits[:n])))
        own += bool(change.won(by_bin(z[:n], hits[:n])))
        later += bool(change.won(by_bin(z[n:], hits[n:])))
    assert own >= 10
    assert later <= 4
