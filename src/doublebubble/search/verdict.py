"""Are the centres that a search found better than the input itself? Fresh search draws judge, centre by centre.

A forecast with its error, and the statistics that each ball should use; no claim.
"""

import math
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from doublebubble.geometry import Bound, certified_radius
from doublebubble.search.plan import GradientPlan
from doublebubble.search.scout import Scout
from doublebubble.search.sharper import further_design, lead_probe
from doublebubble.types import Counts

_JUDGE = 0  # part of the search stream


@dataclass(frozen=True)
class Verdict:
    """The gain predicted over votes alone at the input, its standard error, and for each ball the gradients to test."""

    gain: float
    error: float
    gradients: tuple[GradientPlan | None, ...]

    @property
    def convincing(self) -> bool:
        """Whether the gain exceeds its error, twice that for two centres: they have twice the freedom to fit noise."""
        return self.gain > self.error * len(self.gradients)


def judge(scout: Scout, x: Tensor, centres: tuple[Tensor, ...], boxed: bool, selected: Counts) -> Verdict:
    """What these centres promise; each ball uses votes alone or, where that promises more, first-order statistics.

    All points see the same noise, so the error is that of the difference, draw by draw: a ball's radius moves the bound
    by lambda_i r_i / R, and a vote for k moves the radius by weights_k.
    """
    if scout.at_input is None:
        scout.at_input = scout.votes([x], _JUDGE)[0]
    probe = lead_probe(scout, x.numel(), selected, len(centres))
    asked = ((), None) if probe is None else (probe.weights, probe.split)
    tallies = scout.votes(list(centres), _JUDGE, *asked)
    here = scout.outlook(scout.at_input.counts)
    designs = [
        further_design(scout, centre, tally, probe, len(centres))
        for centre, tally in zip(centres, tallies, strict=True)
    ]
    gradients = tuple(gradient for gradient, _ in designs)
    radii = [max(0.0, radius) for _, radius in designs]
    bound = bound_of(scout, x, centres, radii, boxed)
    if not bound.radius > 0 or not math.isfinite(here.radius):
        return Verdict(-math.inf, 0.0, gradients)
    assert scout.at_input.votes is not None
    influence = -here.weights[scout.at_input.votes]
    for lam, radius, tally in zip(bound.multipliers, radii, tallies, strict=True):
        assert tally.votes is not None
        weights = scout.outlook(tally.counts, len(centres)).weights
        influence = influence + lam * radius / bound.radius * weights[tally.votes]
    error = float(np.std(influence)) / math.sqrt(len(influence))
    return Verdict(bound.radius - here.radius, error, gradients)


def bound_of(scout: Scout, x: Tensor, centres: tuple[Tensor, ...], radii: list[float], boxed: bool) -> Bound:
    """(D1) at these radii, in the box if the method uses it."""
    return certified_radius(x, list(centres), radii, *box_of(scout, boxed))


def box_of(scout: Scout, boxed: bool) -> tuple[float | None, float | None]:
    """The ends of the domain, or none if the method does not use them."""
    return scout.smoothed.domain if boxed and scout.smoothed.domain is not None else (None, None)
