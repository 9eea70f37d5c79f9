"""The small vocabulary shared by all layers: arrays, guarantees, the abstention mark."""

from enum import Enum
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

ABSTAIN: Final = -1
"""The prediction of a certificate or of `predict` that declines to name a class."""

Method = str
"""The name of a method; `registry` knows which there are."""
Protocol = Literal["sound", "paper"]
TrainMethod = Literal["gaussian", "macer", "consistency", "denoiser"]
TRAIN_METHODS: tuple[TrainMethod, ...] = get_args(TrainMethod)
"""The ways of training, the last of them of a denoiser; settings, help and completion take them from here."""
GradientKind = Literal["full", "approximate"]
NoiseName = Literal["gaussian", "gaussian64", "lattice"]
NOISES: tuple[NoiseName, ...] = get_args(NoiseName)
ASSUMED: Final[dict[NoiseName, str]] = {
    "gaussian": "the model does not react to how float32 rounds the noise and the sums: one can be built that does",
    "gaussian64": "the model does not react to one last bit in ten million values: nearly no rounding, but no proof",
    "lattice": "the generator's words are random, and the adversary's inputs lie on the grid",
}
"""What a certificate rests on besides its draws, by the noise; that the model is a function of one row always is."""


class Guarantee(Enum):
    """What stands behind a number, the most first; the value is the word that records carry."""

    EXACT = "exact"
    ASYMPTOTIC = "asymptotic"
    UNSTATED = "unstated"
    NONE = "none"

    @property
    def sentence(self) -> str:
        """The guarantee in words, for tables, plots and pages."""
        return {
            Guarantee.EXACT: "holds with probability at least 1 - alpha over the draws made for the input",
            Guarantee.ASYMPTOTIC: "holds with probability about 1 - alpha as the number of draws grows",
            Guarantee.NONE: "is not a guarantee at any level: the draws that selected also certify",
            Guarantee.UNSTATED: "was imported: what stands behind it is known to the tool that made it, not here",
        }[self]

    @property
    def mark(self) -> str:
        """The words that must stand beside a number; none where it is guaranteed."""
        return {
            Guarantee.EXACT: "",
            Guarantee.ASYMPTOTIC: "asymptotic",
            Guarantee.UNSTATED: "guarantee not stated",
            Guarantee.NONE: "not guaranteed",
        }[self]
