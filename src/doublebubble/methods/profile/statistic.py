"""What a profile certifies: a ball from the votes along lines and the slopes off these, by (R3), against each rival."""

from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple

import numpy as np

from doublebubble.bounds import vote_weights
from doublebubble.bounds.controlled import ControlledTest, controlled_bound
from doublebubble.bounds.profile import ProfileCounts, ProfileTest, profile_bound
from doublebubble.bounds.votes import RivalBound, rest_bound
from doublebubble.errors import SettingError
from doublebubble.lines import Line
from doublebubble.rays import Ray
from doublebubble.search.plan import Finding
from doublebubble.tally import Request, Tally
from doublebubble.types import Counts, Floats


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
