import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from doublebubble.errors import InputError, SettingError
from doublebubble.runs.statistics import average_radius, certified_accuracy, compare, summarise
from doublebubble.types import ABSTAIN

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-1, 2), st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.5])),
    min_size=1,
    max_size=30,
)


def table(rows: list[tuple[int, int, float]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "index": range(len(rows)),
            "label": pd.array([row[0] for row in rows], dtype="Int64"),
            "prediction": [row[1] for row in rows],
            "radius": [0.0 if row[1] == ABSTAIN else row[2] for row in rows],
            "status": ["not_separated" if row[1] == ABSTAIN else "certified" for row in rows],
            "guarantee": "exact",
        }
    )


@given(ROWS)
def test_every_input_counts_and_only_correct_ones_are_certified(rows: list[tuple[int, int, float]]) -> None:
    points = certified_accuracy(table(rows), (0.0, 0.25, 1.0))
    for point in points:
        assert point.n == len(rows)
        assert point.certified == sum(label == named and radius >= point.radius for label, named, radius in rows)
    assert points[0].accuracy >= points[1].accuracy >= points[2].accuracy
    assert average_radius(table(rows)) == pytest.approx(
        sum(radius for label, named, radius in rows if label == named) / len(rows)
    )


@given(ROWS, st.floats(0.001, 0.5))
def test_bands_are_those_of_an_exact_test(rows: list[tuple[int, int, float]], alpha: float) -> None:
    (point,) = certified_accuracy(table(rows), (0.25,), alpha)
    k, n = point.certified, point.n
    assert 0 <= point.low <= point.accuracy <= point.high <= 1
    # The ends are the rates at which so few, or so many, have probability alpha / 2.
    if k > 0:
        assert binom.sf(k - 1, n, point.low) == pytest.approx(alpha / 2, rel=1e-6)
    if k < n:
        assert binom.cdf(k, n, point.high) == pytest.approx(alpha / 2, rel=1e-6)


def test_a_summary_tells_abstained_from_failed() -> None:
    frame = table([(1, 1, 0.5), (1, ABSTAIN, 0.0), (2, 1, 0.7), (0, ABSTAIN, 0.0)])
    frame.loc[3, ["status", "guarantee"]] = ["failed", "none"]
    summary = summarise(frame)
    assert (summary.n, summary.abstained, summary.failed, summary.abstention_rate) == (4, 2, 1, 0.5)
    assert summary.average_radius == 0.125
    assert summary.guarantees == ("exact",)
    assert [point.radius for point in summary.accuracies] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_comparison_pairs_inputs_whatever_their_order() -> None:
    a = table([(1, 1, 0.5), (1, 1, 0.25), (2, 1, 0.7), (0, 0, 0.1), (1, 1, 0.5)])
    b = table([(1, 1, 0.7), (1, ABSTAIN, 0.0), (2, 2, 0.1), (0, 0, 0.1), (1, 1, 0.6)]).iloc[::-1]
    found = compare(a, b)
    assert (found.n, found.larger, found.smaller) == (5, 3, 1)
    assert found.mean_difference == pytest.approx((0.2 - 0.25 + 0.1 + 0.0 + 0.1) / 5)
    assert found.p_value == binomtest(3, 4).pvalue
    assert compare(a, a).p_value == 1.0
    assert compare(a, b.iloc[:2]).n == 2


def test_runs_that_cannot_be_compared_are_refused() -> None:
    a, b = table([(1, 1, 0.5)]), table([(2, 1, 0.5)])
    with pytest.raises(InputError, match="input 0 has two different labels"):
        compare(a, b)
    with pytest.raises(InputError, match="none in common"):
        compare(a, a.assign(index=7))


def test_what_has_no_statistics_is_refused() -> None:
    frame = table([(1, 1, 0.5)])
    with pytest.raises(InputError, match="at least one input"):
        average_radius(frame.iloc[:0])
    with pytest.raises(InputError, match="a label for every input, 1 have none"):
        average_radius(frame.assign(label=pd.array([None], dtype="Int64")))
    with pytest.raises(SettingError, match="radius"):
        certified_accuracy(frame, (-1.0,))
