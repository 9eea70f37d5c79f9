"""Payoffs against rivals and with control variates: their means under every truth, and wrong claims by exact sums."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv

from doublebubble.bounds.ladder import Ladder, start, step, vote_ladder
from doublebubble.bounds.rivals import (
    bet_on,
    controlled_payoffs,
    opposed,
    price_loss,
    rival_bets,
    rival_payoffs,
    rival_prices,
)
from doublebubble.bounds.sequences import largest_stake, vote_payoffs
from doublebubble.errors import SettingError
from doublebubble.geometry import cohen_radius
from doublebubble.types import Floats
from tests.bounds.exact import chance_of

PRICES = st.floats(0.05, 20)


def growth(payoffs: Floats, law: Floats) -> float:
    """The fastest mean growth of the log wealth that one stake has, if the cells have these chances."""
    top = largest_stake(payoffs.ravel().tolist())
    found = minimize_scalar(
        lambda stake: -float((law * np.log1p(stake * payoffs)).sum()), bounds=(0, top), method="bounded"
    )
    return -float(found.fun)


@given(PRICES, st.floats(0.01, 4))
def test_the_loss_of_a_price_is_rounded_up(price: float, t: float) -> None:
    with mp.workdps(40):
        h = mp.log(price) / t + mp.mpf(t) / 2
        truth = price * mp.ncdf(h) - mp.ncdf(h - t)
        assert truth <= price_loss(price, t) <= truth + mp.mpf("1e-11") * (1 + price)


@given(PRICES, PRICES, st.floats(0.01, 3), st.floats(0.001, 0.999), st.floats(0, 1))
def test_any_prices_lose_money_where_the_rival_is_not_behind(
    price_a: float, price_b: float, t: float, p_a: float, share: float
) -> None:
    """Truth by the Cohen radius: if it is below t, the mean payoff is at most 0 whatever the prices."""
    p_b = share * (1 - p_a)
    if p_b == 0 or cohen_radius(p_a, p_b, 1.0) > t:
        return
    assert np.dot(rival_payoffs(price_a, price_b, t), (p_a, p_b, 1 - p_a - p_b)) <= 1e-15


@settings(deadline=None)
@given(st.floats(0.05, 2), st.floats(-3, 1), st.floats(0.0, 0.95))
def test_good_prices_make_money_as_soon_as_the_rival_is_behind(t: float, h: float, inward: float) -> None:
    """At the boundary the tangent's mean payoff is 0; just inside it is above 0."""
    h = min(h, t - 1e-3)
    p_a, p_b = float(Phi(h)), float(Phi(h - 2 * t))
    prices = math.exp(t * h - t * t / 2), math.exp(t * (2 * t - h) - t * t / 2)
    law = (p_a, p_b, 1 - p_a - p_b)
    assert abs(np.dot(rival_payoffs(*prices, t), law)) < 1e-11 * sum(prices)
    behind = (p_a + 0.3 * inward * law[2] + 1e-3 * p_b, p_b * (1 - 1e-3), 0.0)
    behind = (behind[0], behind[1], 1 - behind[0] - behind[1])
    if p_b > 1e-6 and behind[2] > 1e-6 and cohen_radius(behind[0], behind[1], 1.0) > t * (1 + 1e-3):
        assert np.dot(rival_payoffs(*rival_prices(behind[0], behind[1], t), t), behind) > 0


@pytest.mark.parametrize(("p_a", "p_b", "t"), [(0.6, 0.2, 0.3), (0.45, 0.1, 0.4), (0.9, 0.05, 1.0), (0.7, 0.29, 0.2)])
def test_prices_are_the_best_there_are(p_a: float, p_b: float, t: float) -> None:
    """Their growth is the divergence from the hypotheses, which no bet can beat, and other prices have less."""
    law = np.array([p_a, p_b, 1 - p_a - p_b])
    ours = growth(np.array(rival_payoffs(*rival_prices(p_a, p_b, t), t)), law)
    hs = np.linspace(-3, t, 400_001)[:-1]
    null = np.stack([Phi(hs), Phi(hs - 2 * t), Phi(-hs) - Phi(hs - 2 * t)], -1)
    least = float((law * np.log(law / null)).sum(-1).min())
    assert ours == pytest.approx(least, rel=1e-4)
    for factors in ((1.3, 1.0), (0.8, 1.0), (1.0, 1.3), (1.0, 0.8)):
        a, b = (k * f for k, f in zip(rival_prices(p_a, p_b, t), factors, strict=True))
        assert growth(np.array(rival_payoffs(a, b, t)), law) < ours


def test_one_rival_only_is_counting_votes() -> None:
    t, p_a = 0.7, 0.9
    payoffs = rival_payoffs(*rival_prices(p_a, 1 - p_a, t), t)
    hit, miss = vote_payoffs(t)
    assert payoffs[0] / payoffs[1] == pytest.approx(hit / miss, rel=1e-5)


def rival_ladder(radii: tuple[float, ...], alpha: float, beta: float = 0.05, cap: int = 60) -> Ladder:
    """A against B and C, guessed at (.7, .2, .1) from ten select draws."""
    rows = [[rival_bets(0.7, b, t, (alpha, beta), cap, select) for b, select in GUESSES] for t in radii]
    claims, refusals = (tuple(tuple(pair[i] for pair in row) for row in rows) for i in (0, 1))
    return Ladder(radii, claims, refusals, (alpha,) * len(radii), beta, cap)


