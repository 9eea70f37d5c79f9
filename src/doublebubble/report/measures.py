"""What figures and tables show, as numbers with bands: pure functions of the frames that `load_run` returns.

Each method's radius holds at level alpha by itself; the largest of several is no certificate and is never formed here.
The publication's averages take correctly predicted inputs only: those whose class under test, `selected`, is the label.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binom
from scipy.stats import t as student

from doublebubble import registry
from doublebubble.bounds import clopper_pearson
from doublebubble.errors import InputError
from doublebubble.runs.statistics import BAND_ALPHA
from doublebubble.types import ABSTAIN, Floats

REPORTED = "reported"
"""Stands beside the names of methods for the radius that a record reports, of the plan fixed before its draws."""
HALF_WINDOW = 0.075
FEWEST = 6
"""Fewer inputs bound no median at 95 %, and no mean worth the name."""


@dataclass(frozen=True)
class Estimate:
    """A number from `n` inputs and a 95 % band for the population they come from; None: too few inputs to bound it."""

    value: float
    low: float | None
    high: float | None
    n: int

    def holds(self, value: float) -> bool:
        """Whether the band holds a value; one without ends holds all."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


def method_view(table: pd.DataFrame, method: str) -> pd.DataFrame:
    """The run as if only this method had been asked for: valid at level alpha, like the run itself.

    Where the method certifies nothing it abstains; where it does, it names the selected class, which is the class that
    all methods of a record certify.
    """
    radius = radii_of(table, method)
    prediction = np.where(radius > 0, table["selected"].to_numpy(np.int64), ABSTAIN)
    return table.assign(radius=radius, prediction=prediction, correct=prediction == _labels(table), method=method)


def radii_of(table: pd.DataFrame, method: str) -> Floats:
    """The radii of a method, or those reported; 0 where an input failed and has none."""
    column = "radius" if method == REPORTED else f"radius_{method}"
    if column not in table:
        raise InputError(f"{method}: expected a method that the run was asked for, its frame has no {column}")
    return table[column].fillna(0.0).to_numpy(np.float64)


def improvements(table: pd.DataFrame, method: str) -> tuple[Floats, Floats]:
    """Cohen's radius and the method's gain over it in percent, of every input that is right and has a Cohen radius.

    An input for which the method certifies nothing counts with -100. Inputs without a Cohen radius have no percentage.
    """
    cohen = radii_of(table, "cohen")
    chosen = (table["selected"].to_numpy(np.int64) == _labels(table)) & (cohen > 0)
    base, mine = cohen[chosen], radii_of(table, method)[chosen]
    return base, 100 * (mine - base) / base


def improvement_by_radius(
    table: pd.DataFrame, method: str, centres: Sequence[float], half: float = HALF_WINDOW
) -> dict[float, Estimate]:
    """The median gain in percent among inputs whose Cohen radius is within `half` of each centre; empty ones left out.

    A radius on the edge of a window belongs to it. Radii have 6 decimals, so the edge is taken a little wider than the
    last bit of the difference.
    """
    base, gain = improvements(table, method)
    windows = {float(centre): np.abs(base - centre) <= half + 1e-9 for centre in centres}
    return {centre: median(gain[inside]) for centre, inside in windows.items() if inside.any()}


def median_improvement(table: pd.DataFrame, method: str) -> Estimate | None:
    """The median gain in percent over the whole run; None if no input is right and has a Cohen radius."""
    _, gain = improvements(table, method)
    return median(gain) if len(gain) else None


def winners(table: pd.DataFrame, methods: Sequence[str]) -> dict[str, Estimate]:
    """For each method the proportion of correctly predicted inputs on which its radius is the largest.

    Among equals the simplest method wins, so that Cohen's radius wins where nothing improves on it. Inputs that no
    method certifies are not predicted and do not count. Bands are Clopper-Pearson, each by itself. Says which number is
    largest, not that the largest is guaranteed.
    """
    order = [method for method in registry.names() if method in methods]
    radii = np.stack([radii_of(table, method) for method in order])
    right = (table["selected"].to_numpy(np.int64) == _labels(table)) & (radii.max(0) > 0)
    first = radii.argmax(0)[right]
    return {method: proportion(int((first == k).sum()), len(first)) for k, method in enumerate(order) if len(first)}


def mean_gain(table: pd.DataFrame, method: str, correct_only: bool = True) -> Estimate | None:
    """The mean of the method's radius minus Cohen's, over correctly predicted inputs or all; None if there is none.

    An input that is not correctly predicted is certified at no radius by either.
    """
    right = table["selected"].to_numpy(np.int64) == _labels(table)
    gain = np.where(right, radii_of(table, method) - radii_of(table, "cohen"), 0.0)
    chosen = gain[right] if correct_only else gain
    return mean(chosen) if len(chosen) else None


