"""Would more than votes pay at a centre? Designs for first-order and paired statistics, from draws already seen.

Forecasts only; what holds is decided by the certify draws.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from doublebubble.bounds import (
    GradientTest,
    RivalGuess,
    Votes,
    design_test,
    guess_lead_gradient,
    largest_lead_gradient,
    pair_mass,
    predict_first_order,
    vote_weights,
)
from doublebubble.bounds.forecast import USUAL_GRADIENT
from doublebubble.geometry import dipole_radius
from doublebubble.search.plan import GradientPlan, rivals_of
from doublebubble.search.scout import Scout
from doublebubble.tally import Tally
from doublebubble.types import Counts, Floats

_ETA_LOOKS, _PAIRS, _PRODUCTS = (3, 4), 5, 6  # parts of the search stream
_MOST_RIVALS = 12  # where more classes compete, a gradient for each of the first few hardly helps
_LOOKED_AT = 3  # rivals whose gradient is looked at, and at most tested
_WORTH_BLOCKING = 0.1  # of the gradient: a smaller part at the faces is not worth an eta


@dataclass(frozen=True)
class Probe:
    """Sums of noise to ask of a verdict's draws: for each of the first rivals a test, and its weights of the votes."""

    tests: tuple[GradientTest, ...]
    weights: tuple[tuple[float, ...], ...]

    @property
    def split(self) -> int:
        """Where the draws are halved."""
        return self.tests[0].n1


