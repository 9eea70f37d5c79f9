import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from doublebubble.report.page.steps import attacked_steps, bands, steps
from doublebubble.runs.statistics import certified_accuracy

ROW = st.tuples(st.integers(0, 2), st.integers(-1, 2), st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.5]))


def table(rows: list[tuple[int, int, float]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "index": range(len(rows)),
            "label": pd.array([row[0] for row in rows], dtype="Int64"),
            "prediction": [row[1] for row in rows],
            "radius": [0.0 if row[1] == -1 else row[2] for row in rows],
            "radius_cohen": [None if row[1] == -1 else row[2] for row in rows],
        }
    )


@given(st.lists(ROW, min_size=1, max_size=30), st.lists(st.floats(0, 2), max_size=5))
def test_the_curve_is_the_certified_accuracy_at_every_radius(
    rows: list[tuple[int, int, float]], radii: list[float]
) -> None:
    found = steps(table(rows))
    held = sorted({radius for label, named, radius in rows if label == named} | {0.0})
    assert found.radii.tolist() == held
    assert found.n == len(rows)
    asked = [*radii, *held, *(radius + 1e-9 for radius in held)]
    points = certified_accuracy(table(rows), asked)
    assert found.at(np.array(asked)).tolist() == [point.certified for point in points]


@given(st.lists(ROW, min_size=1, max_size=30))
def test_a_method_that_certifies_nothing_is_certified_nowhere(rows: list[tuple[int, int, float]]) -> None:
    found = steps(table(rows), "radius_cohen")
    for radius, certified in zip(found.radii, found.certified, strict=True):
        assert certified == sum(label == named and length >= radius and length > 0 for label, named, length in rows)


@pytest.mark.parametrize("n", [1, 17, 400])
def test_bands_hold_the_exact_interval_and_are_no_wider_than_rounding(n: int) -> None:
    low, high = bands(n)
    for count in range(n + 1):
        exact = binomtest(count, n).proportion_ci(0.95, "exact")
        assert exact.low - 1.1e-4 <= low[count] / 1e4 <= exact.low
        assert exact.high <= high[count] / 1e4 <= exact.high + 1.1e-4


def test_attacked_inputs_count_up_to_their_success_and_others_all_the_way() -> None:
    """Four inputs, one of them wrong; two of the others have a success, at 0.5 and at 0.9."""
    table = pd.DataFrame(
        {"index": [3, 5, 7, 8], "prediction": [1, 1, 1, 1], "label": [1, 1, 1, 0], "radius": [0.1] * 4}
    )
    found = attacked_steps(table, {3: 0.5, 5: 0.9, 8: 0.2}, 0.9)
    assert found.n == 4
    assert found.radii.tolist() == [0.0, 0.5, 0.9]
    assert found.certified.tolist() == [3, 3, 2]
    assert found.at(np.array([0.3, 0.5, 0.51, 0.9])).tolist() == [3, 3, 2, 2]
    assert attacked_steps(table, {}, 0.7).certified.tolist() == [3, 3]
