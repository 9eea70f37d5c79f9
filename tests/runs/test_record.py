from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.errors import RunError, SettingError
from doublebubble.runs.record import Record, centres_of, floor_radius, radius_text
from doublebubble.types import ABSTAIN, Guarantee
from tests.runs.samples import certificate


@given(st.floats(0, 1e6, allow_nan=False))
def test_a_radius_is_never_rounded_up_and_loses_less_than_a_millionth(radius: float) -> None:
    floored = floor_radius(radius)
    assert Fraction(floored) <= Fraction(radius)
    # The exact six-decimal number below is less than 1e-6 away; the double beside it is within half a unit of it.
    assert Fraction(radius) - Fraction(Decimal(repr(floored))) < Fraction(1, 10**6)
    assert -Decimal(repr(floored)).as_tuple().exponent <= 6 or floored < 1e-6  # type: ignore[operator]


@pytest.mark.parametrize("radius", [0.3, 0.1 + 0.2, 0.123457, 1.000001, 2.5e-7, 0.29999999999999993])
def test_nearest_rounding_would_fail_somewhere_here(radius: float) -> None:
    assert floor_radius(radius) <= radius


def test_multiplying_before_the_floor_would_round_up() -> None:
    below = float(np.nextafter(5e-6, 0))  # in floating point a million times this is 5 exactly
    assert np.floor(below * 1e6) / 1e6 > below
    assert floor_radius(below) == 4e-6


@given(st.floats(0, 1e3, allow_nan=False))
def test_the_text_of_a_record_is_the_decimal_that_was_floored(radius: float) -> None:
    floored = floor_radius(radius)
    assert Fraction(Decimal(radius_text(floored))) <= Fraction(radius)
    assert float(radius_text(floored)) == floored
    assert Fraction(Decimal(radius_text(radius))) <= Fraction(radius) or radius == float(radius_text(radius))


@pytest.mark.parametrize("radius", [float("nan"), float("inf"), -1e-9])
def test_what_is_no_radius_is_refused(radius: float) -> None:
    with pytest.raises(RunError, match="expected a finite number >= 0"):
        floor_radius(radius)


def test_a_record_holds_all_of_the_certificate() -> None:
    source = certificate(7, radius=0.12345678, centres=2)
    record = Record.of(source, "ff")
    assert (record.index, record.label, record.prediction, record.status) == (7, 1, 1, "certified")
    assert record.radius == 0.123456
    assert record.radii == {"cohen": 0.123456, "double": 0.041152}
    assert record.guarantee is Guarantee.EXACT
    assert record.alpha == 1e-3
    assert [ball.centre for ball in record.balls] == [None, 0, 1]
    assert record.balls[0].radius == 0.12345678  # evidence is kept whole
    assert record.balls[0].counts == {0: 3, 1: 90, 2: 7}
    assert [ball.alpha for ball in record.balls] == [1e-3, 5e-4, 5e-4]
    assert record.counts["certify"] == {0: 3, 1: 90, 2: 7}
    assert record.draws == {"select": 10, "certify": 100}
    assert record.seconds == {"select": 0.5, "certify": 1.0}
    assert record.correct is True
    centres = centres_of(source)
    assert centres is not None
    assert np.array_equal(centres[1], source.balls[2].centre)  # type: ignore[arg-type]


def test_an_abstention_is_not_correct_even_for_the_label_minus_one() -> None:
    record = Record.of(certificate(radius=0.0, prediction=ABSTAIN, label=3))
    assert record.correct is False
    assert Record.of(certificate(label=None)).correct is None


def test_an_abstention_with_a_radius_is_refused() -> None:
    with pytest.raises(SettingError, match="radius 0"):
        Record.of(certificate(radius=0.5, prediction=ABSTAIN))


def test_a_failure_keeps_its_error() -> None:
    record = Record.failed(3, 2, "input 3: expected finite values")
    assert (record.status, record.prediction, record.radius, record.correct) == ("failed", ABSTAIN, 0.0, False)
    with pytest.raises(SettingError, match="error"):
        Record(**{**record.model_dump(), "error": None})
