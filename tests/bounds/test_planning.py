"""Forecasts of draws: against simulation, the exact sums of other tests, and closed forms."""

import math

import numpy as np
import pytest
from scipy.special import ndtr as Phi

from doublebubble.bounds import clopper_pearson
from doublebubble.bounds.ladder import looks, vote_ladder
from doublebubble.bounds.planning import (
    draws_ahead,
    exact_reach,
    fewest_draws,
    least_draws,
    radius_means,
    stopping_law,
    vote_law,
)
from doublebubble.bounds.sequences import miss_bet, reach, vote_bet
from doublebubble.errors import InputError, SettingError
from tests.bounds.exact import crossing_chance
from tests.bounds.stepping import done, start, step


def test_the_law_is_that_of_the_ladder() -> None:
    """Mean draws and power at three p against 60 runs of a ladder each."""
    t, alpha, beta, cap = 0.5, 0.05, 0.1, 150
    law, ladder = vote_law(t, alpha, beta, cap), vote_ladder((t,), 1.0, alpha, beta, cap)
    rng = np.random.default_rng(1)
    for p in (0.5, 0.69, 0.85):
        assert law.weights(p).sum() == pytest.approx(1, abs=1e-9)
        draws, certified = [], 0
        for _ in range(60):
            progress, votes = start(ladder), rng.random(cap) < p
            for n in looks(cap):
                new = votes[progress.draws : n]
                progress = step(ladder, progress, [[int(new.sum()), len(new) - int(new.sum())]])
                if done(ladder, progress):
                    break
            draws.append(progress.draws)
            certified += progress.certified
        error = np.std(draws) / math.sqrt(len(draws)) + 1e-9
        assert abs(np.mean(draws) - law.expected_draws(p)) < 5 * error
        assert abs(certified / 60 - law.power(p)) < 5 * math.sqrt(law.power(p) * (1 - law.power(p)) / 60) + 0.02
        assert 0 <= law.refusal(p) <= 1 - law.power(p) + 1e-9


def test_the_law_at_every_draw_agrees_with_the_exact_sums() -> None:
    t, alpha, cap = 0.7, 0.02, 300
    never = miss_bet(t, 1e-30, cap)
    law = stopping_law(vote_bet(t, alpha, cap), never, float(Phi(t)), alpha, 1e-250, range(1, cap + 1))
    ps = [float(Phi(t)), 0.7, 0.85, 0.95]
    for p, chance in zip(ps, crossing_chance(vote_bet(t, alpha, cap), alpha, ps, cap), strict=True):
        assert law.power(p) == pytest.approx(chance, rel=1e-9)


def test_mean_draws_are_near_the_least() -> None:
    law = vote_law(1.0, 0.001, 0.05, 10_000)
    for p in (0.9, 0.95, 0.99):
        least = float(least_draws(p, 1.0, 0.001, 0.05, 10_000))
        assert least < law.expected_draws(p) < 1.5 * least


def test_the_yardstick() -> None:
    p0 = float(Phi(1.0))
    least = least_draws([1.0, 0.9, 0.5, 0.0, p0], 1.0, 0.001, 0.05, 1000)
    kl = 0.9 * math.log(0.9 / p0) + 0.1 * math.log(0.1 / (1 - p0))
    assert least[0] == pytest.approx(math.log(1000) / -math.log(p0))
    assert least[1] == pytest.approx(math.log(1000) / kl)
    assert least[2] == pytest.approx(math.log(20) / (0.5 * math.log(0.5 / p0) + 0.5 * math.log(0.5 / (1 - p0))))
    assert least[3] == pytest.approx(math.log(20) / -math.log(1 - p0))
    assert least[4] == 1000


@pytest.mark.parametrize(("radius", "alpha"), [(0.1, 0.05), (0.5, 0.001), (1.5, 0.001)])
def test_the_fewest_draws_are_those_of_the_exact_bound(radius: float, alpha: float) -> None:
    n, p0 = fewest_draws(radius, 0.5, alpha), float(Phi(radius / 0.5))
    assert clopper_pearson(n, n, alpha) > p0 - 1e-9
    assert clopper_pearson(n - 1, n - 1, alpha) < p0


def test_the_outlook_averages_over_inputs() -> None:
    law = vote_law(0.5, 0.001, 0.05, 2000)
    seen = radius_means(law, [100] * 60 + [10] * 40, 100, [True] * 50 + [False] * 50)
    assert seen.certified == pytest.approx(0.5, abs=0.01)
    assert seen.certified_error == pytest.approx(0.05, abs=0.01)
    easy, hopeless = radius_means(law, [100], 100), radius_means(law, [10], 100)
    assert seen.draws == pytest.approx(0.6 * easy.draws + 0.4 * hopeless.draws)
    assert easy.draws_error == math.inf
    assert hopeless.certified < 1e-3 < 0.99 < easy.certified
    assert radius_means(law, [80, 60], 100).certified < radius_means(law, [85, 65], 100).certified


def test_what_does_not_fit_is_refused() -> None:
    law = vote_law(0.5, 0.05, 0.05, 50)
    with pytest.raises(InputError):
        radius_means(law, [5], 4)
    with pytest.raises(InputError):
        radius_means(law, [], 4)
    with pytest.raises(InputError):
        law.weights(1.5)
    with pytest.raises(InputError):
        least_draws(1.1, 1.0, 0.05, 0.05, 10)
    with pytest.raises(SettingError):
        fewest_draws(0.0, 0.5, 0.001)
    with pytest.raises(SettingError):
        stopping_law(vote_bet(0.5, 0.05, 9), miss_bet(0.5, 0.05, 9), 0.7, 0.05, 0.05, [3, 3])


def test_the_exact_reach_is_where_counting_wins_beta_of_the_time() -> None:
    """By the law of a ladder that never gives up; above what (Q3) proves, and reached by nobody below it."""
    for t, alpha, beta, cap in ((0.5, 0.01, 0.05, 400), (1.0, 0.001, 0.2, 1000)):
        found = exact_reach(t, alpha, beta, cap)
        never = miss_bet(0.0, 1e-200, cap)
        law = stopping_law(vote_bet(t, alpha, cap), never, float(Phi(t)), alpha, 1e-250, looks(cap))
        assert law.power(float(Phi(found))) == pytest.approx(beta, rel=1e-4)
        assert found > reach(t, alpha, beta, cap)
    assert exact_reach(3.0, 1e-6, 0.05, 10) == 8.0, "no votes win"


def test_the_draws_ahead_are_those_that_counting_needs() -> None:
    """Near the yardstick once the votes leave little open, nothing where all is decided, the cap where nothing is."""
    need = float(least_draws(0.87, 1.0, 0.001, 0.05, 100_000)[()])
    assert draws_ahead(10**6, 870_000, [1.0], [0.001], 0.05, 10**9) == 0.0
    big = draws_ahead(500, 435, [1.0], [0.001], 0.05, 100_000)
    assert big > need / 2
    assert draws_ahead(100, 100, [1.0], [0.001], 0.05, 100_000) < 100
    edge = round(100_000 * float(Phi(1.0)))
    assert draws_ahead(100_000, edge, [1.0], [0.001], 0.05, 10**6) > 500_000
    assert draws_ahead(100_000, edge, [1.0, 0.2], [0.001] * 2, 0.05, 10**6, precision=0.1) < 10_000
    assert draws_ahead(100, 80, [], [], 0.05, 1000) == 0.0
