"""The lead of a class over one rival by a profile along a line: the events, the functionals, then the covering (R3).

Everything is computed again from the table of integers, the prices, the stakes, the moments and the line. Imports
nothing of what it checks.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from doublebubble.audit.reverify.geometry import Point
from doublebubble.audit.reverify.numbers import Unconfirmed, cdf, exact, mp, number, quantile, require
from doublebubble.audit.reverify.plane import Array, Piece, covers, tiled
from doublebubble.audit.reverify.rays import ray_bound
from doublebubble.audit.reverify.votes import Lead, Rule, class_bound, parts_of, price_cost, rival_bound

_MARGIN = 1e-11
_FARTHEST, _NARROWEST = 6.0, 0.05


def profile(
    rule: Rule, counts: Sequence[int], top: int, rivals: Sequence[int], stored: Any, line: Point, eta: Point | None
) -> Lead:
    """(R3) against one rival; the lead is 1 at distances that it proves and -1 elsewhere."""
    require(len(rivals) == 1, "rule profile: it is for one rival")
    slope, bins, functional, *votes = parts_of(rule, 5)
    lower = class_bound(rule, counts, top, votes[0])
    q = rival_bound(rule, counts, rivals, lower, votes[1])
    gamma = ray_bound(rule, sum(counts), lower, q, slope)
    edges, table = _bins(rule, stored, counts, top, rivals[0], line, bins)
    _check_eta(line, eta)
    pieces = [_piece(sector, edges, table, functional, float(gamma)) for sector in stored["sectors"]]
    by_votes = max((quantile(lower) - quantile(q)) / 2, mp.mpf(0))  # (S3)
    r0 = float(by_votes) * (1 - 1e-14)

    def lead(t: Any) -> Any:
        if t <= by_votes:
            return 1
        far = float(t)
        return 1 if far <= _FARTHEST and tiled(pieces, r0, far) and covers(edges, pieces, r0, far) else -1

    return lead


def controlled(rule: Rule, counts: Sequence[int], top: int, rivals: Sequence[int], stored: Any, line: Point) -> Lead:
    """(R6) against one rival: the wealth of (R2) at the mean of Y that a lead of 0 at t would need."""
    require(len(rivals) == 1, "rule controlled: it is for one rival")
    bins, level = parts_of(rule, 2)
    edges, table = _bins(rule, stored, counts, top, rivals[0], line, bins)
    k_a, k_b, stake = (number(rule["numbers"], name) for name in ("k_a", "k_b", "stake"))
    c = [exact(value, "control") for value in stored["control"]]
    require(k_a > 0 and k_b > 0 and len(c) == len(edges) + 1, "rule controlled: prices or control out of range")
    paid = [[-each, k_a + k_b - each, k_a - each] for each in c]  # of k_A 1[vote != A] + k_B 1[vote = B] - c
    spread = max(map(max, paid)) - min(map(min, paid))
    require(0 < stake <= 1 / spread, "rule controlled: the stake is out of range")
    ends = [mp.mpf(0), *(cdf(exact(edge, "an edge")) for edge in stored["edges"]), mp.mpf(1)]
    known = k_a + k_b - sum((high - low) * each for (low, high), each in zip(itertools.pairwise(ends), c, strict=True))
    values = [value for row in paid for value in row]
    seen = list(zip(values, (int(times) for times in table.ravel()), strict=True))
    needed = -mp.log(level)

    def lead(t: Any) -> Any:
        mean = known - 1 - price_cost(k_a, t) - price_cost(k_b, t)
        factors = [(1 + stake * (mean - value), times) for value, times in seen if times]
        if any(factor <= 0 for factor, _ in factors):
            return mp.mpf(-1)
        return sum(times * mp.log(factor) for factor, times in factors) - needed

    return lead


def _bins(
    rule: Rule, stored: Any, counts: Sequence[int], top: int, rival: int, line: Point, paid: Any
) -> tuple[list[float], Array]:
    """The edges of the bins and the draws in them, whose misplacement is paid for."""
    if not isinstance(stored, Mapping):
        raise Unconfirmed(f"rule {rule['rule']}: the evidence lacks the profile of the rival")
    edges = [float(exact(edge, "an edge")) for edge in stored["edges"]]
    apart = all(b - a >= _NARROWEST for a, b in itertools.pairwise(edges))
    require(len(edges) >= 1 and apart and max(map(abs, edges)) <= _FARTHEST, "rule profile: the edges are out of range")
    table = _table(stored["table"], edges, counts, top, rival)
    require(bool(np.all(np.isfinite(line))), "rule profile: the line is not finite")
    require(paid >= _misplaced(line, sum(counts), len(edges)), "rule profile: too little of alpha for rounding of bins")
    return edges, table


def _masses(edges: Sequence[float]) -> Array:
    """The normal masses of the bins, from the tails that are small."""
    ends = np.array([-np.inf, *edges, np.inf])
    masses: Array = np.where(ends[:-1] >= 0, ndtr(-ends[:-1]) - ndtr(-ends[1:]), ndtr(ends[1:]) - ndtr(ends[:-1]))
    return masses


def _table(stored: Any, edges: Sequence[float], counts: Sequence[int], top: int, rival: int) -> Array:
    """The draws by bin and vote; they must give back the votes."""
    whole = all(type(entry) is int and entry >= 0 for row in stored for entry in row)
    require(whole and len(stored) == len(edges) + 1 and all(len(row) == 3 for row in stored), "rule profile: no table")
    sums = [sum(column) for column in zip(*stored, strict=True)]
    wanted = [counts[top], counts[rival], sum(counts) - counts[top] - counts[rival]]
    require(sums == wanted, "rule profile: the bins do not give back the votes")
    return np.array(stored, np.float64)


def _check_eta(line: Point, eta: Point | None) -> None:
    if eta is not None:
        require(eta.shape == line.shape, "rule profile: the line and eta have different shapes")
        require(not bool(np.any((line != 0) & (eta != 0))), "rule profile: eta is not at right angles to the line")


def _misplaced(line: Point, n: int, edges: int) -> Any:
    """(N6): the probability that rounding puts any draw into a wrong bin."""
    d = line.size
    u, root = mp.mpf(2) ** -53, mp.sqrt(d)
    square = sum((mp.mpf(value) ** 2 for value in line.tolist()), mp.mpf(0))
    require(abs(square - 1) <= mp.mpf(2) ** -49, "rule profile: the line is no unit vector")
    far = root + 14
    b = mp.ceil(root)
    error = mp.mpf(2) ** -48 * (2 * root + 14) + (2 * b + 3) * u * far + (abs(square - 1) + u) * far
    return n * (mp.mpf("0.8") * mp.mpf("1.01") * error * edges + mp.exp(-98) + d * mp.mpf(2) ** -63)


def _piece(sector: Mapping[str, Any], edges: Sequence[float], table: Array, alpha: Any, gamma: float) -> Piece:
    """One functional: its lower bound by (R2), and where it may serve."""
    k_a, k_b, c = (
        np.array([float(exact(value, name)) for value in sector[name]]) for name in ("k_a", "k_b", "control")
    )
    mu, stake = (float(exact(sector[name], name)) for name in ("mu", "stake"))
    low, high, inner = (float(exact(sector[name], name)) for name in ("low", "high", "inner"))
    outer = math.inf if sector["outer"] is None else float(exact(sector["outer"], "outer"))
    require(mu >= 0 and 0 <= low < high and 0 <= inner < outer, "rule profile: a sector is out of range")
    require(all(len(row) == len(edges) + 1 for row in (k_a, k_b, c)), "rule profile: prices do not fit the bins")
    paid = np.stack([-c, k_a + k_b - c, k_a - c], axis=1)  # of k_A 1[vote != A] + k_B 1[vote = B] - c
    spread = float(paid.max() - paid.min())
    require(stake > 0 and stake * spread <= 1 + 1e-12, "rule profile: a stake is out of range")
    known = math.fsum(_masses(edges) * (k_a + k_b - c))
    size = float(np.abs(k_a).max() + np.abs(k_b).max() + np.abs(c).max())
    mean = known - _largest_mean(paid, table, stake, -float(mp.log(alpha))) - _MARGIN * (1 + size)
    return Piece(low, high, inner, outer, mu, (k_a, k_b), mean - 1 - mu * gamma - _MARGIN * (1 + mu))


def _largest_mean(paid: Array, table: Array, stake: float, needed: float) -> float:
    """(R2): the least m at which the wealth sum ln(1 + stake (m - Y)) reaches ln(1/alpha), by halving an interval."""
    stake = min(stake, (1 - 1e-13) / float(paid.max() - paid.min())) if paid.max() > paid.min() else stake
    values, times = paid[table > 0], table[table > 0]
    low, high = float(paid.min()), float(paid.max())

    def enough(m: float) -> bool:
        factors = 1 + stake * (m - values)
        return bool(factors.min() > 0) and math.fsum(times * np.log(factors)) >= needed * (1 + 1e-12)

    if not enough(high):
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
