"""`first_order`: where the failing draws lie. Bounds on the gradient of the lead over the rivals that decide, (F5).

By Lemma I every rival has the whole of alpha for its own events, so each may get a gradient where that pays.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from torch import Tensor

from doublebubble import registry
from doublebubble.bounds import (
    AlphaBudget,
    GradientTest,
    HalfMoments,
    RivalBound,
    VoteBounds,
    design_test,
    lead_gradient_bound,
    others,
)
from doublebubble.bounds.gradient import expected_square
from doublebubble.bounds.votes import class_interval, rest_bound
from doublebubble.errors import SettingError
from doublebubble.geometry import Rival, first_order_radius
from doublebubble.method import SOUND, SmoothingMethod
from doublebubble.methods.cohen import VotesStatistic, fall_back
from doublebubble.search.forecast import expected_counts
from doublebubble.search.lead import LeadTest, at_faces, blocked_part, lead_test, vote_shares, weights_for
from doublebubble.search.plan import Finding, Proposal, Statistic, plan_at_input
from doublebubble.search.trials import Trials
from doublebubble.tally import Request, Tally
from doublebubble.types import Counts, Floats

_SHARES = (0.1, 0.25, 0.5)  # of alpha for a gradient, tried in turn
_MOST_TESTS = 6  # each costs one more sum over the noise
_NEAR = 1.4  # rivals whose radius by votes exceeds the least one by more than this factor never come to decide
_LEAST_SEEN = 200  # draws: fewer show nothing of a gradient
_FEWEST = 4  # draws, to have two halves


class RivalTest(NamedTuple):
    """A bound on the gradient of the lead over one rival, or over all others at once (None), and its part of alpha.

    `eta`, if there is one, is zero except at faces of the box and points inwards there; it is added to the half means
    (docs/math.md, section 6).
    """

    rival: int | None
    test: GradientTest
    share: float
    eta: Floats | None = None


@dataclass(frozen=True)
class FirstOrderStatistic:
    """Votes and the gradients of some leads; rivals without a gradient are held off by votes alone."""

    top: int
    num_classes: int
    tests: tuple[RivalTest, ...]
    name: str = "first_order"

    def __post_init__(self) -> None:
        rivals = [test.rival for test in self.tests]
        alone = rivals == [None]  # all others at once leave no rival to another test
        if not alone and (not rivals or None in rivals or self.top in rivals or len(set(rivals)) < len(rivals)):
            raise SettingError(f"first order: expected distinct rivals of class {self.top} or None, got {rivals}")

    def asks(self, request: Request) -> Request:
        """The request with the sums of noise that the tests need."""
        rows = tuple(self._weights(test) for test in self.tests)
        return replace(request, moments=rows, split=self.tests[0].test.n1)

    def finding(self, tally: Tally, alpha: float, sigma: float) -> Finding:
        """With probability at least 1 - alpha over the draws, g is `top` on the open ball of the finding's radius.

        With an eta, on the part of the ball that lies in the domain.
        """
        moments = [half_moments(*tally.half_means(self._weights(test)), test.eta) for test in self.tests]
        return self.judged(tally.counts, moments, alpha, sigma)

    def judged(self, counts: Counts, moments: Sequence[HalfMoments], alpha: float, sigma: float) -> Finding:
        """The finding from counts and half moments, certified ones or those to be expected."""
        bounds = [
            _lead_bound(counts, self.top, test, moment, alpha, sigma)
            for test, moment in zip(self.tests, moments, strict=True)
        ]
        named = [test.rival for test in self.tests if test.rival is not None]
        if len(named) == len(self.tests):
            bounds += rest_bound(counts, self.top, named, alpha, sigma)
        vectors = {
            f"eta/{'others' if test.rival is None else test.rival}": test.eta
            for test in self.tests
            if test.eta is not None
        }
        return Finding(tuple(bounds), vectors=vectors)

    def _weights(self, test: RivalTest) -> tuple[float, ...]:
        return weights_for(self.num_classes, self.top, test.rival, test.test)


def half_moments(g1: Floats, g2: Floats, eta: Floats | None) -> HalfMoments:
    """What (F2) needs of two half means, or (F7) of them with eta added."""
    if eta is not None:
        g1, g2 = g1 + eta, g2 + eta
    return HalfMoments(float(g1 @ g2), float(np.linalg.norm(g1)), float(np.linalg.norm(g2)))


def _lead_bound(
    counts: Counts, top: int, planned: RivalTest, moments: HalfMoments, alpha: float, sigma: float
) -> RivalBound:
    """(F5) for one rival: its gradient, the class's lower bound and the rival's upper one share alpha."""
    budget = AlphaBudget(alpha)
    level = budget.take(planned.share * alpha, "gradient")
    seen = class_interval(counts, top, () if planned.rival is None else (planned.rival,), budget)
    not_a = min(1.0, math.nextafter(1 - seen.lower_a, 2.0))
    shift = None if planned.eta is None else float(np.linalg.norm(planned.eta)) * (1 + 1e-12)
    gamma = lead_gradient_bound(moments, planned.test, level, VoteBounds(not_a, seen.q), shift)  # (F2), (F7)
    radius = first_order_radius(seen.lower_a, [Rival(seen.q, gamma)], sigma)
    numbers = {**planned.test._asdict(), **moments._asdict(), **seen.numbers, "gamma": gamma}
    if shift is not None:
        numbers["shift"] = shift
    rivals = None if planned.rival is None else (planned.rival,)
    return RivalBound("first_order", rivals, (level, *seen.alphas), radius, numbers)


# The design, from draws already seen


class GuessedGradient(NamedTuple):
    """What draws already seen say of one rival: the gradient of the lead over it, and what the box blocks of that."""

    gamma: float
    eta: Floats | None = None

    @property
    def left(self) -> float:
        """The gradient that remains after eta is taken off."""
        return self.gamma if self.eta is None else math.sqrt(max(self.gamma**2 - float(self.eta @ self.eta), 0.0))


class Design(NamedTuple):
    """A statistic for one ball and the radius to expect of it; no claim."""

    statistic: FirstOrderStatistic
    radius: float


@dataclass(frozen=True)
class Outset:
    """Where a ball stands: the votes seen there, the class, and the ball's draws and part of alpha."""

    counts: Counts
    top: int
    n: int
    dim: int
    alpha: float
    sigma: float

    def near(self) -> list[int]:
        """The rivals that may come to decide the radius, the nearest first."""
        expected = expected_counts(self.counts, self.top, self.n)
        rivals = sorted(others(len(self.counts), self.top), key=lambda k: (-int(expected[k]), k))[:_MOST_TESTS]
        radii = [class_radius(expected, self.top, k, self.alpha, self.sigma) for k in rivals]
        return [k for k, radius in zip(rivals, radii, strict=True) if radius <= _NEAR * max(radii[0], 0.0)]

    def lead_tests(self, draws: int) -> list[LeadTest]:
        """What to ask of so many draws: about the near rivals and, for the binary rule, about all others at once."""
        if min(self.n, draws) < _FEWEST or self.counts[self.top] == 0:
            return []
        wanted = [None, *(self.near() if len(self.counts) > 2 else [])]
        return [lead_test(self.counts, self.top, rival, draws, self.dim, self.alpha) for rival in wanted]

    def design(self, guesses: Mapping[int | None, GuessedGradient]) -> Design:
        """The tests with the largest radius to expect, if the gradients are as guessed."""
        expected = expected_counts(self.counts, self.top, self.n)
        test, radius = self._best_test(expected, None, guesses[None])
        best, tests, reached = self._designed([test], radius), list[RivalTest](), math.inf
        for rival in (k for k in guesses if k is not None):  # the nearest first: it decides until it has a test
            test, radius = self._best_test(expected, rival, guesses[rival])
            tests.append(test)
            rest = rest_bound(
                expected, self.top, [t.rival for t in tests if t.rival is not None], self.alpha, self.sigma
            )
            reached = min(reached, radius)
            best = max(best, self._designed(tests, min([reached, *(bound.radius for bound in rest)])), key=_radius)
            if not rest or rest[0].radius >= reached:
                break
        return best

    def _designed(self, tests: Sequence[RivalTest], radius: float) -> Design:
        return Design(FirstOrderStatistic(self.top, len(self.counts), tuple(tests)), radius)

    def _best_test(self, expected: Counts, rival: int | None, guess: GuessedGradient) -> tuple[RivalTest, float]:
        """The part of alpha for a gradient, and the test, with the largest radius to expect against this rival."""
        votes = vote_shares(self.counts, self.top, rival)
        found = []
        for share in _SHARES:
            test = design_test(self.n, self.dim, share * self.alpha, votes, guess.left)
            planned = RivalTest(rival, test, share, guess.eta)
            moments = self._expected_moments(planned, guess)
            bound = _lead_bound(expected, self.top, planned, moments, self.alpha, self.sigma)
            found.append((planned, bound.radius))
        return max(found, key=lambda pair: pair[1])

    def _expected_moments(self, planned: RivalTest, guess: GuessedGradient) -> HalfMoments:
        votes = vote_shares(self.counts, self.top, planned.rival)
        norm = math.sqrt(expected_square(planned.test.offset, planned.test.n1, self.dim, votes, guess.left))
        return HalfMoments(guess.left**2, norm, norm)


