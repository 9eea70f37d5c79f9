"""Which class is alone the likeliest, when one looks at the votes as they come? No torch, no randomness."""

import functools
import math

from doublebubble.bounds.sequences import Wealth, target, vote_bet
from doublebubble.errors import SettingError


def tie_level(alpha: float, classes: int) -> float:
    """The level at which each pair of classes is tested so that any wrong class is named with probability <= alpha.

    A little less than alpha / 2, for any number of classes that is small against 1 / alpha.
    """  # (Q5)
    if not 0 < alpha < 1:
        raise SettingError(f"alpha: expected a number in (0, 1), got {alpha!r}")
    if classes < 2:
        raise SettingError(f"number of classes: expected at least 2, got {classes!r}")
    low, high = 0.0, alpha
    for _ in range(60):
        level = (low + high) / 2
        total = level + math.fsum(level ** (2 * (i - 1) / i) for i in range(2, classes + 1))
        low, high = (level, high) if total <= alpha * (1 - 1e-9) else (low, level)
    return low


@functools.lru_cache(maxsize=8)
def lead_for(alpha: float, classes: int, cap: int) -> "Lead":
    """The lead that names a class, its table shared by all inputs."""
    return Lead(alpha, classes, cap)


class Lead:
    """How many votes a class needs beside a runner-up's, whenever one looks.

    With probability at least 1 - alpha over all draws, no class but the one that is alone the likeliest ever has them.
    """

    def __init__(self, alpha: float, classes: int, cap: int) -> None:
        level = tie_level(alpha, classes)
        self._wealth = Wealth([vote_bet(0.0, level, cap)])
        self._target = target(level)
        self._cap = cap
        self._needed: dict[int, int] = {}

    def needed(self, second: int) -> int:
        """The fewest votes that are enough against a runner-up with `second`; cap + 1 if none within the cap are."""
        if second not in self._needed:
            low, high = second, self._cap + 1
            while high - low > 1:
                middle = (low + high) // 2
                won = float(self._wealth([[middle, second]])[0]) >= self._target
                low, high = (low, middle) if won else (middle, high)
            self._needed[second] = high
        return self._needed[second]
