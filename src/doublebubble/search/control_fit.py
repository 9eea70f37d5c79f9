"""Which direction, and which control variate on bins along it, for votes that go on: guesses from earlier draws.

Nothing here claims anything: any direction and any control variate that are fixed before the draws they serve are valid
(docs/math.md, section 10).
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.special import ndtri as Phi_inv
from scipy.stats import norm

from doublebubble.bounds.controlled_votes import Control
from doublebubble.geometry.profile import default_edges
from doublebubble.types import Counts

EDGES = tuple(np.round(default_edges(24), 3).tolist())
"""The inner edges of the bins."""

_LEAST = 1e-4
_USUAL_SLOPE = 0.75  # of a half-space's: what networks usually show


def fitted_control(pilot: Counts, edges: Sequence[float] = EDGES) -> Control:
    """The control variate from hits and misses of earlier draws by bin, (bins, 2), in 4 decimals.

    c is the share of hits in the bin and its neighbours, with weights 3, 2 and 1 by distance, and one draw more at the
    share of all: a fit with few degrees of freedom, which a verifier can repeat to the last digit.
    """
    hits, seen = pilot[:, 0].astype(np.float64), pilot.sum(axis=1).astype(np.float64)
    near = np.maximum(3.0 - np.abs(np.subtract.outer(np.arange(len(seen)), np.arange(len(seen)))), 0.0)
    share = (hits.sum() + 0.5) / (seen.sum() + 1)
    fitted = (near @ hits + share) / (near @ seen + 1)
    values = np.round(np.clip(fitted, _LEAST, 1 - _LEAST), 4)
    rows = tuple((int(hit), int(miss)) for hit, miss in pilot)
    return Control(tuple(edges), tuple(values.tolist()), rows)


def expected_cosine(draws: int, hits: int, dim: int) -> float:
    """About the cosine between the slope of p_A and its estimate (E1) from so many draws in R^dim."""
    share = min(max(hits / draws, 0.5 / draws), 1 - 0.5 / draws)
    slope = (_USUAL_SLOPE * float(norm.pdf(Phi_inv(share)))) ** 2
    return sqrt(slope / (slope + dim * share * (1 - share) / draws))
