"""Every measure against a slow computation with plain loops, and every band against what it promises."""

import statistics
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from doublebubble.errors import InputError
from doublebubble.report import measures
from doublebubble.runs.statistics import average_radius, certified_accuracy
from doublebubble.types import ABSTAIN
from tests.report.frames import METHODS, ROWS, Row, table

QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(ROWS, st.sampled_from(METHODS))
def test_the_view_of_a_method_is_a_run_of_that_method_alone(rows: list[Row], method: str) -> None:
    view = measures.method_view(table(rows), method)
    radii = [0.0 if row[7] else row[2 + METHODS.index(method)] for row in rows]
    assert view["radius"].tolist() == radii
    for row, radius, prediction in zip(rows, radii, view["prediction"], strict=True):
        assert prediction == (row[1] if radius > 0 else ABSTAIN)
    right = [row[0] == row[1] and radius > 0 for row, radius in zip(rows, radii, strict=True)]
    assert view["correct"].tolist() == right
    for point in certified_accuracy(view, (0.0, 0.25)):
        assert point.certified == sum(
            good and radius >= point.radius for good, radius in zip(right, radii, strict=True)
        )
    total = sum(radius for good, radius in zip(right, radii, strict=True) if good)
    assert average_radius(view) == pytest.approx(total / len(rows))


def slow_gains(rows: list[Row], method: int) -> list[tuple[float, float]]:
    found = []
    for label, selected, *radii, plan, failed in rows:
        mine = radii[plan] if method < 0 else radii[method]
        if not failed and label == selected and radii[0] > 0:
            found.append((radii[0], 100 * (mine / radii[0] - 1)))
    return found


@QUICK
@given(ROWS, st.integers(-1, 3))
def test_gains_by_radius_are_medians_over_a_window_with_both_ends(rows: list[Row], method: int) -> None:
    name = measures.REPORTED if method < 0 else METHODS[method]
    gains = slow_gains(rows, method)
    found = measures.improvement_by_radius(table(rows), name, [0.1, 0.25, 0.4, 2.0])
    for centre in (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5), Fraction(2)):
        reach = Fraction(75, 1000)
        inside = [gain for base, gain in gains if abs(Fraction(str(base)) - centre) <= reach]
        assert (float(centre) in found) == bool(inside)
        if inside:
            assert found[float(centre)].value == pytest.approx(statistics.median(inside), abs=1e-9)
            assert found[float(centre)].n == len(inside)
    whole = measures.median_improvement(table(rows), name)
    assert (whole is None) == (not gains)
    if whole is not None:
        assert whole.value == pytest.approx(statistics.median(gain for _, gain in gains), abs=1e-9)


@QUICK
@given(ROWS)
def test_winners_divide_the_correct_inputs_and_ties_go_to_the_simplest(rows: list[Row]) -> None:
    methods = ("double", "first_order", "cohen", "single")  # the order asked for does not matter
    found = measures.winners(table(rows), methods)
    counts = dict.fromkeys(METHODS, 0)
    for label, selected, *radii, _, failed in rows:
        if not failed and label == selected and max(radii) > 0:
            counts[METHODS[radii.index(max(radii))]] += 1  # METHODS has the simplest first
    total = sum(counts.values())
    assert set(found) == (set(METHODS) if total else set())
    for method, estimate in found.items():
        assert estimate.value == pytest.approx(counts[method] / total)
        assert estimate.n == total
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low <= estimate.value <= estimate.high


@QUICK
@given(ROWS, st.integers(0, 3))
def test_mean_gains_over_correct_inputs_and_over_all(rows: list[Row], method: int) -> None:
    right = [(row[2 + method] - row[2], row[2 + method]) for row in rows if not row[7] and row[0] == row[1]]
    published = measures.mean_gain(table(rows), METHODS[method])
    everywhere = measures.mean_gain(table(rows), METHODS[method], correct_only=False)
    radius = measures.mean_radius(table(rows), METHODS[method])
    assert everywhere is not None
    assert everywhere.value == pytest.approx(sum(gain for gain, _ in right) / len(rows))
    assert (published is None) == (radius is None) == (not right)
    if published is not None and radius is not None:
        assert published.value == pytest.approx(statistics.mean(gain for gain, _ in right))
        assert radius.value == pytest.approx(statistics.mean(radius for _, radius in right))
        assert published.n == len(right)


