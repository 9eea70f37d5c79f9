"""One error probability for one input: parts are handed out, never more than the whole. Standard library only."""

import math
from dataclasses import dataclass
from fractions import Fraction

from doublebubble.errors import BudgetError, SettingError


@dataclass(frozen=True)
class AlphaPart:
    """A part of alpha and the statement that it pays for."""

    purpose: str
    alpha: float


class AlphaBudget:
    """The parts handed out never sum to more than alpha, in exact arithmetic.

    By the union bound, statements that each fail with probability at most their part then all hold together with
    probability at least 1 - alpha. Floats are rational numbers, so the sum is kept as a fraction: the tenth part of the
    float alpha / 10 is refused where the exact sum exceeds alpha. `take_equal` rounds down and always fits. `lost` is
    the part that the distance of the noise from its law takes before any other (N3).
    """

    def __init__(self, alpha: float, lost: float = 0.0) -> None:
        if not 0 < alpha < 1:
            raise SettingError(f"alpha: expected a number inside (0, 1), got {alpha!r}")
        self.alpha = float(alpha)
        self._parts: list[AlphaPart] = []
        self._left = Fraction(self.alpha)
        if lost:
            self.take(lost, "noise")

    def __repr__(self) -> str:
        return f"AlphaBudget(alpha={self.alpha!r}, remaining={self.remaining!r}, parts={len(self._parts)})"

    @property
    def parts(self) -> tuple[AlphaPart, ...]:
        """What was handed out, in order."""
        return tuple(self._parts)

    @property
    def spent(self) -> float:
        """The sum of the parts, rounded to nearest."""
        return float(Fraction(self.alpha) - self._left)

    @property
    def remaining(self) -> float:
        """The largest part that can still be taken, 0 when there is none."""
        return _round_down(self._left)

    def take(self, part: float, purpose: str) -> float:
        """Hand out `part`, or raise BudgetError and hand out nothing if less remains."""
        if not (math.isfinite(part) and part > 0):
            raise SettingError(f"part of alpha for {purpose}: expected a number above 0, got {part!r}")
        if Fraction(part) > self._left:
            raise BudgetError(f"{purpose} asked for {part!r} of alpha = {self.alpha!r}, but {self.remaining!r} remains")
        self._left -= Fraction(part)
        self._parts.append(AlphaPart(purpose, float(part)))
        return float(part)

    def take_equal(self, purposes: list[str]) -> tuple[float, ...]:
        """Hand out what remains in equal parts, one for each purpose, rounded down so that they fit."""
        part = _round_down(self._left / len(purposes)) if purposes else 0.0
        if part <= 0:
            raise BudgetError(
                f"{len(purposes)} equal parts asked of alpha = {self.alpha!r}, {self.remaining!r} remains"
            )
        self._left -= len(purposes) * Fraction(part)
        self._parts.extend(AlphaPart(purpose, part) for purpose in purposes)
        return (part,) * len(purposes)


def _round_down(value: Fraction) -> float:
    """The largest float that is not above value."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
