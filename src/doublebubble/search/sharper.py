"""Would more than votes pay at a centre? Designs for first-order and paired statistics, from draws already seen.

Forecasts only; what holds is decided by the certify draws.
"""

import numpy as np
from torch import Tensor

from doublebubble.bounds import (
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
from doublebubble.types import Counts, Floats

_ETA_LOOKS, _PAIRS, _PRODUCTS = (3, 4), 5, 6  # parts of the search stream
_MOST_RIVALS = 12  # where more classes compete, a gradient for each of the first few hardly helps
_LOOKED_AT = 3  # rivals whose gradient is looked at, and at most tested
_WORTH_BLOCKING = 0.1  # of the gradient: a smaller part at the faces is not worth an eta


def first_order_design(scout: Scout, x: Tensor, counts: Counts, balls: int = 1) -> tuple[GradientPlan | None, float]:
    """Tests of the lead's gradient for a ball of a plan with that many, and the gain that they promise; None: no gain.

    The gradient is guessed from a verdict's worth of draws, drawn towards what networks usually show; where faces of
    the box block a good part of it, that part is taken off by an eta.
    """
    n, alpha = scout.config.n // balls, scout.config.alpha / balls
    seen = int(counts.sum())
    p_a = float(counts[scout.classes.partition.top]) / (seen + 1)
    if min(n, scout.per_verdict) < 4 or p_a == 0:
        return None, 0.0
    rivals = rivals_of(scout.classes)
    if len(rivals) > _MOST_RIVALS:
        return None, 0.0
    shares = [(float(counts[list(rival)].sum()) + 0.5) / (seen + 1) for rival in rivals]
    guesses = _guesses(scout, x, p_a, shares, rivals, alpha)
    eta = _eta(scout, x, rivals[0], guesses[0].gamma) if balls == 1 else None
    if eta is not None:
        left = max(guesses[0].gamma ** 2 - float(eta @ eta), 0.0) ** 0.5
        guesses[0] = RivalGuess(guesses[0].p, left)
    forecast = predict_first_order(p_a, guesses, n, x.numel(), alpha, scout.smoothed.sigma)
    gain = forecast.first_order - scout.outlook(counts, balls).radius
    if not forecast.tests or gain <= 0:
        return None, 0.0
    return GradientPlan(forecast.tests, forecast.gradient_alpha / alpha, eta), gain


def _guesses(
    scout: Scout, x: Tensor, p_a: float, shares: list[float], rivals: tuple[tuple[int, ...], ...], alpha: float
) -> list[RivalGuess]:
    """For each rival its probability and the gradient of the lead over it; only the first few are looked at."""
    votes = [Votes(1 - p_a, min(p, 1 - p_a)) for p in shares]
    usual = [USUAL_GRADIENT * largest_lead_gradient(vote) for vote in votes]
    tests = [
        design_test(scout.per_verdict, x.numel(), alpha, vote, gamma)
        for vote, gamma in zip(votes[:_LOOKED_AT], usual, strict=False)
    ]
    top, classes = scout.classes.partition.top, scout.classes.partition.num_classes
    weights = [
        vote_weights(classes, top, rival, test.offset).tolist() for rival, test in zip(rivals, tests, strict=False)
    ]
    products = scout.lead_products(x, tuple(map(tuple, weights)), tests[0].n1, _PRODUCTS)
    looked = [
        guess_lead_gradient(vote, product, test, x.numel())
        for vote, product, test in zip(votes, products, tests, strict=False)
    ]
    return [RivalGuess(p, gamma) for p, gamma in zip(shares, [*looked, *usual[_LOOKED_AT:]], strict=True)]


def _eta(scout: Scout, x: Tensor, rival: tuple[int, ...], gamma: float) -> Floats | None:
    """The part of sigma times the lead's gradient that points into the box at faces where x lies, or None if small.

    Two looks; the mean is shrunk to what they agree on, so that noise is not taken for gradient.
    """
    domain = scout.smoothed.domain
    if domain is None:
        return None
    values = x.detach().cpu().double().numpy().reshape(-1)
    at_low, at_high = values == domain[0], values == domain[1]
    if not (at_low | at_high).any():
        return None
    weights = np.zeros(scout.smoothed.num_classes)
    weights[scout.classes.partition.top] = 1.0
    weights[list(rival)] = -1.0
    looks = [scout.look(x, part, weights).gradients[0].numpy().reshape(-1) for part in _ETA_LOOKS]
    one, two = (scout.smoothed.sigma * look for look in looks)
    mean = (one + two) / 2
    inwards = (at_low & (mean > 0)) | (at_high & (mean < 0))
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
