"""Votes counted as they came, (Q1), Theorems O and V: was each radius won at its look, by the bet that the rule fixes?

Levels, stakes and weights are computed here from docs/math.md, section 10, in fifty digits; of what is stored only the
radii, the looks and the votes are used, and the levels once they are shown to be small enough. Imports nothing of what
it checks.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from doublebubble.audit.reverify.changed import RISK, Changed, log_sum, spread
from doublebubble.audit.reverify.numbers import cdf, exact, mp, require
from doublebubble.certificate import Ball

_STOPS = {"certified", "given_up", "precise", "cap"}
_FIRST_LOOK, _GROWTH = 4, 50  # looks: at 4 draws, then a fiftieth of them later, rounded up
_CLOSE, _ROUNDED = mp.mpf(10) ** -9, mp.mpf(10) ** -13


def check_sequence(ball: Ball, sigma: float, dimension: int) -> None:
    """Confirm that, with probability at least 1 - ball.alpha over all draws, g is the ball's class on the open ball.

    The class was not chosen beforehand, and sampling stopped when it did for whatever reason. `dimension` is that of
    the input.
    """
    counts, top, cap = [int(count) for count in ball.counts], ball.evidence["top"], ball.evidence["cap"]
    require(ball.centre is None and not ball.vectors, "a sequence of votes is taken at the input, without vectors")
    require(counts[top] == max(counts) or bool(ball.evidence["wins"]), "the class is not the one with most votes")
    require(type(cap) is int and 1 <= ball.n <= cap, f"{ball.n} draws with a cap of {cap!r}")
    change = Changed(ball.evidence["change"], ball.n, counts[top]) if "change" in ball.evidence else None
    wins = _wins(ball.evidence["wins"], ball.n, counts[top], cap, change)
    alpha = exact(ball.alpha, "alpha")
    reserve = exact(ball.evidence.get("reserve", 0.0), "the reserve")
    radii = _radii(ball, exact(sigma, "sigma"), len(wins))
    thresholds = [cdf(radius / mp.mpf(sigma)) for radius in radii]
    if "precision" in ball.evidence:
        levels = _levels(thresholds, alpha, reserve)
    else:
        levels = _stored_levels(ball.evidence, thresholds, alpha, reserve)
    tables = _tables(change, wins)
    if change is not None:
        change.check_reserve(reserve, alpha, dimension, cap)
        if not wins or wins[0][0] > change.draws:  # no radius had been claimed for the class
            change.check_majority(alpha, cap)
    for radius, level, (draws, hits) in zip(radii, levels, wins, strict=False):
        bet, table = _bet(radius / mp.mpf(sigma), level, cap), tables.get(draws)
        if change is None or table is None:
            wealth = _log_wealth(bet, draws, hits)
        else:
            wealth = _log_wealth(bet, change.draws, change.hits)
            wealth += change.log_wealth(radius / mp.mpf(sigma), level, cap, table)
        require(
            wealth >= -mp.log(level),
            f"radius {float(radius):.6f} has not won at {hits} votes of {draws}: its wealth is "
            f"{float(wealth):.4f} in logarithms, {float(-mp.log(level)):.4f} are needed",
        )
    claimed = exact(ball.radius, "the radius")
    require(claimed == (radii[len(wins) - 1] if wins else 0), "the radius is not the last of those that won in order")
    _check_stop(ball, len(wins), cap)


def _tables(change: Changed | None, wins: Sequence[tuple[int, int]]) -> dict[int, list[tuple[int, int]]]:
    """The votes by bin since the change at each look where a radius won after it, which grow from one to the next."""
    later = sorted({win for win in wins if change is not None and win[0] > change.draws})
    if change is None:
        return {}
    require(len(change.tables) == len(later), "there are not as many tables as looks at which radii won")
    by_draws = sorted(change.tables, key=lambda table: sum(map(sum, table)))
    for (draws, hits), table in zip(later, by_draws, strict=True):
        seen, counted = sum(map(sum, table)), sum(row[0] for row in table)
        fits = (seen, counted) == (draws - change.draws, hits - change.hits)
        require(fits, f"a table of {counted} hits in {seen} draws does not give back the votes since the change")
    for before, after in pairwise(by_draws):
        grown = all(a <= b for row, more in zip(before, after, strict=True) for a, b in zip(row, more, strict=True))
        require(grown, "the tables are not of one sequence of votes")
    return {draws: table for (draws, _), table in zip(later, by_draws, strict=True)}


def _wins(stored: Sequence[Any], n: int, votes: int, cap: int, change: Changed | None) -> list[tuple[int, int]]:
    """The look at which each radius won, from the smallest radius on; they are looks at one sequence of votes."""
    for entry in stored:
        fits = len(entry) == 3 and all(type(number) is int for number in entry) and entry[2] >= 1
        require(fits, f"a win is stored as {entry!r}")
    wins = [(draws, hits) for draws, hits, times in stored for _ in range(times)]
    looks = _looks(cap)
    settled = min([draws for draws, _ in wins[:1]] + ([] if change is None else [change.draws + 1]), default=0)
    for draws, _ in wins:
        require(draws in looks, f"{draws} draws are not a look")
        require(draws >= settled, "a radius won before the class was claimed")
    changes = [] if change is None else [(change.draws, change.hits)]
    require(all(draws in looks for draws, _ in changes), "the change was not made at a look")
    for (draws, hits), (more, later) in pairwise([(0, 0), *sorted({*wins, *changes}), (n, votes)]):
        require(
            0 <= later - hits <= more - draws, f"{hits} votes of {draws} and {later} of {more} are not one sequence"
        )
    return wins


@lru_cache(maxsize=4)
def _looks(cap: int) -> frozenset[int]:
    found, n = set[int](), min(_FIRST_LOOK, cap)
    while n < cap:
        found.add(n)
        n = min(cap, n + max(1, -(-n // _GROWTH)))
    return frozenset(found | {cap})


def _radii(ball: Ball, sigma: Any, won: int) -> list[Any]:
    """The rising radii of the ladder: all of them if they are stored, those that won if a precision names them."""
    if "precision" not in ball.evidence:
        radii = [exact(radius, "a radius of the ladder") for radius in ball.evidence["radii"]]
        require(len(radii) >= max(1, won), "more radii won than there are")
        require(radii[0] > 0 and all(a < b for a, b in pairwise(radii)), "the radii of the ladder do not rise from 0")
        return radii
    ratio = 1 + exact(ball.evidence["precision"], "the precision")
    require(ratio > 1, "the precision is not above 0")
    radii = [sigma / 20 * ratio ** (mp.mpf(j) / 3) for j in range(won)]
    if radii:
        claimed = exact(ball.radius, "the radius")
        require(abs(claimed / radii[-1] - 1) <= _ROUNDED, "the radius is not a rung of the ladder")
        radii[-1] = claimed
    return radii


def _levels(thresholds: Sequence[Any], alpha: Any, reserve: Any = 0, first: Any = None) -> list[Any]:
    """The levels of Theorem O: c_1 + (1 - p_1)^s = alpha, c_j = alpha - (1 - p_{j-1})^s, s = ln c_1 / ln p_1.

    With a reserve those of Theorem V: it is taken off alpha, and 1/2 stands for 1 - p_1. A first level that is given
    must be allowed, and near that; what the others may be follows from it.
    """
    require(0 <= reserve < alpha / 2, f"a reserve of {float(reserve)}")
    if not thresholds:
        return []
    alpha -= reserve
    p = thresholds[0]
    least = mp.mpf("0.5") if reserve else p
    low, high = mp.mpf(0), alpha
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle + _others(p, least, middle) <= alpha else (low, middle)
    require(low > 0, "no level is left for the first radius")
    if first is not None:
        fits = 0 < first <= p and first + _others(p, least, first) <= alpha
        require(fits, f"the level {float(first)} is above the {float(low)} that Theorem O allows")
        require(first >= low * (1 - _CLOSE), f"the level {float(first)} is not that of the ladder, {float(low)}")
        low = first
    return [low, *(alpha - _others(p, q, low) for q in thresholds[:-1])]


def _others(first: Any, p: Any, level: Any) -> Any:
    """(1 - p)^s: what the classes that do not lead may add, where the leader's probability is above p."""
    return mp.exp(mp.log(level) / mp.log(first) * mp.log1p(-p))


