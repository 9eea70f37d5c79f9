"""Votes with a control variate: wrong claims by exact sums over all sequences of draws, and what breaks them."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import ndtr as Phi

from doublebubble.bounds import controlled_votes as controlled
from doublebubble.bounds.controlled_votes import (
    Change,
    Control,
    change_at,
    change_reserve,
    controlled_payoffs,
    is_majority,
)
from doublebubble.bounds.ladder import Ladder, vote_ladder
from doublebubble.bounds.planning import exact_reach
from doublebubble.bounds.sequences import Bet, largest_stake, log_wealth, spread_bet, target, vote_payoffs
from doublebubble.errors import InputError, SettingError
from doublebubble.geometry.profile import bin_masses
from doublebubble.types import Floats
from tests.bounds.exact import chance_of

EDGE = 0.4
MASS = float(Phi(EDGE))
T = 0.9
P0 = float(Phi(T))
BEFORE = 4
State = tuple[int, ...]


def control(low: float = 0.7, high: float = 0.95, pilot: int = 3) -> Control:
    """Two bins; a pilot that favours neither claim nor refusal much."""
    return Control((EDGE,), (low, high), ((pilot, 1), (pilot, 0)))


def ladder(alpha: float = 0.3, beta: float = 0.3, cap: int = 40) -> Ladder:
    return vote_ladder((T,), 1.0, alpha, beta, cap)


FAR = float(Phi(exact_reach(T, 0.01, 0.3, 40)))
"""What giving up aims at where a claim needs the level 0.01."""


def law(p: float, tilt: float) -> list[float]:
    """The chances of (bin 0, hit), (bin 0, miss), (bin 1, hit), (bin 1, miss), with p hits in all."""
    first = p - tilt * (1 - MASS)
    second = p + tilt * MASS
    assert 0 <= first <= 1 >= second
    return [MASS * first, MASS * (1 - first), (1 - MASS) * second, (1 - MASS) * (1 - second)]


def crossed(p: float, tilt: float, what: str, made: Control, depth: int = 12) -> float:
    """The chance that the radius is ever claimed, or given up, looking at every draw after the change at BEFORE draws.

    A state is the hits before the change, or those and the four cells after it.
    """
    plain = ladder(0.3 if what == "claim" else 0.01)

    @cache
    def changed(hits: int) -> Change:
        return change_at(plain, 1.0, 0, BEFORE, hits, [0], replace(made, pilot=((0, 0), (0, 0))))

    @cache
    def decided(state: State) -> bool:
        if sum(state[:2]) < BEFORE:
            return False
        table = np.array(state[2:]).reshape(2, 2)
        change = changed(state[0])
        return bool(change.won(table) if what == "claim" else change.refused(table))

    def step(state: State, cell: int) -> State:
        place = cell % 2 if sum(state[:2]) < BEFORE else 2 + cell
        return tuple(count + (at == place) for at, count in enumerate(state))

    nothing: State = (0,) * 6
    return chance_of(nothing, step, decided, law(p, tilt), depth)


TILTS = (0.0, 0.25)


@pytest.mark.parametrize("tilt", TILTS)
def test_wrong_claims_are_at_most_the_level_at_every_draw(tilt: float) -> None:
    """At the threshold and below, for control variates that fit and that do not; and right claims do come."""
    for made in (control(), control(0.95, 0.7), control(0.5, 0.9999)):
        assert crossed(P0, tilt, "claim", made) <= 0.3
        assert crossed(P0 - 0.05, tilt, "claim", made) <= 0.3
    assert crossed(P0, tilt, "claim", control()) > 0.03
    assert crossed(min(0.99, 1 - tilt * MASS), tilt, "claim", control()) > crossed(P0, tilt, "claim", control())


@pytest.mark.parametrize("tilt", TILTS)
def test_what_the_cap_reaches_is_given_up_at_most_beta_of_the_time(tilt: float) -> None:
    assert FAR > P0 + 0.01
    for made in (control(), control(0.95, 0.7), control(0.08, 0.1)):
        assert crossed(FAR, tilt / 5, "refuse", made) <= 0.3
    assert crossed(FAR, 0.05, "refuse", control(0.08, 0.1)) > 0.01
    assert crossed(0.3, 0.1, "refuse", control()) > 0.5


def test_without_its_mean_no_radius_would_be_claimed_and_every_one_given_up() -> None:
    """E c forgotten: at p = 0.99 a claim loses on average, and at p = p0 its refusal wins."""
    made = control()
    hit = np.array(law(0.99, 0.0)).reshape(2, 2)
    for bet, wins in ((made.claim(T, 0.01, 1000), True), (made.refusal(T, 0.01, 1000), False)):
        table = np.array(bet.payoffs).reshape(2, 2)
        mean = float(made.masses @ np.array(made.values)) * (1 if wins else -1)
        assert ((hit * table).sum() > 0) == wins
        assert ((hit * (table - mean)).sum() > 0) != wins


def test_a_control_variate_with_its_mean_twice_claims_what_is_false(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(payoffs: tuple[float, float], values: list[float], masses: list[float]) -> Floats:
        found: Floats = np.array(payoffs) - np.array(values)[:, None] + 1.6 * float(np.dot(values, masses))
        return found

    monkeypatch.setattr(controlled, "controlled_payoffs", twice)
    assert crossed(P0, 0.15, "claim", control()) > 0.4


@settings(max_examples=60)
@given(
    st.lists(st.floats(0.001, 0.999), min_size=4, max_size=4),
    st.floats(0.05, 3.0),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
)
def test_the_mean_payoff_is_that_of_counting_and_no_factor_is_negative(
    values: list[float], t: float, profile: list[float]
) -> None:
    edges = (-1.0, 0.2, 1.1)
    made = Control(edges, tuple(round(min(max(v, 0.001), 0.999), 4) for v in values), ((1, 0),) * 4)
    masses = bin_masses(edges)
    p = float(masses @ np.array(profile))
    for bet, sign, threshold in (
        (made.claim(t, 0.01, 1000), 1, float(Phi(t))),
        (made.refusal(t, 0.05, 1000), -1, float(Phi(t))),
    ):
        table = np.array(bet.payoffs).reshape(4, 2)
        mean = float(masses @ (np.array(profile) * table[:, 0] + (1 - np.array(profile)) * table[:, 1]))
        assert mean <= sign * (p - threshold) + 1e-15
        assert mean == pytest.approx(sign * (p - threshold), abs=1e-11)
        assert 1 + max(bet.stakes) * min(bet.payoffs) > 0
        assert math.fsum(bet.weights) <= 1


def test_a_stake_beyond_its_range_is_refused() -> None:
    bet = control().claim(T, 0.01, 1000)
    largest = 1 / (P0 - (MASS * 0.7 + (1 - MASS) * 0.95) + 0.95)
    assert max(bet.stakes) < largest
    with pytest.raises(SettingError, match="stakes: expected"):
        Bet(bet.payoffs, (largest * 1.001,), (0.5,))


def test_the_wealth_goes_on_from_where_counting_brought_it() -> None:
    plain = ladder(cap=400)
    none = np.zeros((2, 2), np.int64)
    for draws, hits in ((30, 30), (30, 26), (30, 10)):
        change = change_at(plain, 1.0, 0, draws, hits, [0], control())
        assert change.earned[0] == pytest.approx(plain.log_wealth([[hits, draws - hits]])[0, 0])
        assert change.conceded[0] == pytest.approx(plain.log_refusal([[hits, draws - hits]])[0, 0])
        assert change.won(none) == ([0] if change.earned[0] >= change.targets[0] else [])
    with pytest.raises(InputError, match=r"shape \(2, 2\)"):
        change.won(np.zeros((3, 2), np.int64))


def test_every_radius_keeps_the_target_of_its_own_level() -> None:
    """The smallest radius pays for all classes, so its level is the lowest."""
    several = vote_ladder((T, 1.5), 1.0, 0.3, 0.3, 40, (0.1, 0.3))
    change = change_at(several, 1.0, 0, BEFORE, 3, [0, 1], control(pilot=1))
    assert change.targets.tolist() == [target(0.1), target(0.3)]


def test_less_variance_takes_fewer_draws() -> None:
    """Where c is right, the log wealth grows faster than counting's best rate, KL(p, p0)."""
    p, tilt = P0 + 0.05, 0.2
    cells = np.array(law(p, tilt)).reshape(2, 2)
    c = np.round(cells[:, 0] / cells.sum(1), 4)
    made = Control((EDGE,), tuple(c.tolist()), ((0, 0), (0, 0)))
    bet = made.claim(T, 0.001, 100_000)
    growth = max(cells.ravel() @ np.log1p(stake * np.array(bet.payoffs)) for stake in bet.stakes)
    kl = p * math.log(p / P0) + (1 - p) * math.log((1 - p) / (1 - P0))
    assert growth > 1.03 * kl


