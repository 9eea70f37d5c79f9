"""Measures of claims about gains, with bands that are computed here a second time."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from scipy.stats import t as student

from doublebubble.reproduce.claim_measures import (
    counted,
    improved_share,
    kept_share,
    mean_percent,
    median_percent,
    percent_in_sum,
    share_won,
)


def gaining(percents: list[float], cohen: float = 0.5) -> pd.DataFrame:
    """Inputs that are right, of this Cohen radius, with these gains in percent by single."""
    radii = [cohen * (1 + percent / 100) for percent in percents]
    return pd.DataFrame({"selected": 3, "label": 3, "radius_cohen": cohen, "radius_single": radii, "radius": radii})


def test_shares_of_improved_inputs_have_exact_bands() -> None:
    table = pd.concat([gaining([10.0] * 9 + [0.0]), gaining([50.0]).assign(label=4), gaining([0.0], cohen=0.0)])
    found, kept = improved_share(table), kept_share(table)
    assert found is not None
    assert kept is not None
    assert (found.value, found.n, counted(table)) == (0.9, 10, 10)
    assert (found.low, found.high) == pytest.approx((beta.ppf(0.025, 9, 2), beta.ppf(0.975, 10, 1)))
    assert (kept.value, kept.low) == pytest.approx((0.1, beta.ppf(0.025, 1, 10)))
    fewer = kept_share(gaining([-5.0, 5.0]))
    assert fewer is not None
    assert fewer.value == 0.5, "less than Cohen's is not improved"


def test_gains_are_of_percentages_and_of_sums() -> None:
    gains = [0.0, 0.0, 3.0, 8.0, 1.0, 0.5, 2.0]
    found, middle = mean_percent(gaining(gains)), median_percent(gaining(gains))
    assert found is not None
    assert middle is not None
    reach = student.ppf(0.975, 6) * np.std(gains, ddof=1) / math.sqrt(7)
    assert found.value == pytest.approx(np.mean(gains))
    assert found.high == pytest.approx(np.mean(gains) + reach)
    assert middle.value == pytest.approx(1.0)
    mixed = pd.concat([gaining([100.0], cohen=0.01), gaining([0.0], cohen=0.99)])
    average, total = mean_percent(mixed), percent_in_sum(mixed)
    assert average is not None
    assert total is not None
    assert (average.value, total.value) == pytest.approx((50.0, 1.0))


def test_without_a_right_input_nothing_is_measured() -> None:
    wrong = gaining([1.0]).assign(label=4)
    for measure in (improved_share, kept_share, mean_percent, median_percent, percent_in_sum):
        assert measure(wrong) is None
    assert share_won(wrong, "single") is None


def test_a_win_is_above_simpler_methods() -> None:
    table = gaining([10.0, 0.0, 10.0, 0.0])
    won, cohen = share_won(table, "single"), share_won(table, "cohen")
    assert won is not None
    assert cohen is not None
    assert (won.value, cohen.value) == (0.5, 0.5)
    assert share_won(table, "boundary") is None, "it was not asked for"
