"""A claim is borne out or refuted only by more than chance: bands and tests are computed here a second time."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from scipy.stats import t as student

from doublebubble.report.measures import Estimate
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.trials import (
    Trial,
    beyond,
    improved_share,
    mean_gain_percent,
    median_grows,
    verdict,
    wins_more,
)

METHODS = ("cohen", "single", "boundary")


def gaining(percents: list[float], first: int = 0) -> pd.DataFrame:
    """Inputs that are right, of Cohen radius 1/2, with these gains in percent by single."""
    radii = [0.5 * (1 + percent / 100) for percent in percents]
    index = range(first, first + len(percents))
    return pd.DataFrame(
        {"index": index, "selected": 3, "label": 3, "radius_cohen": 0.5, "radius_single": radii, "radius": radii}
    )


def winning(boundary: list[bool]) -> pd.DataFrame:
    """Inputs on which the boundary treatment is the largest, or as large as single."""
    wins = [0.8 if won else 0.6 for won in boundary]
    return gaining([20.0] * len(boundary)).assign(radius_boundary=wins, radius=wins)


@pytest.mark.parametrize(
    ("tries", "word"),
    [
        ([], NOT_RUN),
        ([True, True], "yes"),
        ([False], "no"),
        ([None, None], "undecided"),
        ([False, None, True, False], "1 yes, 2 no, 1 undecided"),
    ],
)
def test_a_verdict_is_one_word_or_counts_each(tries: list[Trial], word: str) -> None:
    assert verdict(tries) == word
    assert verdict(tries, "on digits") == (word if word == NOT_RUN else f"{word}, on digits")


def test_a_number_is_beyond_a_limit_only_with_its_whole_band() -> None:
    assert beyond(Estimate(6.0, 5.5, 7.0, 9), 5.0) is True
    assert beyond(Estimate(6.0, 5.0, 7.0, 9), 5.0) is None
    assert beyond(Estimate(4.0, 3.0, 5.5, 9), 5.0) is None
    assert beyond(Estimate(4.0, 3.0, 5.0, 9), 5.0) is False
    assert beyond(Estimate(99.0, None, None, 3), 5.0) is None


def test_the_share_that_is_improved_has_an_exact_band() -> None:
    found = improved_share(pd.concat([gaining([10.0] * 9 + [0.0]), gaining([50.0], 10).assign(label=4)]))
    assert found is not None
    assert (found.value, found.n) == (0.9, 10)
    assert found.low == pytest.approx(beta.ppf(0.025, 9, 2))
    assert found.high == pytest.approx(beta.ppf(0.975, 10, 1))
    assert improved_share(gaining([1.0]).assign(label=4)) is None


def test_the_mean_gain_is_of_percentages_with_students_band() -> None:
    gains = [0.0, 0.0, 3.0, 8.0, 1.0, 0.5, 2.0]
    found = mean_gain_percent(gaining(gains))
    assert found is not None
    reach = student.ppf(0.975, 6) * np.std(gains, ddof=1) / math.sqrt(7)
    assert found.value == pytest.approx(np.mean(gains))
    assert found.high == pytest.approx(np.mean(gains) + reach)
    assert mean_gain_percent(gaining([1.0]).assign(radius_cohen=0.0)) is None


def test_growth_is_the_median_change_of_the_same_inputs() -> None:
    """Of 6 changes the least and the most are the band; of 5 there is none."""
    before = gaining([5.0] * 6)
    assert median_grows(before, gaining([6.0] * 6)) is True
    assert median_grows(before, gaining([4.0] * 6)) is False
    assert median_grows(before, before) is False
    assert median_grows(before, gaining([6.0] * 5 + [4.0])) is None
    assert median_grows(gaining([5.0] * 5), gaining([6.0] * 5)) is None
    assert median_grows(before, gaining([6.0] * 6).iloc[::-1]) is True
    others = pd.concat([gaining([6.0] * 6), gaining([0.0] * 9, 6)])
    assert median_grows(before, others) is True, "inputs that only one has do not count"
    assert median_grows(others, gaining([7.0] * 6)) is True
    assert median_grows(before, gaining([6.0] * 6, 6)) is None


@pytest.mark.parametrize(
    ("more", "less", "found"),
    [(6, 0, True), (5, 0, None), (0, 6, False), (0, 5, None), (9, 1, True), (8, 1, True), (7, 1, None), (0, 0, None)],
)
def test_more_wins_are_told_by_an_exact_sign_test(more: int, less: int, found: Trial) -> None:
    """Two-sided at 5 %: twice the chance that a fair coin shows so few of the rarer side."""
    n, few = more + less, min(more, less)
    chance = min(1.0, 2 * sum(math.comb(n, k) for k in range(few + 1)) / 2**n)
    assert (chance <= 0.05) == (found is not None)
    same = [True, False, True]
    earlier, later = (winning(wins + same) for wins in ([False] * more + [True] * less, [True] * more + [False] * less))
    assert wins_more(earlier, later, "boundary", METHODS) is found
    assert wins_more(earlier, later.iloc[::-1], "boundary", METHODS) is found


def test_a_win_is_above_simpler_methods_on_a_right_input() -> None:
    none, all_ = winning([False] * 6), winning([True] * 6)
    assert wins_more(none, all_, "boundary", METHODS) is True
    assert wins_more(none, all_.assign(radius_single=0.8), "boundary", METHODS) is None, "a tie is single's"
    assert wins_more(none, all_.assign(label=4), "boundary", METHODS) is None
    beaten = all_.assign(radius_double=0.9)
    assert wins_more(none.assign(radius_double=0.1), beaten, "boundary", (*METHODS, "double")) is None
