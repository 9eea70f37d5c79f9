"""Votes that went on with a control variate (Theorem V): was the class settled, and what had a radius won at its look?

The payoffs, stakes and weights are computed here from docs/math.md, section 10, in fifty digits, and so is the control
variate, from the votes by bin before the change. Imports nothing of what it checks.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from doublebubble.audit.reverify.numbers import cdf, exact, mp, require

RISK = 1 - mp.mpf(2) ** -20
"""The most of the wealth that a stake risks."""

MAJORITY = mp.mpf(1) / 2000
"""The part of alpha at which a class is shown to have more than half of the probability."""

_SPACING, _TOP_ODDS, _TOP_POWER = mp.mpf("0.2"), mp.mpf(7), mp.mpf("0.75")
_NEAR = 50.0  # terms smaller than the largest by this, in logarithms, are left out: a sum of fewer terms is smaller
_TRUST = mp.mpf("0.9")
_BINS, _EDGE = 24, mp.mpf("0.000501")  # edges are sqrt(3) times quantiles, to three decimals
_RARE = mp.log(mp.mpf(10) ** 13)
_LEAST = mp.mpf("0.0001")  # of the control variate, and of what it is short of 1
_FIT = mp.mpf("0.000051")  # half of its last decimal

Logs = list[tuple[Any, Any]]
"""For each stake its weight's logarithm, and the stake as a part of the largest."""


def spread(level: Any, cap: int, variance: Any, largest: Any) -> Logs:
    """The weights and stakes of the rule for a mean that is not known, the largest stake and the variance given."""
    least = min(mp.sqrt(-2 * mp.log(level) / (cap * variance)) / largest, mp.mpf("0.5"))
    start = mp.log(least / 4)
    steps = int(mp.ceil((_TOP_ODDS - start) / _SPACING))
    parts = [1 / (1 + mp.exp(-(start + (_TOP_ODDS - start) * mp.mpf(j) / steps))) for j in range(steps + 1)]
    weights = [min(1, part / least) * min(1, 2 * (1 - part)) ** _TOP_POWER for part in parts]
    whole = mp.fsum(weights) / (1 - mp.mpf(10) ** -12)
    return [(mp.log(weight / whole), part * largest) for weight, part in zip(weights, parts, strict=True)]


def log_sum(logs: Sequence[Any]) -> Any:
    """At most the logarithm of the sum of exponentials, short of it by the terms that do not matter."""
    most = max(logs)
    return mp.log(mp.fsum(mp.exp(value) for value in logs if value > most - _NEAR))