def correct_gains(table: pd.DataFrame, method: str) -> dict[int, float]:
    """The method's radius minus Cohen's, by the number of each correctly predicted input."""
    right = table["selected"].to_numpy(np.int64) == _labels(table)
    gain = radii_of(table, method) - radii_of(table, "cohen")
    return dict(zip(table["index"].to_numpy(np.int64)[right].tolist(), gain[right].tolist(), strict=True))


def mean_radius(table: pd.DataFrame, method: str) -> Estimate | None:
    """The mean radius of a method over correctly predicted inputs, as published; None if there is none.

    The average over all inputs is `average_radius` of the method's view.
    """
    right = table["selected"].to_numpy(np.int64) == _labels(table)
    return mean(radii_of(table, method)[right]) if right.any() else None


def gain_in_sum(table: pd.DataFrame, method: str, base: pd.DataFrame) -> Estimate | None:
    """By how many percent a method's radii exceed in sum Cohen's in `base`, over correctly predicted inputs.

    `base` is of the same inputs; a run of `auto` need not hold Cohen's radii itself. None if they sum to 0. The band is
    Student's for a ratio of means, by linearisation: it holds as the number of inputs grows; none for very few.
    """
    right = table["selected"].to_numpy(np.int64) == _labels(table)
    mine, cohen = radii_of(table, method)[right], radii_of(base, "cohen")[right]
    return ratio_of_means(mine, cohen) if cohen.sum() > 0 else None


def ratio_of_means(mine: Floats, base: Floats) -> Estimate:
    """By how many percent the one mean exceeds the other, of the same inputs: Student's band, by linearisation."""
    ratio = float(mine.sum() / base.sum())
    value, apart = 100 * (ratio - 1), mean(mine - ratio * base)
    if apart.high is None:
        return Estimate(value, None, None, apart.n)
    reach = 100 * (apart.high - apart.value) / float(base.mean())
    return Estimate(value, value - reach, value + reach, apart.n)


def mean_seconds(table: pd.DataFrame) -> Estimate | None:
    """The mean wall-clock time of an input that was worked on to the end.

    Failed inputs, and those that protocol `paper` leaves at once because another class leads, do not count.
    """
    seconds = table.loc[worked_on(table), "seconds"].to_numpy(np.float64)
    return mean(seconds) if len(seconds) else None


def worked_on(table: pd.DataFrame) -> "pd.Series[bool]":
    """Which inputs were worked on to the end."""
    return ~table["status"].isin(["failed", "wrong_class"])


def proportion(k: int, n: int) -> Estimate:
    """k of n, with a Clopper-Pearson band."""
    low, high = clopper_pearson(k, n, BAND_ALPHA, side="two-sided")
    return Estimate(k / n, low, high, n)


def median(values: npt.ArrayLike) -> Estimate:
    """The median, with a band between two order statistics that misses the population's median 1 time in 20 at most.

    The number of values below that median is at most binomial(n, 1/2), whatever the distribution: below 6 values
    no two of them enclose it surely enough, and there is no band.
    """
    ordered = np.sort(np.asarray(values, np.float64))
    n = len(ordered)
    # The least number with P[Bin(n, 1/2) <= cut] >= BAND_ALPHA / 2: fewer values lie beyond a bound more rarely.
    cut = int(binom.ppf(BAND_ALPHA / 2, n, 0.5))
    low, high = (float(ordered[cut - 1]), float(ordered[n - cut])) if cut > 0 else (None, None)
    return Estimate(float(np.median(ordered)), low, high, n)


def mean(values: npt.ArrayLike) -> Estimate:
    """The mean, with Student's band, which holds as the number of inputs grows; none for very few."""
    found = np.asarray(values, np.float64)
    n, centre = len(found), float(np.mean(found))
    if n < FEWEST:
        return Estimate(centre, None, None, n)
    reach = float(student.ppf(1 - BAND_ALPHA / 2, n - 1) * found.std(ddof=1) / np.sqrt(n))
    return Estimate(centre, centre - reach, centre + reach, n)


def _labels(table: pd.DataFrame) -> npt.NDArray[np.int64]:
    if not len(table):
        raise InputError("measures: expected at least one input, got none")
    if table["label"].isna().any():
        raise InputError(f"measures: expected a label for every input, {int(table['label'].isna().sum())} have none")
    return table["label"].to_numpy(np.int64)