@pytest.mark.parametrize("alpha", [0.4, 0.02])
def test_a_majority_is_shown_at_the_level_set_aside(alpha: float) -> None:
    """At p = 1/2, where it is hardest, by exact sums; and it takes few votes where it is clear."""
    cap = 60
    chance = chance_of(
        (0, 0),
        lambda state, cell: (state[0] + (cell == 0), state[1] + (cell == 1)),
        lambda state: is_majority(sum(state), state[0], alpha, cap),
        [0.5, 0.5],
        40,
    )
    assert 0 < chance <= controlled.MAJORITY * alpha
    assert is_majority(30, 30, 0.001, 100_000)
    assert not is_majority(10, 10, 0.001, 100_000)


def test_the_reserve_pays_for_both_events() -> None:
    assert Fraction(change_reserve(0.001, 2e-6)) >= Fraction(2) * Fraction(0.001) / 2000 + Fraction(2e-6) - Fraction(
        1, 10**18
    )


def test_what_is_left_of_the_variance() -> None:
    """By hand: residuals of the pilot's draws."""
    made = Control((0.0,), (0.25, 0.75), ((10, 30), (30, 10)))
    hits = np.repeat([1, 0, 1, 0], [10, 30, 30, 10])
    c = np.repeat([0.25, 0.75], [40, 40])
    assert made.left == pytest.approx(np.var(hits - c) / np.var(hits))
    assert made.variance == pytest.approx(0.1875)