class Changed:
    """The change as it is stored, checked for what does not depend on a radius."""

    def __init__(self, stored: Mapping[str, Any], n: int, votes: int) -> None:
        at, tables = stored["at"], stored["tables"]
        require(len(at) == 2 and all(type(number) is int for number in at), f"a change is stored as {at!r}")
        self.draws, self.hits = at
        self._edges = [exact(edge, "an edge of a bin") for edge in stored["edges"]]
        self._control = [exact(value, "the control variate") for value in stored["control"]]
        bins = len(self._edges) + 1
        quantiles = [mp.sqrt(6) * mp.erfinv(mp.mpf(2 * j) / _BINS - 1) for j in range(1, _BINS)]
        usual = bins == _BINS and all(abs(a - b) <= _EDGE for a, b in zip(self._edges, quantiles, strict=True))
        require(usual, "the bins are not those of the rule")
        require(len(self._control) == bins, "the control variate does not fit the bins")
        require(all(0 < value < 1 for value in self._control), "the control variate leaves (0, 1)")
        self.pilot = _table(stored["pilot"], bins)
        seen, hits = (sum(column) for column in zip(*((a + b, a) for a, b in self.pilot), strict=True))
        fits = 1 <= seen <= self.draws and hits <= self.hits and seen - hits <= self.draws - self.hits
        require(fits, "the draws that made the control variate are not among those before the change")
        require(1 <= self.draws <= n and 0 <= votes - self.hits <= n - self.draws, "a change at votes that never were")
        self.tables = [_table(table, bins) for table in tables]
        self._check_control()
        for table in (self.pilot, *self.tables):
            self._check_places(table)

    @cached_property
    def masses(self) -> list[Any]:
        """The probabilities of the bins."""
        ends = [mp.mpf(0), *(cdf(edge) for edge in self._edges), mp.mpf(1)]
        return [high - low for low, high in pairwise(ends)]

    def check_reserve(self, reserve: Any, alpha: Any, dimension: int, cap: int) -> None:
        """What was set aside pays for a class that is no majority and for draws in a wrong bin, as (N6) has it."""
        u, root = mp.mpf(2) ** -53, mp.sqrt(dimension)
        far, unit = root + 14, mp.mpf(2) ** -49
        error = mp.mpf(2) ** -48 * (2 * root + 14) + ((2 * mp.ceil(root) + 3) * u + unit + u) * far
        each = mp.mpf("0.8") * mp.mpf("1.01") * error * len(self._edges) + mp.exp(-98) + dimension * mp.mpf(2) ** -63
        needed = 2 * MAJORITY * alpha + cap * each
        require(
            reserve >= needed * (1 - mp.mpf(10) ** -9), f"the reserve {float(reserve)} is less than {float(needed)}"
        )

    def check_majority(self, alpha: Any, cap: int) -> None:
        """The class had more than half of the probability, shown by votes that were only counted."""
        level, half = MAJORITY * alpha, mp.mpf("0.5")
        misses = self.draws - self.hits
        stakes = spread(level, cap, half * half, RISK / half)
        wealth = log_sum([w + self.hits * mp.log1p(lam * half) + misses * mp.log1p(-lam * half) for w, lam in stakes])
        require(wealth >= -mp.log(level), f"{self.hits} votes of {self.draws} do not show a majority")

    def log_wealth(self, t: Any, level: Any, cap: int, table: Sequence[tuple[int, int]]) -> Any:
        """At most the logarithm of what the bet on p > Phi(t) has made of the draws since the change."""
        p0, c = cdf(t), self._control
        mean = mp.fsum(m * value for m, value in zip(self.masses, c, strict=True))
        paid = [(1 - p0 - value + mean, -p0 - value + mean) for value in c]
        largest = RISK / -min(miss for _, miss in paid)
        variance = mp.fsum(m * value * (1 - value) for m, value in zip(self.masses, c, strict=True))
        stakes = spread(level, cap, variance, largest)
        growth = [[(mp.log1p(lam * hit), mp.log1p(lam * miss)) for hit, miss in paid] for _, lam in stakes]
        before = [w + _inner(self.pilot, rows) for (w, _), rows in zip(stakes, growth, strict=True)]
        whole = log_sum(before)
        mixed = [
            mp.log(_TRUST * mp.exp(value - whole) + (1 - _TRUST) * mp.exp(w)) + mp.log(1 - mp.mpf(10) ** -12)
            for value, (w, _) in zip(before, stakes, strict=True)
        ]
        return log_sum([w + _inner(table, rows) for w, rows in zip(mixed, growth, strict=True)])

    def _check_places(self, table: Sequence[tuple[int, int]]) -> None:
        """Draws fall in the bins as normal noise does, up to what chance does once in 1e13 (Bernstein's inequality)."""
        made = [a + b for a, b in table]
        for there, mass in zip(made, self.masses, strict=True):
            expected = sum(made) * mass
            off = abs(there - expected)
            likely = bool(off * off <= 2 * _RARE * (expected + off / 3))
            require(likely, f"{there} of {sum(made)} draws fall in a bin where {float(expected):.1f} are expected")

    def _check_control(self) -> None:
        """The control variate is the share of hits before the change in the bin and its neighbours, in 4 decimals."""
        hits, seen = (sum(column) for column in zip(*((a, a + b) for a, b in self.pilot), strict=True))
        share = (hits + mp.mpf("0.5")) / (seen + 1)
        for place, stored in enumerate(self._control):
            rows = [(3 - abs(place - other), *row) for other, row in enumerate(self.pilot) if abs(place - other) < 3]
            won, made = sum(w * a for w, a, _ in rows), sum(w * (a + b) for w, a, b in rows)
            fitted = min(max((won + share) / (made + 1), _LEAST), 1 - _LEAST)
            require(abs(stored - fitted) <= _FIT, "the control variate is not what the votes before the change say")


def _table(stored: Sequence[Sequence[Any]], bins: int) -> list[tuple[int, int]]:
    fits = len(stored) == bins and all(len(row) == 2 and all(type(v) is int and v >= 0 for v in row) for row in stored)
    require(fits, "a table of votes by bin is not one of counts")
    return [(row[0], row[1]) for row in stored]


def _inner(table: Sequence[tuple[int, int]], growth: Sequence[tuple[Any, Any]]) -> Any:
    each = zip(table, growth, strict=True)
    return mp.fsum(hits * hit + misses * miss for (hits, misses), (hit, miss) in each)