def _radius(design: Design) -> float:
    return design.radius


def class_radius(counts: Counts, top: int, rival: int, alpha: float, sigma: float) -> float:
    """(S3) against one rival."""
    (bound,) = rest_bound(counts, top, [k for k in others(len(counts), top) if k != rival], alpha, sigma)
    return bound.radius


def outset(trials: Trials, counts: Counts, balls: int = 1) -> Outset:
    """Where one of several balls stands that saw these votes."""
    config = trials.config
    n, alpha = max(1, config.n // balls), config.alpha / balls
    return Outset(counts, trials.top, n, trials.x.numel(), alpha, trials.smoothed.sigma)


def statistic_at(trials: Trials, centre: Tensor, tally: Tally, balls: int) -> tuple[Statistic, float]:
    """The statistic for one of several balls, and the radius to expect: first order where that promises more.

    The draws are those that judge the centre anyway. What the faces block there is guessed from their half means.
    """
    ahead = trials.outlook(tally.counts, balls)
    plain: tuple[Statistic, float] = VotesStatistic(ahead.rule), ahead.radius
    stand = outset(trials, tally.counts, balls)
    tests = judging_tests(trials) if tally.counts[trials.top] > 0 else []
    guesses = _guesses(trials, centre, tally, tests, tally.counts)
    if None not in guesses:
        return plain
    found = stand.design(guesses)
    return (found.statistic, found.radius) if found.radius > ahead.radius else plain


def judging_tests(trials: Trials) -> list[LeadTest]:
    """What to ask of the draws that judge further centres; the votes at the input choose the rivals."""
    return trials.once("first_order/lead_tests", lambda: outset(trials, trials.selected).lead_tests(trials.per_verdict))


def _guesses(
    trials: Trials, centre: Tensor, tally: Tally, tests: Sequence[LeadTest], counts: Counts
) -> dict[int | None, GuessedGradient]:
    """Guesses from the half means of some draws at a centre, and from the votes seen there."""
    faces = at_faces(trials.smoothed.domain, centre)
    found: dict[int | None, GuessedGradient] = {}
    for asked in tests:
        gamma = asked.guess(tally, vote_shares(counts, trials.top, asked.rival))
        eta = blocked_part(faces, [-mean for mean in tally.half_means(asked.weights)], gamma) if faces.any() else None
        found[asked.rival] = GuessedGradient(gamma, eta)
    return found


class FirstOrder(SmoothingMethod):
    """Votes at the input and bounds on the gradients of the leads there."""

    name = "first_order"
    uses = "where the failing draws lie"
    protocols = SOUND
    label, colour, marker, rank = "first order", "#CC79A7", "v", 50
    on_grid = True

    def promising(self, trials: Trials) -> bool:
        """Whether gradients as networks usually show them would pay, and there are draws enough to see them."""
        stand = outset(trials, trials.selected)
        tests = judging_tests(trials) if trials.per_verdict >= _LEAST_SEEN else []
        if not tests:
            return False
        usual = stand.design({asked.rival: GuessedGradient(asked.usual) for asked in tests})
        at_face = at_faces(trials.smoothed.domain, trials.x).any()
        cost = trials.per_verdict + (2 * trials.per_look if at_face else 0)
        return usual.radius - trials.at_input.radius > trials.worth(cost)

    def propose(self, trials: Trials) -> Proposal:
        """All draws at the input, with the tests that trial draws expect to pay."""
        stand = outset(trials, trials.selected)
        tests = judging_tests(trials)
        if not tests:
            return fall_back(trials, self.name, "too few draws to halve, or none for the class")
        rows = tuple(asked.weights for asked in tests)
        (tally,) = trials.votes([trials.x], "lead", rows, tests[0].test.n1)
        guesses = _guesses(trials, trials.x, tally, tests, trials.selected)
        guesses |= self._seen_by_autograd(trials, guesses)
        found = stand.design(guesses)
        if not found.radius > trials.at_input.radius:
            return fall_back(trials, self.name, "a bound on the gradient would cost more alpha than it gains")
        blocked = any(test.eta is not None for test in found.statistic.tests)
        reason = "the gradient of the lead is expected to be small"
        reason += ", with the part that the box blocks taken off" if blocked else ""
        plan = plan_at_input(self.name, trials.x, trials.config.n, found.statistic, reason)
        return Proposal(plan, found.radius - trials.at_input.radius)

    def _seen_by_autograd(
        self, trials: Trials, guesses: Mapping[int | None, GuessedGradient]
    ) -> dict[int | None, GuessedGradient]:
        """A better guess of what the faces block, for the rival that decides by votes."""
        faces = at_faces(trials.smoothed.domain, trials.x)
        if not faces.any():
            return {}
        rival = None if trials.at_input.rule.binary else list(guesses)[1]
        weights = np.zeros(trials.smoothed.num_classes)
        weights[list(others(len(weights), trials.top) if rival is None else (rival,))] = -1.0
        weights[trials.top] = 1.0
        looks = [trials.look(trials.x, f"eta/{k}", weights).gradients[0] for k in (1, 2)]
        slopes = [trials.smoothed.sigma * look.numpy().reshape(-1) for look in looks]
        gamma = guesses[rival].gamma
        return {rival: GuessedGradient(gamma, blocked_part(faces, slopes, gamma))}


registry.register(FirstOrder())
