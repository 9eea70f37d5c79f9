"""A claim is borne out or refuted only by more than chance: bands and tests are computed here a second time."""

import math

import pandas as pd
import pytest

from doublebubble.report.measures import Estimate
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.trials import Trial, agreed, beyond, in_a_word, median_grows, verdict, wins_more

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
def test_tries_are_one_word_or_counted(tries: list[Trial], word: str) -> None:
    assert in_a_word(tries) == word


def test_a_verdict_names_studies_of_which_the_same_is_said_together() -> None:
    assert verdict({}) == verdict({"a": []}) == NOT_RUN
    assert verdict({"a": [True, True]}) == "yes on a"
    found: dict[str, list[Trial]] = {"a": [False], "b": [None, True], "c": [], "d": [False, False], "e": [True, None]}
    assert verdict(found) == "no on a, d; 1 yes, 1 undecided on b, e"


def test_all_must_agree() -> None:
    assert agreed([True, True]) is True
    assert agreed([False]) is False
    for said in ([], [None], [True, False], [True, None], [None, False]):
        assert agreed(said) is None


def test_a_number_is_beyond_a_limit_only_with_its_whole_band() -> None:
    assert beyond(Estimate(6.0, 5.5, 7.0, 9), 5.0) is True
    assert beyond(Estimate(6.0, 5.0, 7.0, 9), 5.0) is None
    assert beyond(Estimate(4.0, 3.0, 5.5, 9), 5.0) is None
    assert beyond(Estimate(4.0, 3.0, 5.0, 9), 5.0) is False
    assert beyond(Estimate(99.0, None, None, 3), 5.0) is None


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
