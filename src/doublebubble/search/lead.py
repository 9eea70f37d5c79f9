"""How steep the lead over a rival is, guessed from draws already seen, and what faces of the box block of it.

Guesses for the design of tests, no claims. A rival is a class, or None for all other classes at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt
from torch import Tensor

from doublebubble.bounds import (
    GradientTest,
    VoteBounds,
    design_test,
    largest_lead_gradient,
    others,
    vote_weights,
)
from doublebubble.bounds.gradient import expected_square
from doublebubble.tally import Tally
from doublebubble.types import Counts, Floats

USUAL_GRADIENT = 0.8
"""Gradient of the lead over its largest possible value that networks usually show."""
_WORTH_BLOCKING = 0.1  # of the gradient: a smaller part at the faces is not worth an eta


@dataclass(frozen=True)
class LeadTest:
    """What to ask of some draws about the lead over one rival: a test, and its weights of the votes."""

    rival: int | None
    votes: VoteBounds
    test: GradientTest
    weights: tuple[float, ...]

    @property
    def usual(self) -> float:
        """The gradient that networks usually show where the votes are like this."""
        return USUAL_GRADIENT * largest_lead_gradient(self.votes)

    def guess(self, tally: Tally, votes: VoteBounds) -> float:
        """The gradient norm that the draws suggest, drawn towards the usual one where the votes are like this.

        The fewer the draws, the less their half means count.
        """
        return shrunk_norm(tally.half_means(self.weights), self.test, votes, USUAL_GRADIENT)


def shrunk_norm(halves: tuple[Floats, Floats], test: GradientTest, votes: VoteBounds, usual: float) -> float:
    """The norm of what two half means estimate, drawn towards a usual part of the largest gradient of a lead."""
    one, two = halves
    top, dim = largest_lead_gradient(votes), len(one)
    square = (usual * top) ** 2
    noise = expected_square(test.offset, test.n1, dim, votes, 0.0)
    variance = noise * noise * test.n1 / (dim * test.n2) + 4 * square * noise / dim
    prior = (0.4 * square) ** 2
    found = (square * variance + float(one @ two) * prior) / (variance + prior)
    return min(max(sqrt(max(found, 0.0)), 0.05 * top), top)


def lead_test(counts: Counts, top: int, rival: int | None, draws: int, dim: int, alpha: float) -> LeadTest:
    """A test for that many draws near where these votes were cast."""
    votes = vote_shares(counts, top, rival)
    test = design_test(draws, dim, alpha, votes, USUAL_GRADIENT * largest_lead_gradient(votes))
    return LeadTest(rival, votes, test, weights_for(len(counts), top, rival, test))


def weights_for(num_classes: int, top: int, rival: int | None, test: GradientTest) -> tuple[float, ...]:
    """The weights of the votes in the sums of noise that a test needs."""
    rivals = others(num_classes, top) if rival is None else (rival,)
    return tuple(vote_weights(num_classes, top, rivals, test.offset).tolist())


def vote_shares(counts: Counts, top: int, rival: int | None) -> VoteBounds:
    """Estimates for the class and a rival, with one draw more than was made, against the class."""
    seen = int(counts.sum()) + 1
    not_a = 1 - float(counts[top]) / seen
    hits = int(counts.sum() - counts[top]) if rival is None else int(counts[rival])
    return VoteBounds(not_a, min((hits + 0.5) / seen, not_a))


def at_faces(domain: tuple[float, float] | None, x: Tensor) -> npt.NDArray[np.int8]:
    """+1 where x lies at the lower face of the box, -1 at the upper one: the sign of inwards; 0 elsewhere."""
    values = x.detach().cpu().double().numpy().reshape(-1)
    if domain is None:
        return np.zeros(len(values), np.int8)
    inwards: npt.NDArray[np.int8] = (values == domain[0]).astype(np.int8) - (values == domain[1]).astype(np.int8)
    return inwards


def blocked_part(faces: npt.NDArray[np.int8], slopes: Sequence[Floats], gamma: float) -> Floats | None:
    """The part of sigma times the lead's gradient that points into the box at faces where x lies, or None if small.

    Of two independent estimates; the mean is shrunk to what they agree on, so that noise is not taken for gradient.
    """
    one, two = slopes
    mean = (one + two) / 2
    inwards = faces * mean > 0
    blocked = np.where(inwards, mean, 0.0)
    agreed = float((one * inwards) @ two)
    size = float(blocked @ blocked)
    if size == 0 or agreed < (_WORTH_BLOCKING * gamma) ** 2:
        return None
    eta: Floats = blocked * min(1.0, agreed / size)
    return eta