def _stored_levels(evidence: Mapping[str, Any], thresholds: Sequence[Any], alpha: Any, reserve: Any) -> list[Any]:
    """The levels that the bets were made for: none above what Theorem O allows beside the first, and near it."""
    levels = [exact(level, "a level of the ladder") for level in evidence["levels"]]
    require(len(levels) == len(thresholds) > 0, "there are not as many levels as radii")
    for level, most in zip(levels, _levels(thresholds, alpha, reserve, levels[0]), strict=True):
        require(0 < level <= most, f"the level {float(level)} is above the {float(most)} that Theorem O allows")
        require(level >= most * (1 - _CLOSE), f"the level {float(level)} is not that of the ladder, {float(most)}")
    return levels


@lru_cache(maxsize=2048)
def _bet(t: Any, level: Any, cap: int) -> list[tuple[Any, Any, Any]]:
    """For each stake the logarithms of its weight, of what a hit and of what a miss multiplies the wealth by."""
    p0 = cdf(t)
    largest = RISK / p0
    stakes = spread(level, cap, p0 * (1 - p0), largest)
    return [(weight, mp.log1p(lam * (1 - p0)), mp.log1p(-lam * p0)) for weight, lam in stakes]


def _log_wealth(bet: Sequence[tuple[Any, Any, Any]], draws: int, hits: int) -> Any:
    """At most (Q2) for counting votes, short of it by the terms that do not matter."""
    return log_sum([weight + hits * hit + (draws - hits) * miss for weight, hit, miss in bet])


def _check_stop(ball: Ball, won: int, cap: int) -> None:
    """The reason why sampling stopped is one of those there are, and does not contradict the rest."""
    stop = ball.evidence["stop"]
    require(stop in _STOPS, f"sampling stopped because of {stop!r}")
    require(stop != "cap" or ball.n == cap, f"sampling stopped at the cap {cap} after {ball.n} draws")
    if "radii" in ball.evidence:
        require((stop == "certified") == (won == len(ball.evidence["radii"])), "sampling stopped for another reason")
    require(stop != "precise" or "precision" in ball.evidence, "no precision was asked for")