def test_a_control_variate_fits_its_bins() -> None:
    with pytest.raises(SettingError, match="2 values and rows"):
        Control((0.0,), (0.5,), ((1, 1), (1, 1)))
    for wrong in (0.0, 1.0, 0.12345):
        with pytest.raises(SettingError, match="inside"):
            Control((0.0,), (0.5, wrong), ((1, 1), (1, 1)))
    with pytest.raises(SettingError, match="no more draws in the pilot"):
        change_at(ladder(), 1.0, 0, 3, 3, [0], control(pilot=9))
    with pytest.raises(SettingError, match="an open radius"):
        change_at(ladder(), 1.0, 0, 30, 30, [], control())


# What a draw pays


def growth(payoffs: Floats, law: Floats) -> float:
    """The fastest mean growth of the log wealth that one stake has, if the cells have these chances."""
    top = largest_stake(payoffs.ravel().tolist())
    found = minimize_scalar(
        lambda stake: -float((law * np.log1p(stake * payoffs)).sum()), bounds=(0, top), method="bounded"
    )
    return -float(found.fun)


@given(st.data())
def test_a_control_variate_never_raises_the_mean(data: st.DataObject) -> None:
    """For any masses, any control variate and any conditional law of the votes."""
    bins = data.draw(st.integers(1, 6))
    sizes = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=bins, max_size=bins)))
    masses = sizes / sizes.sum()
    control = data.draw(st.lists(st.floats(-3, 3), min_size=bins, max_size=bins))
    hit = np.array(data.draw(st.lists(st.floats(0, 1), min_size=bins, max_size=bins)))
    payoffs = np.array(vote_payoffs(data.draw(st.floats(0, 3))))
    law = masses[:, None] * np.stack([hit, 1 - hit], -1)
    plain = float((law * payoffs).sum())
    controlled = float((law * controlled_payoffs(payoffs, control, masses.tolist())).sum())
    assert plain - 1e-10 < controlled <= plain


