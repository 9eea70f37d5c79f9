"""Simultaneous intervals for all class probabilities that hold only as the number of draws grows, through statsmodels.

They serve protocol `paper` and comparisons; every result carries that it is asymptotic. No torch, no randomness.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from doublebubble.bounds.votes import checked_counts
from doublebubble.errors import SettingError
from doublebubble.types import Counts, Floats, Guarantee

_RARE = 5  # counts below this are merged
_MIN_ALPHA = 1e-9  # statsmodels reads quantiles at 1 - alpha / K, which float64 cannot tell from 1 much further down


@dataclass(frozen=True)
class AsymptoticBounds:
    """Intervals for all classes at once; about 1 - alpha of all runs have every probability inside, if n is large."""

    lower: Floats
    upper: Floats
    alpha: float
    guarantee: Guarantee = Guarantee.ASYMPTOTIC


def goodman(counts: Counts, alpha: float, merge: bool = True) -> AsymptoticBounds:
    """As n grows, all K intervals hold together with probability near 1 - alpha or more (Goodman 1965), (B4).

    With `merge`, classes of fewer than 5 votes become one of max(5, their sum) votes first, (B5), which is how the
    published experiments were run. Each of them then has the merged class's upper bound, since a part is no likelier
    than the whole, and the lower bound 0, since nothing is known of how the whole divides.

    >>> import numpy as np
    >>> bounds = goodman(np.array([80, 15, 5]), 0.05)
    >>> bool(bounds.lower[0] < 0.8 < bounds.upper[0])
    True
    """
    return _intervals("goodman", counts, alpha, merge)


def sison_glaz(counts: Counts, alpha: float, merge: bool = True) -> AsymptoticBounds:
    """As n grows, all K intervals hold together with probability near 1 - alpha (Sison and Glaz 1995).

    `merge` as in `goodman`. Shorter than Goodman's where K is large, and slow there: its cost grows with the number of
    classes times the width of the intervals in votes. Far too short for rare classes beside a common one.

    >>> import numpy as np
    >>> bounds = sison_glaz(np.array([80, 15, 5]), 0.05)
    >>> bool(bounds.lower[0] < 0.8 < bounds.upper[0])
    True
    """
    return _intervals("sison-glaz", counts, alpha, merge)


def _intervals(method: Literal["goodman", "sison-glaz"], counts: Counts, alpha: float, merge: bool) -> AsymptoticBounds:
    if not _MIN_ALPHA <= alpha < 1:
        raise SettingError(f"alpha of an asymptotic interval: expected a number in [{_MIN_ALPHA}, 1), got {alpha!r}")
    votes = checked_counts(counts)
    rare = (votes < _RARE) if merge else np.zeros(len(votes), np.bool_)
    kept = votes[~rare]
    if rare.any():
        kept = np.append(kept, max(_RARE, int(votes[rare].sum())))  # (B5)
    from statsmodels.stats.proportion import multinomial_proportions_confint  # a second to import, and rarely used

    region = np.clip(multinomial_proportions_confint(kept, alpha, method), 0.0, 1.0)
    lower, upper = np.zeros(len(votes)), np.full(len(votes), region[-1, 1])
    lower[~rare], upper[~rare] = region[: (~rare).sum()].T
    return AsymptoticBounds(lower, upper, alpha)
