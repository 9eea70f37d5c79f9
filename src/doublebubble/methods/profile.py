"""`profile`: how the votes change along one line, and how little off it: Theorem R, (R3), against the near rivals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from doublebubble import registry
from doublebubble.bounds import vote_weights
from doublebubble.bounds.controlled import ControlledTest, controlled_bound
from doublebubble.bounds.profile import ProfileCounts, ProfileTest, profile_bound
from doublebubble.bounds.votes import RivalBound, rest_bound
from doublebubble.errors import SettingError
from doublebubble.lines import Line
from doublebubble.method import SOUND, SmoothingMethod
from doublebubble.methods.cohen import fall_back
from doublebubble.methods.first_order import outset
from doublebubble.rays import Ray
from doublebubble.search.forecast import expected_counts
from doublebubble.search.lead import Probe, at_faces, blocked_part, probe, shrunk_norm, vote_shares
from doublebubble.search.plan import Finding, Proposal, plan_at_input
from doublebubble.search.profile import Scene, profile_edges, usual_gain
from doublebubble.search.profile_fit import fitted_profile
from doublebubble.search.trials import Trials
from doublebubble.tally import Request, Tally
from doublebubble.types import Counts, Floats

_MOST_LINES = 4  # each costs a backward pass for each draw of a look
_LOOKS = {"full": 2, "approximate": 6}
_BIAS = 0.07  # of the largest gradient: how far the gradient of softened votes is off at least
_LEAST_LOOK = 60  # draws of one look: fewer show no direction
_LEAST_SEEN = 20  # draws against the class, of all search draws to expect: fewer show nothing of a profile
_SAFE = 1.08  # a rival whose votes promise less than this times the radius so far gets a line as well: it is free
_MOST_MISPLACED = 0.05  # of alpha


class RivalProfile(NamedTuple):
    """The line, the eta and the test for one rival, fixed before the draws."""

    line: Line
    test: ProfileTest | ControlledTest
    eta: Floats | None = None
    control: tuple[float, ...] = ()
    """Of the slope off the line, for each bin."""

    @property
    def edges(self) -> list[list[float]]:
        """The inner edges of the bins of every functional."""
        if isinstance(self.test, ControlledTest):
            return [self.test.edges.tolist()]
        return [sector.test.prices.edges.tolist() for sector in self.test.sectors]


@dataclass(frozen=True)
class ProfileStatistic:
    """Votes, their profiles along lines and the slopes off these; rivals without a line are held off by votes alone."""

    top: int
    num_classes: int
    profiles: tuple[RivalProfile, ...]
    name: str = "profile"

    def __post_init__(self) -> None:
        rivals = [profile.test.rival for profile in self.profiles]
        if not rivals or self.top in rivals or len(set(rivals)) < len(rivals):
            raise SettingError(f"profile: expected distinct rivals of class {self.top}, got {rivals}")
        for profile in self.profiles:
            if profile.eta is not None and np.any((profile.eta != 0) & (profile.line.direction != 0)):
                raise SettingError("profile: expected an eta at right angles to the line, on coordinates of its own")
            if any(edges != list(profile.line.edges) for edges in profile.edges):
                raise SettingError("profile: expected prices on the bins of the line")
            if isinstance(profile.test, ProfileTest) and len(profile.control) != profile.line.bins:
                raise SettingError("profile: expected a control variate for each bin of the line")

    def asks(self, request: Request) -> Request:
        """The request with the bins of the lines and the sums of noise that the tests need."""
        tests = [profile.test for profile in self.profiles if isinstance(profile.test, ProfileTest)]
        rays = tuple(
            self._ray(profile, profile.test) for profile in self.profiles if isinstance(profile.test, ProfileTest)
        )
        rows = tuple(dict.fromkeys(ray.weights for ray in rays))
        lines = tuple(dict.fromkeys(profile.line for profile in self.profiles))
        return replace(request, moments=rows, split=tests[0].gradient.n1 if tests else None, lines=lines, rays=rays)

    def finding(self, tally: Tally, alpha: float, sigma: float) -> Finding:
        """With probability at least 1 - alpha over the draws, g is `top` on the open ball of the finding's radius.

        With an eta, on the part of the ball that lies in the domain.
        """
        bounds, evidence = [], {}
        for profile in self.profiles:
            table = by_vote(tally.table(profile.line), self.top, profile.test.rival)
            bound = self._bound(tally, profile, table, alpha, sigma)
            bounds.append(bound)
            evidence[str(profile.test.rival)] = _stored(table, profile, bound.radius / sigma)
        named = [profile.test.rival for profile in self.profiles]
        vectors: dict[str, Floats] = {}
        for profile in self.profiles:
            vectors[f"line/{profile.test.rival}"] = profile.line.direction
            if profile.eta is not None:
                vectors[f"eta/{profile.test.rival}"] = profile.eta
        rest = rest_bound(tally.counts, self.top, named, alpha, sigma)
        return Finding((*bounds, *rest), {"profiles": evidence}, vectors)

    def _bound(self, tally: Tally, profile: RivalProfile, table: Counts, alpha: float, sigma: float) -> RivalBound:
        test, misplaced = profile.test, profile.line.misplaced(tally.n)
        if isinstance(test, ControlledTest):
            return controlled_bound(table, misplaced, test, alpha, sigma)
        shift = None if profile.eta is None else float(np.linalg.norm(profile.eta)) * (1 + 1e-12)
        seen = ProfileCounts(tally.counts, table, tally.ray(self._ray(profile, test)), misplaced, shift)
        return profile_bound(seen, self.top, test, alpha, sigma)

    def _ray(self, profile: RivalProfile, test: ProfileTest) -> Ray:
        """What the slope off the line needs of both halves; the two sets of weights differ by the offset only."""
        first, second = (
            tuple(vote_weights(self.num_classes, self.top, [test.rival], offset).tolist())
            for offset in (test.gradient.offset, 0.0)
        )
        return Ray(first, second, profile.line, profile.control, test.gradient.clip, profile.eta)


def by_vote(table: Counts, top: int, rival: int) -> Counts:
    """The table of all classes reduced to the class, the rival and all others: (bins, 3)."""
    a, b = table[:, top], table[:, rival]
    reduced: Counts = np.stack([a, b, table.sum(axis=1) - a - b], axis=1)
    return reduced


def _stored(table: Counts, profile: RivalProfile, reached: float) -> dict[str, object]:
    """What a verifier needs besides the numbers of the bound and the vectors, as JSON takes it.

    Sectors beyond the radius reached prove nothing that is claimed, and are left out.
    """
    bins: dict[str, object] = {"edges": list(profile.line.edges), "table": table.tolist()}
    if isinstance(profile.test, ControlledTest):
        return {**bins, "control": profile.test.control.tolist()}
    return {
        **bins,
        "sectors": [
            {
                "low": sector.low,
                "high": sector.high,
                "inner": sector.inner,
                "outer": sector.outer if isfinite(sector.outer) else None,
                "mu": sector.test.prices.mu,
                "stake": sector.test.stake,
                "k_a": sector.test.prices.k_a.tolist(),
                "k_b": sector.test.prices.k_b.tolist(),
                "control": sector.test.control.tolist(),
            }
            for sector in profile.test.sectors
            if sector.inner <= reached
        ],
    }


# The design, from draws already seen


@dataclass(frozen=True)
class Sight:
    """What looks show of one rival: the line along which the lead falls, what faces block, the slope left to expect."""

    rival: int
    line: Line
    eta: Floats | None
    asked: Probe
    off: float
    """The slope off the line, as a part of the largest gradient."""


class Profile(SmoothingMethod):
    """Votes at the input, and how they change along the lines where the leads fall fastest."""

    name = "profile"
    uses = "how votes change along one line, and off it"
    protocols = SOUND
    label, colour, marker, rank = "profile", "#882255", "p", 60
    on_grid = True

    def promising(self, trials: Trials) -> bool:
        """Whether the gain that networks usually show where votes are like this would pay for the search."""
        rivals = outset(trials, trials.selected).near()[:_MOST_LINES]
        if not rivals or _expected_against(trials) < _LEAST_SEEN or trials.per_look < _LEAST_LOOK:
            return False
        votes = vote_shares(trials.selected, trials.top, rivals[0])
        gain = usual_gain(votes, trials.x.numel(), trials.config.n, trials.config.alpha)
        usual = max(0.0, trials.at_input.radius) * gain
        rows = 2 * len(rivals) if trials.config.gradient == "full" else 0
        looks = _LOOKS[trials.config.gradient] * (1 + rows) * trials.per_look
        return usual > trials.worth(looks + trials.per_verdict)

    def propose(self, trials: Trials) -> Proposal:
        """All draws at the input, with profiles against the rivals where trial draws expect them to pay."""
        stand = outset(trials, trials.selected)
        rivals = stand.near()[:_MOST_LINES]
        if trials.per_look < _LEAST_LOOK:
            return fall_back(trials, self.name, "looks of so few draws show nothing of a profile")
        if _expected_against(trials) < _LEAST_SEEN or not rivals or not stand.probes(trials.per_verdict):
            return fall_back(trials, self.name, "too few draws against the class to show a profile")
        sights = _sights(trials, rivals)
        if not sights:
            return fall_back(trials, self.name, "no draw shows a direction in which the lead falls")
        lines, rows = tuple(sight.line for sight in sights), tuple(sight.asked.weights for sight in sights)
        split = sights[0].asked.test.n1
        (tally,) = trials.votes([trials.x], "profile", tuple(dict.fromkeys(rows)), split, tuple(dict.fromkeys(lines)))
        counts = trials.selected + tally.counts
        statistic, radius = _designed(trials, sights, tally, counts)
        plain = trials.outlook(counts).radius
        if statistic is None or not radius > plain:
            return fall_back(trials, self.name, "a profile is not expected to gain")
        reason = f"profiles along lines against {len(statistic.profiles)} of the rivals"
        plan = plan_at_input(self.name, trials.x, trials.config.n, statistic, reason)
        return Proposal(plan, radius - plain)


def _expected_against(trials: Trials) -> float:
    """How many of all draws before the certify draws are expected against the class, by those seen."""
    seen, against = int(trials.selected.sum()), int(trials.selected.sum() - trials.selected[trials.top])
    return against * (1 + trials.per_verdict / seen)


def _sights(trials: Trials, rivals: Sequence[int]) -> list[Sight]:
    """A line for each rival along the mean of some looks at the lead's gradient, off what faces block."""
    weights = np.zeros((len(rivals), trials.smoothed.num_classes))
    weights[:, trials.top] = 1.0
    weights[range(len(rivals)), list(rivals)] = -1.0
    looks = [
        trials.smoothed.sigma * trials.look(trials.x, f"line/{k}", weights).gradients.numpy().reshape(len(rivals), -1)
        for k in range(_LOOKS[trials.config.gradient])
    ]
    half = len(looks) // 2
    one, two = np.mean(looks[:half], axis=0), np.mean(looks[half:], axis=0)
    faces = at_faces(trials.smoothed.domain, trials.x)
    edges = profile_edges(max(trials.at_input.radius, 0.0) / trials.smoothed.sigma)
    found = []
    for row, rival in enumerate(rivals):
        asked = probe(trials.selected, trials.top, rival, trials.per_verdict, trials.x.numel(), trials.config.alpha)
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


def _designed(
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


registry.register(Profile())
