"""Profiles of classifiers whose law is known: plans made from the truth, and tallies drawn from it directly.

Nothing here goes through the search or the sampling of the package. A guarantee holds given the plan, so a plan made
once serves for any number of tallies; and plans made from the truth come nearest to what is true.
"""

from dataclasses import replace

import numpy as np
import torch
from scipy.special import ndtri

from doublebubble.audit.coverage import Case, at
from doublebubble.audit.oracles import PlanarTable
from doublebubble.bounds.ray_gradient import RayMoments
from doublebubble.bounds.votes import rest_bound
from doublebubble.geometry.profile import GuessedProfile, best_profile_prices, default_edges
from doublebubble.lines import Line
from doublebubble.methods.profile.statistic import ProfileStatistic, RivalProfile, by_vote
from doublebubble.rays import Ray
from doublebubble.search.lead import at_faces
from doublebubble.search.profile import Scene, profile_edges
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import Counts, Floats
from tests.geometry.profile.truth import blurred_profile

_GUESSING = 2_000_000  # normal numbers drawn for a plan
WORST_EDGES = tuple(np.round(default_edges(10), 3).tolist())
"""Bins of the profiles whose worst classifiers are used."""
_LEAST_SHARE = 0.002  # of the votes: rarer rivals get no line


def votes_of(case: Case, noise: Floats) -> Counts:
    """The class of each draw, by the oracle itself in float64; a planar table is simply looked up."""
    rows = case.x.double().numpy().reshape(1, -1) + case.sigma * noise
    oracle = case.oracle
    if isinstance(oracle, PlanarTable):
        places = [np.searchsorted(edges, rows[:, axis]) for axis, edges in enumerate(oracle._edges)]
        return np.asarray(oracle._table[places[0], places[1]], np.int64)
    with torch.no_grad():
        votes: Counts = oracle(torch.from_numpy(rows)).argmax(1).numpy()
    return votes


def binned(line: Line, noise: Floats, votes: Counts, classes: int) -> Counts:
    """Votes by bin, from the definition of a bin."""
    table = np.zeros((line.bins, classes), np.int64)
    np.add.at(table, (np.searchsorted(line.edges, noise @ line.direction, side="right"), votes), 1)
    return table


def drawn(case: Case, statistic: ProfileStatistic, n: int, rng: np.random.Generator) -> Tally:
    """What n draws show of all that the statistic asks for."""
    request = statistic.asks(Request(case.x, n, Stream(0, 0, "certify")))
    assert request.split is not None
    classes, cut = case.oracle.num_classes, request.split
    noise = rng.standard_normal((n, case.oracle.dimension))
    votes = votes_of(case, noise)
    weights = np.array(request.moments)[:, votes]
    sums = np.stack([weights[:, :cut] @ noise[:cut], weights[:, cut:] @ noise[cut:]])
    tables = tuple(binned(line, noise, votes, classes) for line in request.lines)
    means = [sums[0, request.moments.index(ray.weights)] / cut for ray in request.rays]
    along = tuple(
        seen_along(ray, mean, noise[cut:], votes[cut:]) for ray, mean in zip(request.rays, means, strict=True)
    )
    counts = np.bincount(votes, minlength=classes)
    asked = request.moments, request.lines, tables, request.rays, along
    return Tally(counts, n, (cut, n - cut), sums, None, None, *asked)


def seen_along(ray: Ray, mean: Floats, noise: Floats, votes: Counts) -> RayMoments:
    """How the second half lies along the mean of the first, from the definition."""
    u0 = ray.line.direction
    off = mean - (mean @ u0) * u0 + (0.0 if ray.eta is None else ray.eta)
    length = float(np.linalg.norm(off))
    e = off / length if length > 0 else off
    control = np.array(ray.control)[np.searchsorted(ray.line.edges, noise @ u0, side="right")]
    v = (np.array(ray.second)[votes] - control) * np.clip(noise @ e, -ray.clip, ray.clip)
    ahead = 0.0 if ray.eta is None else float(e @ ray.eta)
    return RayMoments(length, ahead, *(float((v**power).mean()) for power in (1, 2, 3, 4)))


