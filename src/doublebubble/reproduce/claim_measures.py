"""What claims about gains measure: a number of a run's table with its band, shown on the page and judged there."""

import pandas as pd

from doublebubble import registry
from doublebubble.report.measures import (
    REPORTED,
    Estimate,
    gain_in_sum,
    improvements,
    mean,
    median_improvement,
    proportion,
    winners,
)


def counted(table: pd.DataFrame) -> int:
    """How many inputs are correctly predicted and have a Cohen radius, so that a gain over it can be told."""
    return len(improvements(table, REPORTED)[0])


def improved_share(table: pd.DataFrame) -> Estimate | None:
    """The share of these whose reported radius is above Cohen's, with Clopper and Pearson's band."""
    _, gain = improvements(table, REPORTED)
    return proportion(int((gain > 0).sum()), len(gain)) if len(gain) else None


def kept_share(table: pd.DataFrame) -> Estimate | None:
    """The share of the others."""
    _, gain = improvements(table, REPORTED)
    return proportion(int((gain <= 0).sum()), len(gain)) if len(gain) else None


def mean_percent(table: pd.DataFrame) -> Estimate | None:
    """The mean gain of the reported radius over Cohen's in percent, with Student's band."""
    _, gain = improvements(table, REPORTED)
    return mean(gain) if len(gain) else None


def percent_in_sum(table: pd.DataFrame) -> Estimate | None:
    """By how many percent the reported radii exceed Cohen's in sum."""
    return gain_in_sum(table, REPORTED, table)


def median_percent(table: pd.DataFrame) -> Estimate | None:
    """The median gain in percent."""
    return median_improvement(table, REPORTED)


def share_won(table: pd.DataFrame, method: str) -> Estimate | None:
    """The share of correctly predicted inputs on which a method is largest, of all that the run was asked for."""
    return winners(table, [name for name in registry.names() if f"radius_{name}" in table]).get(method)
