"""What a run says about a classifier: certified accuracy, average radius, abstentions, and how two runs compare.

Every input of a run counts, whether misclassified, abstained or failed: it is certified at no radius. Functions of the
frames that `load_run` returns; `correct` is always computed from label and prediction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binomtest

from doublebubble.bounds import clopper_pearson
from doublebubble.errors import InputError, SettingError
from doublebubble.types import ABSTAIN, Floats

RADII = (0.0, 0.25, 0.5, 0.75, 1.0)
BAND_ALPHA = 0.05


@dataclass(frozen=True)
class CertifiedAccuracy:
    """`certified` of `n` inputs are correct with at least this radius; `low` and `high` bound the population's rate."""

    radius: float
    certified: int
    n: int
    low: float
    high: float

    @property
    def accuracy(self) -> float:
        """The fraction of inputs."""
        return self.certified / self.n


@dataclass(frozen=True)
class Summary:
    """A run in a few numbers; `average_radius` is the ACR: a radius if correct, else 0, averaged over all inputs."""

    n: int
    accuracies: tuple[CertifiedAccuracy, ...]
    average_radius: float
    abstained: int
    failed: int
    guarantees: tuple[str, ...]

    @property
    def abstention_rate(self) -> float:
        """The fraction of inputs for which no class is named, failed inputs included."""
        return self.abstained / self.n


@dataclass(frozen=True)
class Comparison:
    """Run b against run a on the inputs they share, each at its certified radius (0 unless correct).

    `p_value` is that of the exact sign test on the inputs where the two differ: how likely so uneven a split is if
    neither run is the better one.
    """

    n: int
    larger: int
    smaller: int
    mean_difference: float
    p_value: float


def certified_accuracy(
    table: pd.DataFrame, radii: Sequence[float] = RADII, alpha: float = BAND_ALPHA
) -> tuple[CertifiedAccuracy, ...]:
    """The certified accuracy at each radius.

    If the inputs are independent draws from a population, then at each single radius, with probability at least
    1 - alpha over them, the fraction of that population which this procedure certifies lies between low and high
    (Clopper-Pearson, two-sided). The draws' own error probability, alpha of the run, is not part of that.
    """
    lengths, correct = _radii_if_correct(table)
    points = []
    for radius in radii:
        if not (np.isfinite(radius) and radius >= 0):
            raise SettingError(f"radius: expected a finite number >= 0, got {radius!r}")
        certified = int((correct & (lengths >= radius)).sum())
        low, high = clopper_pearson(certified, len(lengths), alpha, side="two-sided")
        points.append(CertifiedAccuracy(float(radius), certified, len(lengths), low, high))
    return tuple(points)


def average_radius(table: pd.DataFrame) -> float:
    """The average certified radius, every input counting and those not correct with 0."""
    lengths, _ = _radii_if_correct(table)
    return float(lengths.mean())


def summarise(table: pd.DataFrame, radii: Sequence[float] = RADII, alpha: float = BAND_ALPHA) -> Summary:
    """The run in a few numbers."""
    return Summary(
        n=len(table),
        accuracies=certified_accuracy(table, radii, alpha),
        average_radius=average_radius(table),
        abstained=int((table["prediction"] == ABSTAIN).sum()),
        failed=int((table["status"] == "failed").sum()),
        guarantees=tuple(sorted(set(table.loc[table["status"] != "failed", "guarantee"]))),
    )


def compare(a: pd.DataFrame, b: pd.DataFrame) -> Comparison:
    """How run b does against run a on the inputs that both hold."""
    both = a.merge(b, on="index", suffixes=("_a", "_b"))
    if both.empty:
        raise InputError("comparison: expected runs that share inputs, they have none in common")
    differ = both[both["label_a"] != both["label_b"]]
    if len(differ):
        raise InputError(
            f"comparison: expected runs on the same data, input {differ['index'].iloc[0]} has two different labels"
        )
    in_a, _ = _radii_if_correct(a[a["index"].isin(both["index"])].sort_values("index"))
    in_b, _ = _radii_if_correct(b[b["index"].isin(both["index"])].sort_values("index"))
    larger, smaller = int((in_b > in_a).sum()), int((in_b < in_a).sum())
    p_value = float(binomtest(larger, larger + smaller).pvalue) if larger + smaller else 1.0
    return Comparison(len(both), larger, smaller, float((in_b - in_a).mean()), p_value)


def _radii_if_correct(table: pd.DataFrame) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """For each input its radius if it is correct, else 0, and whether it is correct."""
    if not len(table):
        raise InputError("statistics: expected at least one input, got none")
    if table["label"].isna().any():
        raise InputError(f"statistics: expected a label for every input, {int(table['label'].isna().sum())} have none")
    prediction, label = table["prediction"].to_numpy(np.int64), table["label"].to_numpy(np.int64)
    correct = (prediction == label) & (prediction != ABSTAIN)
    return np.where(correct, table["radius"].to_numpy(np.float64), 0.0), correct