def plan_from_truth(
    case: Case, n: int, alpha: float, tilt: float = 0.0, edges: tuple[float, ...] | None = None
) -> ProfileStatistic | None:
    """Profiles against the rivals that get votes, along the true gradients turned by `tilt`; None if there are none."""
    rng, oracle, x = np.random.default_rng(17), case.oracle, case.x.double().numpy()
    noise = rng.standard_normal((_GUESSING // (oracle.dimension + 9), oracle.dimension))
    votes = votes_of(case, noise)
    p = oracle.probabilities(x, case.sigma)
    top = oracle.predicted(x, case.sigma)
    slopes = case.sigma * oracle.gradient(x, case.sigma)
    expected = np.rint(n * p).astype(np.int64)
    expected[top] += n - expected.sum()
    if edges is None:
        edges = profile_edges(max(float(ndtri(p[top])), 0.0))
    made = []
    for rival in np.argsort(-p)[:3].tolist():
        if rival == top or p[rival] < _LEAST_SHARE:
            continue
        D = slopes[top] - slopes[rival]
        blocked = at_faces(case.domain, case.x) * D > 1e-12
        eta = np.where(blocked, D, 0.0) if blocked.any() and not blocked.all() else None
        line = _line(np.where(blocked, 0.0, -D) if eta is not None else -D, eta, tilt, rng, edges)
        if line.misplaced(n) > 0.05 * alpha:
            continue
        table = by_vote(binned(line, noise, votes, oracle.num_classes), top, rival) + 1e-9
        shares = table / table.sum(axis=1, keepdims=True)
        off = line.off(D) - (0.0 if eta is None else eta)
        shift = None if eta is None else float(np.linalg.norm(eta))
        scene = Scene(
            expected,
            top,
            rival,
            line.edges,
            shares[:, 0],
            np.minimum(shares[:, 1], 1 - shares[:, 0]),
            float(np.linalg.norm(off)),
            oracle.dimension,
            alpha,
            case.sigma,
            line.misplaced(n),
            10 * n,
            shift,
        )
        made.append(RivalProfile(line, scene.design()[0], eta, scene.control()))
    return ProfileStatistic(top, oracle.num_classes, tuple(made)) if made else None


def _line(
    direction: Floats, eta: Floats | None, tilt: float, rng: np.random.Generator, edges: tuple[float, ...]
) -> Line:
    """The line along a direction, or any where it is 0, turned off by `tilt`; off the coordinates of eta."""
    free = np.ones(len(direction)) if eta is None else (eta == 0).astype(np.float64)
    other = free * rng.standard_normal(len(direction))
    if np.linalg.norm(direction) < 1e-9:
        return Line.along(other, edges)
    unit = direction / np.linalg.norm(direction)
    other -= (other @ unit) * unit
    length = np.linalg.norm(other)
    turned = unit if length < 1e-9 else np.cos(tilt) * unit + np.sin(tilt) * other / length
    return Line.along(free * turned, edges)


def limit_of(case: Case, statistic: ProfileStatistic) -> float:
    """No radius above this is true: the distance at which the prediction changes, 0 if it is another one at once."""
    g, distance = case.truth
    return 0.0 if statistic.top != g or distance == 0 else distance * (1 + 1e-9)


def claims_more(statistic: ProfileStatistic, tally: Tally, alpha: float, sigma: float, limit: float) -> bool:
    """Whether the statistic claims more than `limit`; rivals are asked one by one, until one says no."""
    for profile in statistic.profiles:
        mine, *_ = replace(statistic, profiles=(profile,)).finding(tally, alpha, sigma).bounds
        if mine.radius <= limit:
            return False
    named = [profile.test.rival for profile in statistic.profiles]
    return all(bound.radius > limit for bound in rest_bound(tally.counts, statistic.top, named, alpha, sigma))


def least_radius(statistic: ProfileStatistic, tally: Tally, alpha: float, sigma: float) -> float:
    """The radius that the statistic claims."""
    return min(bound.radius for bound in statistic.finding(tally, alpha, sigma).bounds)


def worst_case(p: float, slope: float, gamma: float, angle: float, stretch: float) -> Case:
    """A planar table that is the worst classifier of a profile, so that Theorem R is tight there: docs/math.md.

    With the profile's best prices for a displacement about as long as `stretch` times Cohen's radius, A has the cells
    in which the bracket of (R1) is positive. No classifier with this profile and slope has a smaller lead there.
    """
    sigma, length = 0.5, stretch * float(ndtri(p))
    guess: GuessedProfile = blurred_profile(p, slope, gamma, np.array(WORST_EDGES))
    a, b = float(length * np.cos(angle)), float(length * np.sin(angle))
    (prices,) = best_profile_prices(guess, a, b)
    z, y = np.unique(np.concatenate([guess.edges, np.linspace(-3.0, 3.0, 31)])), np.linspace(-3.5, 3.5, 71)
    middles = [np.concatenate([ends[:1] - 0.2, 0.5 * (ends[1:] + ends[:-1]), ends[-1:] + 0.2]) for ends in (z, y)]
    price = prices.k_a[np.searchsorted(guess.edges, middles[0])]
    weight = np.exp(a * middles[0][:, None] + b * middles[1] - 0.5 * (a * a + b * b))
    table = (price[:, None] + prices.mu * middles[1] <= weight).astype(np.int64)
    oracle = PlanarTable(sigma * z, sigma * y, table, 3)
    return Case(f"worst of a profile, p = {p:g}", oracle, at([0.0] * 3), sigma, (-1.0, 1.0))
