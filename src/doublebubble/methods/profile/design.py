"""Which lines, and which tests along them, are expected to certify most: from select and search draws alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from doublebubble.bounds.votes import rest_bound
from doublebubble.lines import Line
from doublebubble.methods.profile.statistic import ProfileStatistic, RivalProfile, by_vote
from doublebubble.search.forecast import expected_counts
from doublebubble.search.lead import LeadTest, at_faces, blocked_part, lead_test, shrunk_norm, vote_shares
from doublebubble.search.profile import Scene, profile_edges
from doublebubble.search.profile_fit import fitted_profile
from doublebubble.search.trials import Trials
from doublebubble.tally import Tally
from doublebubble.types import Counts, Floats

LOOKS = {"full": 2, "approximate": 6}
_BIAS = 0.07  # of the largest gradient: how far the gradient of softened votes is off at least
_SAFE = 1.08  # a rival whose votes promise less than this times the radius so far gets a line as well: it is free
_MOST_MISPLACED = 0.05  # of alpha


@dataclass(frozen=True)
class Sight:
    """What looks show of one rival: the line along which the lead falls, what faces block, the slope left to expect."""

    rival: int
    line: Line
    eta: Floats | None
    asked: LeadTest
    off: float
    """The slope off the line, as a part of the largest gradient."""


def find_sights(trials: Trials, rivals: Sequence[int]) -> list[Sight]:
    """A line for each rival along the mean of some looks at the lead's gradient, off what faces block."""
    weights = np.zeros((len(rivals), trials.smoothed.num_classes))
    weights[:, trials.top] = 1.0
    weights[range(len(rivals)), list(rivals)] = -1.0
    looks = [
        trials.smoothed.sigma * trials.look(trials.x, f"line/{k}", weights).gradients.numpy().reshape(len(rivals), -1)
        for k in range(LOOKS[trials.config.gradient])
    ]
    half = len(looks) // 2
    one, two = np.mean(looks[:half], axis=0), np.mean(looks[half:], axis=0)
    faces = at_faces(trials.smoothed.domain, trials.x)
    edges = profile_edges(max(trials.at_input.radius, 0.0) / trials.smoothed.sigma)
    found = []
    for row, rival in enumerate(rivals):
        asked = lead_test(trials.selected, trials.top, rival, trials.per_verdict, trials.x.numel(), trials.config.alpha)
        size = sqrt(max(float(one[row] @ two[row]), 0.0))
        eta = blocked_part(faces, [one[row], two[row]], size) if faces.any() and size > 0 else None
        mean = 0.5 * (one[row] + two[row])
        direction = -mean if eta is None else np.where(eta != 0, 0.0, -mean)
        if not np.any(direction):
            continue
        line = Line.along(direction, edges)
        found.append(Sight(rival, line, eta, asked, _off(one[row], two[row])))
    return found


def _off(one: Floats, two: Floats) -> float:
    """The slope to expect off the mean of two looks, as a part of the whole: their noise, and a bias."""
    length = sqrt(float(one @ one) * float(two @ two))
    cosine = max(float(one @ two) / length, 0.01) if length > 0 else 0.01
    noise = (1 - cosine) / (2 * cosine)  # squared, over the square of the slope
    return min(sqrt(noise / (1 + noise) + _BIAS**2), 1.0)


def designed(
    trials: Trials, sights: Sequence[Sight], tally: Tally, counts: Counts
) -> tuple[ProfileStatistic | None, float]:
    """Profiles for the rivals that decide, the nearest first, as long as that pays; and the radius to expect."""
    config, top = trials.config, trials.top
    expected = expected_counts(counts, top, config.n)
    best: tuple[ProfileStatistic | None, float] = (None, -np.inf)
    made: list[RivalProfile] = []
    reached = np.inf
    for sight in sights:
        misplaced = sight.line.misplaced(config.n)
        if misplaced > _MOST_MISPLACED * config.alpha:
            break
        scene = _scene(trials, sight, tally, counts, expected, misplaced)
        rival, radius = _rival(scene, sight, enough=_SAFE * reached)
        made.append(rival)
        reached = min(reached, radius)
        named = [profile.test.rival for profile in made]
        rest = rest_bound(expected, top, named, config.alpha, trials.smoothed.sigma)
        least = min([reached, *(bound.radius for bound in rest)])
        if least > best[1]:
            best = ProfileStatistic(top, len(counts), tuple(made)), least
        if not rest or rest[0].radius >= _SAFE * reached:
            break
    return best


def _rival(scene: Scene, sight: Sight, enough: float) -> tuple[RivalProfile, float]:
    """The better of a profile and of votes with a control variate; a profile is not tried where votes are enough."""
    controlled, by_votes = scene.controlled()
    if by_votes < enough:
        test, radius = scene.design()
        if radius >= by_votes:
            return RivalProfile(sight.line, test, sight.eta, scene.control()), radius
    return RivalProfile(sight.line, controlled), by_votes


def _scene(trials: Trials, sight: Sight, tally: Tally, counts: Counts, expected: Counts, misplaced: float) -> Scene:
    votes = vote_shares(counts, trials.top, sight.rival)
    halves = tally.half_means(sight.asked.weights)
    one, two = (sight.line.off(half) + (0.0 if sight.eta is None else sight.eta) for half in halves)
    gamma = shrunk_norm((one, two), sight.asked.test, votes, sight.off)
    p_a, p_b = (float(expected[k]) / int(expected.sum()) for k in (trials.top, sight.rival))
    table = by_vote(tally.table(sight.line), trials.top, sight.rival)
    f_a, f_b = fitted_profile(table, sight.line.edges, p_a, p_b)
    shift = None if sight.eta is None else float(np.linalg.norm(sight.eta))
    return Scene(
        expected,
        trials.top,
        sight.rival,
        sight.line.edges,
        f_a,
        f_b,
        gamma,
        trials.x.numel(),
        trials.config.alpha,
        trials.smoothed.sigma,
        misplaced,
        int(counts.sum()),
        shift,
    )