GUESSES = ((0.2, (7, 2, 1)), (0.1, (7, 1, 2)))
VOTES = ([[1, 0, 0], [1, 0, 0]], [[0, 1, 0], [0, 0, 1]], [[0, 0, 1], [0, 1, 0]])  # of A, of B, of C


@pytest.mark.parametrize("critical", [1, 2])
@pytest.mark.parametrize("h", [0.0, -0.3])
def test_wrong_claims_against_rivals_are_at_most_alpha_exactly(critical: int, h: float) -> None:
    """One rival is just not behind at the second radius; the other is far behind, or as near."""
    alpha, radii = 0.3, (0.1, 0.35)
    ladder = rival_ladder(radii, alpha)
    p_a, near = float(Phi(h)), float(Phi(h - 2 * radii[1]))
    law = [p_a, 0.0, 0.0]
    law[critical], law[3 - critical] = near, 1 - p_a - near
    if law[3 - critical] > near:
        law = [p_a, (1 - p_a) / 2, (1 - p_a) / 2]  # then both are too near
    chance = chance_of(
        start(ladder),
        lambda progress, cell: step(ladder, progress, VOTES[cell]),
        lambda progress: progress.certified == 2,
        law,
        12,
    )
    assert chance <= alpha
    refused = chance_of(
        start(ladder),
        lambda progress, cell: step(ladder, progress, VOTES[cell]),
        lambda progress: progress.certified >= 1,
        [0.5, 0.5, 0.0] if critical == 1 else [0.5, 0.0, 0.5],
        12,
    )
    assert alpha / 20 < refused <= alpha


def test_giving_up_on_a_rival_is_wrong_at_most_beta() -> None:
    """The mean payoff is exactly 0 against B at the tangent point, and A is far ahead of C."""
    beta, t, h = 0.3, 0.3, -0.1
    prices = math.exp(t * h - t * t / 2), math.exp(t * (2 * t - h) - t * t / 2)
    payoffs = rival_payoffs(*prices, t)
    law = [float(Phi(h)), float(Phi(h - 2 * t)), float(Phi(-h) - Phi(h - 2 * t))]
    claim, refusal = bet_on(payoffs, law, 0.001, 60), bet_on(opposed(payoffs), law, beta, 60)
    ladder = Ladder((t,), ((claim,),), ((refusal,),), (0.001,), beta, 60)
    cells = [[[int(i == j) for j in range(3)]] for i in range(3)]
    chance = chance_of(
        start(ladder),
        lambda progress, cell: step(ladder, progress, cells[cell]),
        lambda progress: progress.refused[0],
        law,
        12,
    )
    assert beta / 20 < chance <= beta


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


def test_wrong_claims_with_a_control_variate_are_at_most_alpha_exactly() -> None:
    alpha, t = 0.3, 0.5
    masses, hit = [0.5, 0.3, 0.2], np.array([0.95, 0.5, 0.0])
    hit[2] = (float(Phi(t)) - 0.5 * hit[0] - 0.3 * hit[1]) / 0.2
    assert 0 <= hit[2] <= 1
    for control in ([0.0, 0.0, 0.0], [0.3, -0.2, -0.4], [-0.3, 0.2, 0.1]):
        payoffs = controlled_payoffs(vote_payoffs(t), control, masses).ravel().tolist()
        law = (np.array(masses)[:, None] * np.stack([hit, 1 - hit], -1)).ravel()
        bet, against = bet_on(payoffs, law, alpha, 60), bet_on(opposed(payoffs), law, 0.05, 60)
        ladder = Ladder((t,), ((bet,),), ((against,),), (alpha,), 0.05, 60)
        cells = [[[int(i == j) for j in range(6)]] for i in range(6)]
        chance = chance_of(
            start(ladder),
            lambda progress, cell, ladder=ladder, cells=cells: step(ladder, progress, cells[cell]),  # type: ignore[misc]
            lambda progress: progress.certified == 1,
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


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SettingError):
        price_loss(0.0, 1.0)
    with pytest.raises(SettingError):
        price_loss(1.0, 0.0)
    with pytest.raises(SettingError):
        rival_prices(0.7, 0.4, 0.1)
    for control, masses in (([0.1], [0.5, 0.5]), ([0.1, 0.1], [0.5, 0.4]), ([0.1, 0.1], [1.5, -0.5])):
        with pytest.raises(SettingError):
            controlled_payoffs((0.5, -0.5), control, masses)


def test_counting_and_rivals_agree_on_the_radius() -> None:
    """Where others are spread over classes, rivals certify what votes alone cannot."""
    t = 0.4
    counts = 55, 15  # of a hundred: A, B; the rest spread over others
    assert float(Phi_inv(0.55)) < t < cohen_radius(0.55, 0.15, 1.0)
    claim, refusal = rival_bets(0.55, 0.15, t, (0.001, 0.05), 10**5)
    ladder = Ladder((t,), ((claim,),), ((refusal,),), (0.001,), 0.05, 10**5)
    progress = step(ladder, start(ladder), [[10 * counts[0], 10 * counts[1], 10 * (100 - sum(counts))]])
    assert progress.certified == 1
    votes = vote_ladder((t,), 1.0, 0.001, 0.05, 10**5)
    assert step(votes, start(votes), [[10 * counts[0], 10 * (100 - counts[0])]]).certified == 0