def lead_probe(scout: Scout, dim: int, counts: Counts, balls: int = 1) -> Probe | None:
    """What to ask of draws near where these votes were cast; None where bounds on gradients cannot pay.

    Only the first few rivals are looked at. The votes choose a control variate, so those at the input serve for
    centres around it.
    """
    rivals = rivals_of(scout.classes)
    if min(scout.config.n // balls, scout.per_verdict) < 4 or len(rivals) > _MOST_RIVALS:
        return None
    votes = _votes(scout, counts, rivals)
    if votes[0].not_a == 1:
        return None
    top, classes = scout.classes.partition.top, scout.classes.partition.num_classes
    tests = tuple(
        design_test(scout.per_verdict, dim, scout.config.alpha / balls, vote, _usual(vote))
        for vote in votes[:_LOOKED_AT]
    )
    rows = (vote_weights(classes, top, rival, test.offset) for rival, test in zip(rivals, tests, strict=False))
    return Probe(tests, tuple(tuple(row.tolist()) for row in rows))


def first_order_design(scout: Scout, x: Tensor, counts: Counts) -> tuple[GradientPlan | None, float]:
    """Tests of the lead's gradient at the input, and the gain over votes alone that they promise; None: no gain.

    The gradient is guessed from a verdict's worth of draws, drawn towards what networks usually show; where faces of
    the box block a good part of it, that part is taken off by an eta.
    """
    probe = lead_probe(scout, x.numel(), counts)
    if probe is None:
        return None, 0.0
    guesses = _guesses(scout, counts, scout.votes([x], _PRODUCTS, probe.weights, probe.split)[0], probe)
    eta = None
    if _at_faces(scout, x).any():
        weights = np.zeros(scout.smoothed.num_classes)
        weights[scout.classes.partition.top] = 1.0
        weights[list(rivals_of(scout.classes)[0])] = -1.0
        looks = (scout.look(x, part, weights).gradients[0].numpy().reshape(-1) for part in _ETA_LOOKS)
        one, two = (scout.smoothed.sigma * look for look in looks)
        eta = _blocked_part(scout, x, one, two, guesses[0].gamma)
    plan, radius = _design(scout, x.numel(), counts, guesses, eta, balls=1)
    return plan, 0.0 if plan is None else radius - scout.outlook(counts).radius


def further_design(
    scout: Scout, centre: Tensor, tally: Tally, probe: Probe | None, balls: int
) -> tuple[GradientPlan | None, float]:
    """Tests for one of several balls, and the radius to expect of it; None and the radius of votes where that is more.

    The draws are those that judge the centre anyway. What the faces block there is guessed from their half means.
    """
    plain = scout.outlook(tally.counts, balls).radius
    if probe is None or tally.counts[scout.classes.partition.top] == 0:
        return None, plain
    guesses = _guesses(scout, tally.counts, tally, probe)
    one, two = (-means[0] for means in _half_means(tally))
    eta = _blocked_part(scout, centre, one, two, guesses[0].gamma)
    plan, radius = _design(scout, centre.numel(), tally.counts, guesses, eta, balls)
    return (None, plain) if plan is None else (plan, radius)


def _design(
    scout: Scout, dim: int, counts: Counts, guesses: list[RivalGuess], eta: Floats | None, balls: int
) -> tuple[GradientPlan | None, float]:
    """The best way to spend a ball's alpha on gradients and the radius to expect, or None if votes alone promise more.

    In a plan of several balls each has its share of draws and of alpha.
    """
    n, alpha = scout.config.n // balls, scout.config.alpha / balls
    if eta is not None:
        left = max(guesses[0].gamma ** 2 - float(eta @ eta), 0.0) ** 0.5
        guesses = [RivalGuess(guesses[0].p, left), *guesses[1:]]
    p_a = 1 - _votes(scout, counts, rivals_of(scout.classes))[0].not_a
    forecast = predict_first_order(p_a, guesses, n, dim, alpha, scout.smoothed.sigma)
    if not forecast.tests or forecast.first_order <= scout.outlook(counts, balls).radius:
        return None, 0.0
    return GradientPlan(forecast.tests, forecast.gradient_alpha / alpha, eta), forecast.first_order


def _votes(scout: Scout, counts: Counts, rivals: tuple[tuple[int, ...], ...]) -> list[Votes]:
    """Estimates for each rival, with one draw more than was made, against the class."""
    seen = int(counts.sum())
    not_a = 1 - float(counts[scout.classes.partition.top]) / (seen + 1)
    return [Votes(not_a, min((float(counts[list(rival)].sum()) + 0.5) / (seen + 1), not_a)) for rival in rivals]


def _usual(votes: Votes) -> float:
    return USUAL_GRADIENT * largest_lead_gradient(votes)


def _guesses(scout: Scout, counts: Counts, tally: Tally, probe: Probe) -> list[RivalGuess]:
    """For each rival its probability and the gradient of the lead over it, looked at for the first few."""
    votes = _votes(scout, counts, rivals_of(scout.classes))
    g1, g2 = _half_means(tally)
    looked = [
        guess_lead_gradient(vote, float(one @ two), test, len(one))
        for vote, one, two, test in zip(votes, g1, g2, probe.tests, strict=False)
    ]
    gammas = [*looked, *(_usual(vote) for vote in votes[_LOOKED_AT:])]
    return [RivalGuess(vote.rival, gamma) for vote, gamma in zip(votes, gammas, strict=True)]


def _half_means(tally: Tally) -> tuple[Floats, Floats]:
    assert tally.sums is not None
    return tally.sums[0] / tally.halves[0], tally.sums[1] / tally.halves[1]


def _at_faces(scout: Scout, x: Tensor) -> npt.NDArray[np.int8]:
    """+1 where x lies at the lower face of the box, -1 at the upper one: the sign of inwards; 0 elsewhere."""
    values = x.detach().cpu().double().numpy().reshape(-1)
    if scout.smoothed.domain is None:
        return np.zeros(len(values), np.int8)
    low, high = scout.smoothed.domain
    inwards: npt.NDArray[np.int8] = (values == low).astype(np.int8) - (values == high).astype(np.int8)
    return inwards


def _blocked_part(scout: Scout, x: Tensor, one: Floats, two: Floats, gamma: float) -> Floats | None:
    """The part of sigma times the lead's gradient that points into the box at faces where x lies, or None if small.

    Of two independent estimates; the mean is shrunk to what they agree on, so that noise is not taken for gradient.
    """
    mean = (one + two) / 2
    inwards = _at_faces(scout, x) * mean > 0
    blocked = np.where(inwards, mean, 0.0)
    agreed = float((one * inwards) @ two)
    size = float(blocked @ blocked)
    if size == 0 or agreed < (_WORTH_BLOCKING * gamma) ** 2:
        return None
    eta: Floats = blocked * min(1.0, agreed / size)
    return eta


def pairs_promise(scout: Scout, x: Tensor) -> float:
    """The gain over votes that pairs of opposite draws promise at x.

    Both radii are predicted from the same verdict's worth of pairs, so that their common luck cancels.
    """
    rivals = rivals_of(scout.classes)
    tally = scout.pairs(x, ((scout.classes.partition.top,), *rivals), _PAIRS)
    assert tally.pairs is not None
    watched = tally.pairs[:1] if scout.classes.binary else tally.pairs
    m, seen = scout.config.n // 2, tally.n // 2
    alpha = scout.config.alpha / (2 * len(watched))
    masses = []
    for number, (both, one, none) in enumerate(watched.tolist()):
        agreeing = both if number == 0 else none
        expected_twice, expected_once = (int(m * count / (seen + 1)) for count in (agreeing, one))
        masses.append(pair_mass(expected_twice, expected_once, m, alpha, alpha))
    rivals_masses = masses if scout.classes.binary else masses[1:]
    plain = max(0.0, scout.outlook(tally.counts).radius)
    return dipole_radius(masses[0], rivals_masses, scout.smoothed.sigma) - plain
