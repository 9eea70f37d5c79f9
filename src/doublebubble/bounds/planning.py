"""How many draws will it take, and what will come of it? Forecasts for counting votes, before the work.

The law of the number of draws is computed exactly for a given p, not simulated. Nothing here is a guarantee about an
input. Functions of numbers: numpy and scipy only, no torch, no randomness.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv
from scipy.stats import beta as beta_law
from scipy.stats import binom

from doublebubble.bounds.ladder import looks as usual_looks
from doublebubble.bounds.sequences import Bet, Wealth, miss_bet, reach, target, vote_bet
from doublebubble.errors import InputError, SettingError
from doublebubble.types import Counts, Floats

_NOTHING = 1e-300  # states less likely than this are left out
_LITTLE = 1e-20  # the same where a chance near beta is sought


def least_draws(p: npt.ArrayLike, t: float, alpha: float, beta: float, cap: int) -> Floats:
    """The yardstick: ln(1/level)/KL(p, p0) draws, at most `cap`; level is alpha for p > p0 = Phi(t), beta below.

    The least mean number of draws at which counting votes proves p > p0 with power 1, where the cap does not bind.
    """
    q, p0 = np.asarray(p, np.float64), float(Phi(t))
    if not np.all((q >= 0) & (q <= 1)):
        raise InputError(f"p: expected probabilities, got {p!r}")
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = np.where(q > 0, q * np.log(q / p0), 0.0) + np.where(q < 1, (1 - q) * np.log((1 - q) / Phi(-t)), 0.0)
        need = np.where(q > p0, -math.log(alpha), -math.log(beta)) / np.maximum(kl, 1e-300)
    return np.asarray(np.minimum(need, float(cap)), np.float64)


def fewest_draws(radius: float, sigma: float, alpha: float) -> int:
    """Draws that must all agree before a fixed number of them certifies this radius: alpha >= p0^n.

    >>> fewest_draws(0.5, 0.5, 0.001)
    40
    """
    if not (0 < radius < 8 * sigma and 0 < alpha < 1):
        raise SettingError(f"radius: expected one inside (0, 8 sigma) and alpha in (0, 1), got {radius!r}, {alpha!r}")
    return max(1, math.ceil(math.log(alpha) / math.log1p(-float(Phi(-radius / sigma)))))


def draws_ahead(
    draws: int,
    hits: int,
    ts: npt.ArrayLike,
    levels: npt.ArrayLike,
    beta: float,
    cap: int,
    precision: float | None = None,
) -> float:
    """About how many more draws counting votes takes until all of these radii, t sigma each, are decided.

    p_A is averaged over its Beta(hits + 1/2, misses + 1/2). With a precision, radii next to the true one stay open.
    """
    p = np.asarray(beta_law.ppf((np.arange(8) + 0.5) / 8, hits + 0.5, draws - hits + 0.5), np.float64)[:, None]
    t, level = np.atleast_1d(ts).astype(np.float64), np.atleast_1d(levels).astype(np.float64)
    q = Phi(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = p * np.log(p / q) + (1 - p) * np.log((1 - p) / Phi(-t))
        need = np.minimum(np.where(p > q, -np.log(level), -math.log(beta)) / np.maximum(kl, 1e-300), float(cap))
        if precision is not None:
            near = np.abs(np.log(t / np.maximum(Phi_inv(p), 1e-9))) < math.log1p(precision) / 3
            need = np.where(near, 0.0, need)
    return max(0.0, float(need.max(1, initial=0.0).mean()) - draws)


@dataclass(frozen=True, eq=False)
class StoppingLaw:
    """Where sampling can stop, and how often it does: the states (draws, hits) and their chance at p = p0."""

    p0: float
    draws: Counts
    hits: Counts
    chance: Floats
    certified: npt.NDArray[np.bool_]
    given_up: npt.NDArray[np.bool_]

    def weights(self, p: float) -> Floats:
        """The chance of stopping in each state if p_A = p; they sum to 1 up to rounding."""
        if not 0 <= p <= 1:
            raise InputError(f"p: expected a probability, got {p!r}")
        # the paths to a state are equally likely, so another p only changes the weight of the state
        q = min(max(p, 1e-15), 1 - 1e-15)
        odds = self.hits * math.log(q / self.p0) + (self.draws - self.hits) * math.log((1 - q) / (1 - self.p0))
        return np.asarray(np.exp(np.log(self.chance) + odds), np.float64)

    def expected_draws(self, p: float) -> float:
        """The mean number of draws if p_A = p."""
        return float(self.weights(p) @ self.draws)

    def power(self, p: float) -> float:
        """The chance that the radius is certified if p_A = p."""
        return float(self.weights(p)[self.certified].sum())

    def refusal(self, p: float) -> float:
        """The chance that sampling gives up before the cap if p_A = p."""
        return float(self.weights(p)[self.given_up].sum())


def stopping_law(claim: Bet, refusal: Bet, p0: float, alpha: float, beta: float, at: Iterable[int]) -> StoppingLaw:
    """The exact law of the number of draws for one radius, looking at numbers of draws `at`; the last is the cap."""
    ns = np.fromiter(at, np.int64)
    if not len(ns) or ns[0] < 1 or np.any(np.diff(ns) < 1):
        raise SettingError("looks: expected rising numbers of draws")
    upper, lower = _edge(claim, alpha, ns), ns - _edge(refusal, beta, ns, misses=True)
    alive, base, before = np.ones(1), 0, 0
    stopped: list[tuple[int, int, Floats, int]] = []
    for n, high, low in zip(ns.tolist(), upper.tolist(), lower.tolist(), strict=True):
        alive, base = _moved(alive, base, n - before, p0)
        before = n
        # states base .. base + len - 1: up to `low` are given up, from `high` on certified, certified first
        top = min(max(high - base, 0), len(alive))
        bottom = min(max(low + 1 - base, 0), top)
        stopped += [(n, base, alive[:bottom], 0), (n, base + top, alive[top:], 1)]
        alive, base = alive[bottom:top], base + bottom
        if not len(alive):
            break
    stopped.append((before, base, alive, 2))
    kept = [item for item in stopped if len(item[2])]
    chance = np.concatenate([item[2] for item in kept])
    kind = np.concatenate([np.full(len(w), k) for _, _, w, k in kept])
    draws = np.concatenate([np.full(len(w), n) for n, _, w, _ in kept])
    hits = np.concatenate([first + np.arange(len(w)) for _, first, w, _ in kept])
    good = chance > 0
    return StoppingLaw(p0, draws[good], hits[good], chance[good], kind[good] == 1, kind[good] == 0)


@lru_cache(maxsize=512)
def exact_reach(t: float, alpha: float, beta: float, cap: int) -> float:
    """At p_A <= Phi(this) a bet on "p_A > Phi(t)" wins at the usual looks within `cap` draws at most beta of the time.

    What `reach` bounds, by the law itself, in well under a second: larger, so that more is given up and sooner.
    """  # (Q3)
    ns = np.fromiter(usual_looks(cap), np.int64)
    p0 = float(Phi(t))
    edges, alive, base, before = _edge(vote_bet(t, alpha, cap), alpha, ns), np.ones(1), 0, 0
    won: list[tuple[int, int, Floats]] = []
    for n, edge in zip(ns.tolist(), edges.tolist(), strict=True):
        alive, base = _moved(alive, base, n - before, p0, _LITTLE)
        before, top = n, min(max(edge - base, 0), len(alive))
        if top < len(alive):
            won.append((n, base + top, alive[top:]))
            alive = alive[:top]
        if not len(alive):
            break
    if not won:
        return 8.0
    chance = np.concatenate([weights for *_, weights in won])
    draws = np.concatenate([np.full(len(weights), n) for n, _, weights in won])
    hits = np.concatenate([first + np.arange(len(weights)) for _, first, weights in won])
    law = StoppingLaw(p0, draws, hits, chance, np.ones(len(chance), bool), np.zeros(len(chance), bool))
    low, high = reach(t, alpha, beta, cap), 8.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if law.power(float(Phi(middle))) <= beta else (low, middle)
    return low


def vote_law(t: float, alpha: float, beta: float, cap: int, batch: int = 1) -> StoppingLaw:
    """The law of the number of draws for radius t sigma, as `vote_ladder` decides it and at the usual looks."""
    claim, refusal = vote_bet(t, alpha, cap), miss_bet(reach(t, alpha, beta, cap), beta, cap)
    return stopping_law(claim, refusal, float(Phi(t)), alpha, beta, usual_looks(cap, batch))


@dataclass(frozen=True)
class RadiusMeans:
    """What to expect of one radius over a data set: means over inputs, each with its standard error."""

    certified: float
    certified_error: float
    draws: float
    draws_error: float


def radius_means(
    law: StoppingLaw, hits: npt.ArrayLike, draws: int, correct: npt.ArrayLike | None = None
) -> RadiusMeans:
    """The share of inputs to be certified, and draws per input, from a few draws on a sample of inputs.

    `hits` of `draws` votes went to each input's leading class, and `correct` says whether that is its label (all, if
    not given). p_A of an input is not known from a few draws: it is averaged over its Beta(hits + 1/2, misses + 1/2).
    """
    k = np.asarray(hits, np.int64)
    right = np.ones(len(k), bool) if correct is None else np.asarray(correct, bool)
    if k.ndim != 1 or not len(k) or right.shape != k.shape or np.any((k < 0) | (k > draws)):
        raise InputError(f"hits: expected one number from 0 to {draws} for each input, got {hits!r}")
    levels = (np.arange(64) + 0.5) / 64
    distinct = np.unique(k)
    power, cost = {}, {}
    for count in distinct.tolist():
        ps = np.asarray(beta_law.ppf(levels, count + 0.5, draws - count + 0.5))
        weights = [law.weights(float(p)) for p in ps]
        power[count] = float(np.mean([w[law.certified].sum() for w in weights]))
        cost[count] = float(np.mean([w @ law.draws for w in weights]))
    certified = np.array([power[c] for c in k.tolist()]) * right
    needed = np.array([cost[c] for c in k.tolist()])
    root = math.sqrt(len(k))
    errors = [float(v.std(ddof=1)) / root if len(k) > 1 else math.inf for v in (certified, needed)]
    return RadiusMeans(float(certified.mean()), errors[0], float(needed.mean()), errors[1])


def _edge(bet: Bet, level: float, ns: Counts, misses: bool = False) -> Counts:
    """The fewest hits (misses) of each number of draws at which the bet has won; one more than there are if none."""
    wealth, enough = Wealth([bet]), target(level)
    low, high = np.full(len(ns), -1), ns + 1
    while np.any(high - low > 1):
        middle = (low + high) // 2
        cells = (ns - middle, middle) if misses else (middle, ns - middle)
        table = np.where((high - low > 1)[:, None], np.stack(cells, -1), 0)
        won = np.concatenate([wealth(part[:, None, :])[:, 0] >= enough for part in np.array_split(table, 64)])
        open_ = high - low > 1
        high, low = np.where(open_ & won, middle, high), np.where(open_ & ~won, middle, low)
    return np.asarray(high, np.int64)


def _moved(alive: Floats, base: int, steps: int, p0: float, nothing: float = _NOTHING) -> tuple[Floats, int]:
    """The law of the hits after so many more draws, without the states that are practically impossible."""
    if steps == 1:
        spread = np.append(alive * (1 - p0), 0.0)
        spread[1:] += alive * p0
        return spread, base
    law = binom.pmf(np.arange(steps + 1), steps, p0)
    some = np.flatnonzero(law > nothing)
    spread = np.convolve(alive, law[some[0] : some[-1] + 1])
    base += int(some[0])
    likely = np.flatnonzero(spread > nothing)
    return spread[likely[0] : likely[-1] + 1], base + int(likely[0])