@pytest.mark.parametrize("n", [*range(1, 30), 99, 100, 500])
def test_the_band_of_a_median_misses_at_most_one_time_in_twenty_and_is_the_narrowest(n: int) -> None:
    found = measures.median(np.random.default_rng(n).permutation(n).astype(float))
    tail = [Fraction(sum(comb(n, j) for j in range(k + 1)), 2**n) for k in range(n // 2 + 1)]
    # Values 0 .. n-1: the band from a to n-1-a leaves out a values at each end, and misses if a or fewer are below.
    fits = [a for a, probability in enumerate(tail) if 2 * probability <= Fraction(1, 20)]
    if not fits:
        assert (found.low, found.high) == (None, None)
        assert n < 6
    else:
        assert (found.low, found.high) == (max(fits), n - 1 - max(fits))


def test_the_band_of_a_median_covers_the_median_of_the_population() -> None:
    rng = np.random.default_rng(0)
    bands = [measures.median(rng.exponential(size=12)) for _ in range(2000)]
    missed = sum(not (band.low or 0) <= np.log(2) <= (band.high or 0) for band in bands)
    assert missed <= 2000 * 0.05  # the exact level at n = 12 is 0.039


@QUICK
@given(st.lists(st.floats(-10, 10), min_size=6, max_size=30).filter(lambda values: np.std(values) > 1e-6))
def test_the_band_of_a_mean_is_students(values: list[float]) -> None:
    found = measures.mean(values)
    interval = ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert found.low == pytest.approx(interval.low, abs=1e-9)
    assert found.high == pytest.approx(interval.high, abs=1e-9)
    few = measures.mean(values[:5])
    assert (few.low, few.high, few.n) == (None, None, 5)
    assert few.value == pytest.approx(statistics.mean(values[:5]))


def test_times_leave_out_inputs_that_were_not_worked_on() -> None:
    frame = table([(0, 0, 0.5, 0, 0, 0, 0, False), (0, 0, 0.5, 0, 0, 0, 0, True), (1, 0, 0.5, 0, 0, 0, 0, False)])
    frame["status"] = ["certified", "failed", "wrong_class"]
    found = measures.mean_seconds(frame)
    assert found is not None
    assert (found.value, found.n) == (1.0, 1)
    assert measures.mean_seconds(frame.iloc[1:]) is None


def test_a_method_that_was_not_asked_for_and_missing_labels_are_errors() -> None:
    frame = table([(0, 0, 0.5, 0.5, 0.5, 0.5, 0, False)])
    with pytest.raises(InputError, match="dipole: expected a method that the run was asked for"):
        measures.method_view(frame, "dipole")
    with pytest.raises(InputError, match="expected a label for every input"):
        measures.winners(frame.assign(label=pd.array([None], "Int64")), METHODS)
    with pytest.raises(InputError, match="at least one input"):
        measures.median_improvement(frame.iloc[:0], "single")


def pairs(mine: list[float], cohen: list[float], right: list[bool]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table of a method without Cohen's radii, and the one beside it that has them."""
    label = [3 if one else 4 for one in right]
    plain = pd.DataFrame({"selected": 3, "label": label})
    return plain.assign(radius_single=mine), plain.assign(radius_cohen=cohen)


@QUICK
@given(st.lists(st.tuples(st.floats(0, 4), st.floats(0.1, 3), st.booleans()), min_size=1, max_size=12))
def test_the_gain_in_sum_is_a_ratio_of_sums_and_its_band_that_of_its_deviations(
    rows: list[tuple[float, float, bool]],
) -> None:
    one, base = pairs([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    found = measures.gain_in_sum(one, "single", base)
    kept = [(row[0], row[1]) for row in rows if row[2]]
    if not kept:
        assert found is None
        return
    assert found is not None
    ratio = sum(m for m, _ in kept) / sum(c for _, c in kept)
    assert found.value == pytest.approx(100 * (ratio - 1), abs=1e-9)
    assert found.n == len(kept)
    if len(kept) < measures.FEWEST:
        assert found.low is None
        assert found.high is None
        return
    left = [m - ratio * c for m, c in kept]
    band = ttest_1samp(left, 0.0).confidence_interval(0.95)
    reach = 100 * (band.high - band.low) / 2 / statistics.mean(c for _, c in kept)
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach), abs=1e-6)


def test_there_is_no_gain_over_nothing() -> None:
    one, base = pairs([0.5, 0.2], [0.0, 0.0], [True, True])
    assert measures.gain_in_sum(one, "single", base) is None


def test_the_band_of_a_ratio_holds_the_population_s_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    times, held = 600, 0
    for _ in range(times):
        cohen = rng.gamma(2.0, 0.4, 60)
        mine = cohen * (1 + 0.1 * rng.random(60))  # the population's gain is 5 %
        one, base = pairs(mine.tolist(), cohen.tolist(), [True] * 60)
        found = measures.gain_in_sum(one, "single", base)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 5.0 <= found.high
    assert binomtest(held, times, 0.95).pvalue > 1e-4
