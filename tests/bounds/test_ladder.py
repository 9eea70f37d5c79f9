"""Ladders of radii: wrong claims by exact sums over all sequences of draws, order of draws, giving up, looks."""

import math
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr as Phi
from scipy.stats import binomtest

from doublebubble.bounds.ladder import Ladder, Stop, looks, precise_radii, vote_ladder
from doublebubble.bounds.sequences import log_wealth, target
from doublebubble.errors import SettingError
from tests.bounds.exact import chance_of
from tests.bounds.stepping import done, replay, start, step

VOTE = ([[1, 0]], [[0, 1]])


def wrong_claims(ladder: Ladder, p: float, depth: int) -> float:
    """The chance that a radius whose threshold is p or more is ever claimed."""
    false = next(j for j, radius in enumerate(ladder.radii) if Phi(radius) >= p)
    return chance_of(
        start(ladder),
        lambda progress, cell: step(ladder, progress, VOTE[cell]),
        lambda progress: progress.certified > false,
        [p, 1 - p],
        depth,
    )


@pytest.mark.parametrize("alpha", [0.3, 0.1])
def test_wrong_claims_of_a_ladder_are_at_most_alpha_exactly(alpha: float) -> None:
    """alpha is not divided over the radii, and at the threshold of each radius it is used."""
    ladder = vote_ladder((0.2, 0.5, 0.8), 1.0, alpha, 0.05, 60)
    chances = [wrong_claims(ladder, float(Phi(radius)), 25) for radius in ladder.radii]
    assert max(chances) <= alpha
    assert min(chances) > alpha / 10
    assert wrong_claims(ladder, float(Phi(0.5)) - 0.05, 25) < chances[1]


def test_wrong_claims_in_simulation_with_the_exact_test() -> None:
    """At a threshold inside the ladder, looking at every draw for 60 draws."""
    rng, alpha, runs = np.random.default_rng(3), 0.2, 120
    ladder = vote_ladder((0.2, 0.3, 0.4), 1.0, alpha, 0.05, 60)
    wrong = 0
    for _ in range(runs):
        progress = start(ladder)
        while progress.draws < ladder.cap and progress.certified < 2:
            progress = step(ladder, progress, VOTE[int(rng.random() >= Phi(0.3))])
        wrong += progress.certified >= 2
    assert binomtest(wrong, runs, alpha, alternative="greater").pvalue > 1e-4
    assert wrong > runs * alpha / 4


def test_a_look_is_judged_by_bets_fixed_before_it() -> None:
    """A radius is reached exactly where the wealth of the ladder's own bet is 1/level, for all counts of 60 draws."""
    ladder = vote_ladder((0.2, 0.5), 1.0, 0.05, 0.05, 100)
    for hits in range(61):
        progress = step(ladder, start(ladder), [[hits, 60 - hits]])
        wealth = [float(log_wealth(row[0], (hits, 60 - hits))) for row in ladder.claims]
        assert [row[0] for row in progress.reached] == [value >= target(0.05) for value in wealth]
        against = [float(log_wealth(row[0], (hits, 60 - hits))) for row in ladder.refusals]
        assert list(progress.refused) == [value >= target(0.05) for value in against]


def test_a_refused_radius_takes_the_larger_ones_along() -> None:
    ladder = vote_ladder((0.2, 0.5, 0.8), 1.0, 0.05, 0.05, 100)
    progress = replace(start(ladder), refused=(False, True, False))
    assert progress.given_up == 2
    assert done(ladder, progress) is None
    assert done(ladder, replace(progress, reached=((True,), (False,), (False,)))) is Stop.GIVEN_UP
    claimed = replace(progress, reached=((True,), (True,), (False,)))
    assert claimed.certified == 2
    assert claimed.given_up == 1  # what is claimed is not given up
    assert done(ladder, replace(progress, reached=((True,),) * 3)) is Stop.CERTIFIED
    assert done(ladder, replace(start(ladder), draws=100)) is Stop.CAP


def test_every_rival_must_lose() -> None:
    one = vote_ladder((0.2, 0.5), 1.0, 0.05, 0.05, 100)
    two = Ladder(
        one.radii,
        tuple(row * 2 for row in one.claims),
        tuple(row * 2 for row in one.refusals),
        one.levels,
        one.beta,
        one.cap,
    )
    progress = step(two, start(two), [[40, 0], [20, 20]])
    assert progress.reached == ((True, False), (True, False))
    assert progress.certified == 0
    progress = step(two, progress, [[0, 160], [160, 0]])  # each at some time, not at the same
    assert progress.certified == 2


@pytest.mark.parametrize("t", [0.2, 0.6])
def test_giving_up_is_wrong_at_most_beta(t: float) -> None:
    beta = 0.3
    ladder = vote_ladder((t,), 1.0, 0.001, beta, 10**6)
    p = float(Phi(t)) + 1e-9
    chance = chance_of(
        start(ladder),
        lambda progress, cell: step(ladder, progress, VOTE[cell]),
        lambda progress: progress.given_up > 0,
        [p, 1 - p],
        12,
    )
    assert beta / 10 < chance <= beta


