"""Certified accuracy over radius as the step curve that the records draw: no grid, no smoothing."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from doublebubble.bounds import clopper_pearson
from doublebubble.runs.statistics import BAND_ALPHA
from doublebubble.types import ABSTAIN, Counts, Floats


@dataclass(frozen=True)
class Steps:
    """`certified[i]` of `n` inputs are correct with a radius of at least `radii[i]`, for rising radii that begin at 0.

    Between two radii the number is that of the larger one; beyond the last it is 0.
    """

    radii: Floats
    certified: Counts
    n: int

    def at(self, radii: Floats) -> Counts:
        """How many inputs are certified at each of some radii."""
        return np.append(self.certified, 0)[np.searchsorted(self.radii, radii, side="left")]


def steps(table: pd.DataFrame, column: str = "radius") -> Steps:
    """The curve of the reported radius, or of one method's by itself (`radius_<method>`).

    Inputs that are misclassified, abstained or failed count in n and are certified nowhere. Where a single method
    certifies nothing it would abstain, so there it needs a radius above 0, also for accuracy at radius 0.
    """
    lengths = certified_radii(table, column)
    held = np.sort(lengths[lengths >= 0])
    radii = np.unique(np.concatenate([[0.0], held]))
    certified = len(held) - np.searchsorted(held, radii, side="left")
    return Steps(radii, certified.astype(np.int64), len(table))


def certified_radii(table: pd.DataFrame, column: str = "radius") -> Floats:
    """For each input the radius of the column where the prediction is right, and -1 where nothing is certified."""
    prediction = table["prediction"].to_numpy(np.int64)
    label = table["label"].fillna(ABSTAIN).to_numpy(np.int64)
    lengths = table[column].fillna(0.0).to_numpy(np.float64)
    right = (prediction == label) & (prediction != ABSTAIN)
    if column != "radius":
        right &= lengths > 0
    return np.where(right, lengths, -1.0)


def attacked_steps(table: pd.DataFrame, distances: Mapping[int, float], end: float) -> Steps:
    """How many inputs are named correctly and have no confirmed success nearer than each radius, up to `end`.

    The robust accuracy of what is named lies nowhere above it. Inputs without a success count all the way.
    """
    found = table["index"].map(distances).fillna(np.inf).to_numpy(np.float64)
    held = np.sort(found[certified_radii(table) >= 0])
    radii = np.unique(np.concatenate([[0.0], held[held < end], [end]]))
    return Steps(radii, (len(held) - np.searchsorted(held, radii, side="left")).astype(np.int64), len(table))


def bands(n: int) -> tuple[list[int], list[int]]:
    """Clopper-Pearson limits at 95 % for 0 to n certified inputs, in 1/10 000, rounded outward."""
    low, high = clopper_pearson(np.arange(n + 1), n, BAND_ALPHA, side="two-sided")
    return np.floor(low * 10_000).astype(int).tolist(), np.ceil(high * 10_000).astype(int).tolist()