def reached(bet: Bet, alpha: float, counts: State) -> bool:
    """Whether the wealth of these counts is enough to claim."""
    return bool(log_wealth(bet, counts) >= target(alpha))


def test_wrong_claims_with_a_control_variate_are_at_most_alpha_exactly() -> None:
    alpha, t = 0.3, 0.5
    masses, hit = [0.5, 0.3, 0.2], np.array([0.95, 0.5, 0.0])
    hit[2] = (float(Phi(t)) - 0.5 * hit[0] - 0.3 * hit[1]) / 0.2
    assert 0 <= hit[2] <= 1
    for control in ([0.0, 0.0, 0.0], [0.3, -0.2, -0.4], [-0.3, 0.2, 0.1]):
        payoffs = controlled_payoffs(vote_payoffs(t), control, masses).ravel().tolist()
        law = (np.array(masses)[:, None] * np.stack([hit, 1 - hit], -1)).ravel()
        bet = spread_bet(payoffs, alpha, 60, float(law @ np.square(payoffs)))
        none: State = (0,) * 6
        chance = chance_of(
            none,
            lambda counts, cell: tuple(count + (place == cell) for place, count in enumerate(counts)),
            partial(reached, bet, alpha),
            law.tolist(),
            6,
        )
        assert 0 < chance <= alpha


def test_a_good_control_variate_needs_fewer_draws_than_counting_can() -> None:
    """Votes that depend on z: growth above KL(p, p0), the most that counting allows; a bad one has less."""
    edges = np.linspace(-2.5, 2.5, 30)
    masses = np.diff(np.concatenate([[0.0], Phi(edges), [1.0]]))
    middle = np.concatenate([[-2.8], (edges[1:] + edges[:-1]) / 2, [2.8]])
    hit = Phi((0.65 - 0.8 * middle) / 0.6)
    t = 0.55
    p, p0 = float(masses @ hit), float(Phi(t))
    law = masses[:, None] * np.stack([hit, 1 - hit], -1)
    kl = p * math.log(p / p0) + (1 - p) * math.log((1 - p) / (1 - p0))
    plain = growth(np.broadcast_to(np.array(vote_payoffs(t)), law.shape), law)
    assert plain == pytest.approx(kl, rel=1e-3)
    good = growth(controlled_payoffs(vote_payoffs(t), hit.tolist(), masses.tolist()), law)
    bad = growth(controlled_payoffs(vote_payoffs(t), (-hit).tolist(), masses.tolist()), law)
    assert bad < plain < good / 1.3


def test_a_control_variate_and_its_masses_fit() -> None:
    for control, masses in (([0.1], [0.5, 0.5]), ([0.1, 0.1], [0.5, 0.4]), ([0.1, 0.1], [1.5, -0.5])):
        with pytest.raises(SettingError):
            controlled_payoffs((0.5, -0.5), control, masses)


def test_a_change_is_about_its_own_radii_in_units_of_sigma() -> None:
    sigma, cells = 0.5, [20, 3, 15, 0]
    control = Control((0.4,), (0.7, 0.95), ((1, 1), (1, 0)))
    three = vote_ladder((0.1, 0.4, 0.6), sigma, 0.05, 0.05, 400)
    change = change_at(three, sigma, 0, 30, 28, [1, 2], control)
    assert change.earned.tolist() == three.log_wealth([[28, 2]])[[1, 2], 0].tolist()
    expected = [float(log_wealth(control.claim(radius / sigma, 0.05, 400), cells)) for radius in (0.4, 0.6)]
    assert change.claims(np.tile(cells, (2, 1))).tolist() == pytest.approx(expected, rel=1e-9)