def test_easy_inputs_stop_early_and_hard_ones_at_the_cap() -> None:
    ladder = vote_ladder((0.25, 0.5), 0.5, 0.001, 0.05, 2000)
    reasons: dict[float, tuple[Stop, int]] = {}
    for p in (0.999, 0.1, 0.76, float(Phi(1.0)) + 0.02):
        progress, rate = start(ladder), 0.0
        for n in looks(ladder.cap):
            hits = math.floor(n * p) - progress.counts[0][0]
            progress = step(ladder, progress, [[hits, n - progress.draws - hits]])
            reason = done(ladder, progress)
            if reason:
                break
            rate += 1
        assert reason is not None
        reasons[p] = (reason, progress.draws)
    assert reasons[0.999][0] is Stop.CERTIFIED
    assert reasons[0.999][1] < 90
    assert reasons[0.1][0] is Stop.GIVEN_UP
    assert reasons[0.1][1] < 15
    assert reasons[0.76][0] is Stop.GIVEN_UP  # between the two thresholds
    assert reasons[float(Phi(1.0)) + 0.02] == (Stop.CAP, 2000)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=60), st.randoms())
def test_the_order_of_draws_within_a_look_does_not_matter(votes: list[bool], random: object) -> None:
    """One look over all of them, or the counts of two looks merged: the same wealth."""
    ladder = vote_ladder((0.2, 0.5), 1.0, 0.05, 0.05, 100)
    hits = sum(votes)
    whole = replay(ladder, [[[hits, len(votes) - hits]]])
    middle = len(votes) // 2
    first = sum(votes[:middle])
    parts = replay(ladder, [[[first, middle - first]], [[hits - first, len(votes) - middle - hits + first]]])
    assert parts.counts == whole.counts
    assert parts.draws == whole.draws == len(votes)
    # more looks can only have seen more
    assert np.all(np.asarray(parts.reached) >= np.asarray(whole.reached))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 80), st.integers(0, 80))
def test_more_hits_never_claim_less(hits: int, misses: int) -> None:
    ladder = vote_ladder((0.2, 0.5, 0.9), 1.0, 0.05, 0.05, 100)
    fewer = replay(ladder, [[[hits, misses + 1]]])
    more = replay(ladder, [[[hits + 1, misses]]])
    assert more.certified >= fewer.certified
    assert more.given_up <= fewer.given_up


def test_precision_stops_when_the_radius_can_hardly_grow() -> None:
    sigma, precision = 0.5, 0.1
    radii = precise_radii(precision, sigma, 1.5)
    assert radii[0] == pytest.approx(0.05 * sigma)
    assert 1.5 / 1.04 < radii[-1] <= 1.5
    ladder = vote_ladder(radii, sigma, 0.001, 0.05, 100_000, precision=precision)
    p, progress = float(Phi(0.9)), start(ladder)
    for n in looks(ladder.cap, growth=0.1):
        hits = round(n * p) - progress.counts[0][0]
        progress = step(ladder, progress, [[hits, n - progress.draws - hits]])
        reason = done(ladder, progress)
        if reason:
            break
    assert reason is Stop.PRECISE
    claimed = ladder.radii[progress.certified - 1]
    assert 0.45 / (1 + precision) <= claimed < 0.45
    assert ladder.radii[len(radii) - progress.given_up] <= claimed * (1 + precision)


@pytest.mark.parametrize(
    ("cap", "batch", "growth", "first"), [(10**5, 256, 0.02, 4), (1000, 1, 0.1, 1), (3, 8, 0.5, 4)]
)
def test_looks_rise_to_the_cap_in_whole_batches(cap: int, batch: int, growth: float, first: int) -> None:
    at = list(looks(cap, batch, growth, first))
    assert at[0] == min(first, cap)
    assert at[-1] == cap
    for a, b in pairwise(at):
        assert a < b
        assert b - a <= max(1, math.ceil(growth * a)) + batch
        if math.ceil(growth * a) >= batch and b < cap:
            assert b % batch == 0


def test_ladders_travel() -> None:
    ladder = vote_ladder((0.2, 0.5), 1.0, 0.05, 0.05, 100)
    assert pickle.loads(pickle.dumps(ladder)) == ladder  # noqa: S301


def test_what_is_not_a_ladder_is_refused() -> None:
    good = vote_ladder((0.2, 0.5), 1.0, 0.05, 0.05, 100)
    with pytest.raises(SettingError, match="rising"):
        vote_ladder((0.5, 0.2), 1.0, 0.05, 0.05, 100)
    with pytest.raises(SettingError, match="above alpha"):
        vote_ladder((0.2, 0.5), 1.0, 0.05, 0.05, 100, levels=(0.05, 0.06))
    with pytest.raises(SettingError, match="level each"):
        replace(good, levels=(0.05,))
    with pytest.raises(SettingError, match="cap"):
        replace(good, cap=0)
    with pytest.raises(SettingError, match="precision"):
        replace(good, precision=0.0)
    with pytest.raises(SettingError):
        list(looks(10, growth=0.0))
    with pytest.raises(SettingError):
        precise_radii(0.0, 1.0, 3.0)
