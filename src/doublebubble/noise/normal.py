"""The normal law to more digits than a float holds: what the tables of exact noise are computed from.

Numbers are decimal with 60 digits; `decimal` rounds each sum, product, quotient, root and exponential correctly, so an
error bound is a count of operations. Imports nothing of the package.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Final

LARGEST: Final = 12
"""The largest argument that the error bound is stated for; less than 2^-108 of the mass lies beyond."""
ERROR: Final = Fraction(1, 10**54)
"""An upper bound on the error of `upper_tail` and of `density` (N0)."""

_CONTEXT = Context(prec=60)
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
_SMALL = Decimal("1e-62")


def density(x: Fraction) -> Fraction:
    """phi(x) within ERROR, for 0 <= x <= LARGEST."""
    _require_range(x)
    with localcontext(_CONTEXT):
        return Fraction(_density(_decimal(x)))


def upper_tail(x: Fraction) -> Fraction:
    """1 - Phi(x) within ERROR, for 0 <= x <= LARGEST.

    Phi(x) - 1/2 = phi(x) (x + x^3/3 + x^5/(3 5) + ...): all terms are positive, so nothing cancels before the last
    difference, whose terms are at most 1/2.  (N0)
    """
    _require_range(x)
    with localcontext(_CONTEXT):
        argument = _decimal(x)
        square = argument * argument
        term = total = argument
        odd = 1
        while 2 * square > odd + 2 or term > _SMALL * total:  # then terms at least halve: what is left is below `term`
            odd += 2
            term = term * square / odd
            total += term
        return Fraction(Decimal("0.5") - _density(argument) * total)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _density(x: Decimal) -> Decimal:
    return (-x * x / 2).exp() / (2 * _PI).sqrt()


def _require_range(x: Fraction) -> None:
    if not 0 <= x <= LARGEST:
        raise ValueError(f"expected an argument from 0 to {LARGEST}, got {float(x)!r}")
