"""The budget never hands out more than alpha, counted in fractions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.bounds import AlphaBudget
from doublebubble.errors import BudgetError, SettingError

alphas = st.floats(1e-15, 1, exclude_max=True)


@given(alphas, st.lists(st.floats(1e-300, 2.0), max_size=20))
def test_parts_never_exceed_alpha(alpha: float, parts: list[float]) -> None:
    budget = AlphaBudget(alpha)
    for part in parts:
        before = budget.remaining
        if Fraction(part) <= Fraction(alpha) - sum((Fraction(p.alpha) for p in budget.parts), Fraction(0)):
            assert budget.take(part, "test") == part
        else:
            with pytest.raises(BudgetError):
                budget.take(part, "test")
            assert budget.remaining == before
    total = sum((Fraction(p.alpha) for p in budget.parts), Fraction(0))
    assert total <= Fraction(alpha)
    assert budget.spent == float(total)
    if budget.remaining > 0:
        budget.take(budget.remaining, "what remains")


@given(alphas, st.integers(1, 1200), st.floats(0.01, 0.99))
def test_equal_parts_always_fit_and_waste_nothing(alpha: float, count: int, first: float) -> None:
    budget = AlphaBudget(alpha)
    budget.take(first * alpha, "first")
    left = budget.remaining
    parts = budget.take_equal(["part"] * count)
    assert len(parts) == count
    assert len(set(parts)) == 1
    assert sum(Fraction(p) for p in parts) <= Fraction(alpha) - Fraction(first * alpha)
    assert count * parts[0] >= left * (1 - 1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_what_was_handed_out_in_equal_parts_is_gone(count: int) -> None:
    budget = AlphaBudget(0.3)
    parts = budget.take_equal(["part"] * count)
    assert sum(map(Fraction, parts)) <= Fraction(0.3)
    assert budget.remaining <= 0.3 - sum(parts) + 1e-15
    with pytest.raises(BudgetError):
        budget.take(parts[0] / 2, "more")


def test_a_float_sum_that_rounds_to_alpha_is_not_enough() -> None:
    """Three times the float 0.1 exceeds the float 0.3: the last part is refused."""
    budget = AlphaBudget(0.3)
    for _ in range(2):
        budget.take(0.1, "a third")
    with pytest.raises(BudgetError, match=r"asked for 0\.1 of alpha"):
        budget.take(0.1, "a third")
    assert len(AlphaBudget(0.3).take_equal(["a", "b", "c"])) == 3


def test_records_purposes() -> None:
    budget = AlphaBudget(0.5)
    budget.take(0.25, "count")
    budget.take_equal(["x", "y"])
    assert [(p.purpose, p.alpha) for p in budget.parts] == [("count", 0.25), ("x", 0.125), ("y", 0.125)]
    assert budget.remaining == 0.0
    with pytest.raises(BudgetError):
        budget.take_equal(["z"])


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, float("nan")])
def test_refuses_alpha(alpha: float) -> None:
    with pytest.raises(SettingError):
        AlphaBudget(alpha)


@pytest.mark.parametrize("part", [0.0, -0.1, float("nan"), float("inf")])
def test_refuses_part(part: float) -> None:
    with pytest.raises(SettingError):
        AlphaBudget(0.1).take(part, "test")
