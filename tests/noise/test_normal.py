"""Sixty digits of the normal law, against mpmath."""

import decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublebubble.noise.normal import ERROR, LARGEST, density, upper_tail

ARGUMENTS = st.fractions(min_value=0, max_value=LARGEST, max_denominator=10**17)


def exact(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@given(ARGUMENTS)
@settings(max_examples=150, deadline=None)
def test_tail_and_density_are_as_near_as_they_say(x: Fraction) -> None:
    with mpmath.workdps(90):
        root = mpmath.sqrt(2)
        assert abs(exact(upper_tail(x)) - mpmath.erfc(exact(x) / root) / 2) <= exact(ERROR)
        assert abs(exact(density(x)) - mpmath.npdf(exact(x))) <= exact(ERROR)


@pytest.mark.parametrize("x", [Fraction(0), Fraction(LARGEST)])
def test_the_ends_of_the_range_are_inside_it(x: Fraction) -> None:
    with mpmath.workdps(90):
        assert abs(exact(upper_tail(x)) - mpmath.erfc(exact(x) / mpmath.sqrt(2)) / 2) <= exact(ERROR)


def test_the_decimal_context_of_the_caller_does_not_matter() -> None:
    x = Fraction(37, 10)
    tail, height = upper_tail(x), density(x)
    with decimal.localcontext(decimal.Context(prec=5)):
        assert (upper_tail(x), density(x)) == (tail, height)


@pytest.mark.parametrize("x", [Fraction(-1, 10), Fraction(121, 10)])
def test_arguments_without_an_error_bound_are_refused(x: Fraction) -> None:
    for function in (density, upper_tail):
        with pytest.raises(ValueError, match="from 0 to 12"):
            function(x)
