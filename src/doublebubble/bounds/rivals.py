"""What a draw pays against one rival class, and with a control variate: payoffs for (Q2). No torch, no randomness."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv

from doublebubble.bounds.sequences import Bet, informed_bet, spread_bet
from doublebubble.errors import SettingError
from doublebubble.types import Floats

_MARGIN = 1e-13  # of the terms' sizes; scipy's normal distribution function was seen to err by 1e-15


def price_loss(price: float, t: float) -> float:
    """At least C(k) = k Phi(h) - Phi(h - t), h = ln(k)/t + t/2: what a price k on a mass costs at distance t sigma."""
    if not (price > 0 and t > 0):
        raise SettingError(f"price: expected a price and a distance above 0, got {price!r} and {t!r}")
    h = math.log(price) / t + t / 2
    paid, kept = price * float(Phi(h)), float(Phi(h - t))
    return paid - kept + _MARGIN * (paid + kept) + 1e-15  # both may underflow


def rival_payoffs(price_a: float, price_b: float, t: float) -> tuple[float, float, float]:
    """Payoffs of a vote for A, for B, for another class: of mean at most 0 if B is not behind A within t sigma.

    X - tau with X = k_A 1[A] + k_B 1[not B] and tau = 1 + C(k_A) + C(k_B), rounded down; any prices are sound.
    """  # (Q2)
    tau = 1 + price_loss(price_a, t) + price_loss(price_b, t)
    slack = _MARGIN * (tau + price_a + price_b)
    return price_a + price_b - tau - slack, -tau - slack, price_b - tau - slack


def rival_prices(p_a: float, p_b: float, t: float) -> tuple[float, float]:
    """Prices that let the wealth grow fastest if these were the probabilities: a guess, fixed before the draws.

    The hypotheses against A form a convex set of (p_A, p_B); the prices are those of its tangent at the point that
    looks most like the guess.
    """
    if not (0 < p_a < 1 and 0 < p_b < 1 and p_a + p_b <= 1):
        raise SettingError(f"guess: expected probabilities of A and B, got {p_a!r} and {p_b!r}")
    rest = max(1 - p_a - p_b, 1e-12)

    def divergence(h: float) -> float:
        """KL of the guess from the point (Phi(h), Phi(h - 2t)) of the boundary, at most 1 in sum for h <= t."""
        a, b = float(Phi(h)), float(Phi(h - 2 * t))
        other = max(float(Phi(-h)) - b, 1e-300)
        return -(p_a * math.log(max(a, 1e-300)) + p_b * math.log(max(b, 1e-300)) + rest * math.log(other))

    span = (min(float(Phi_inv(p_a)), float(Phi_inv(p_b)) + 2 * t, t) - 1.0, t)
    h_a = float(minimize_scalar(divergence, bounds=span, method="bounded", options={"xatol": 1e-9}).x)
    return math.exp(t * h_a - t * t / 2), math.exp(t * (2 * t - h_a) - t * t / 2)


def rival_bets(
    p_a: float, p_b: float, t: float, levels: tuple[float, float], cap: int, select: Sequence[int] = (0, 0, 0)
) -> tuple[Bet, Bet]:
    """The claim and the refusal against one rival at distance t sigma; counts are of (A, B, other).

    p_a and p_b are guesses from the select draws, `select` the counts of those draws, and `levels` are alpha and beta.
    """
    prices = rival_prices(p_a, p_b, t)
    payoffs = rival_payoffs(*prices, t)
    masses = (p_a, p_b, max(1 - p_a - p_b, 0.0))
    claim, refusal = levels
    return bet_on(payoffs, masses, claim, cap, select), bet_on(opposed(payoffs), masses, refusal, cap, select)


def bet_on(
    payoffs: Sequence[float], masses: Sequence[float], level: float, cap: int, select: Sequence[float] | None = None
) -> Bet:
    """A bet on these payoffs, spread by the variance under guessed masses of the cells, informed by select draws."""
    values, share = np.asarray(payoffs), np.asarray(masses)
    variance = float(share @ values**2 - (share @ values) ** 2)
    bet = spread_bet(payoffs, level, cap, max(variance, 1e-6 * float(np.max(values**2))))
    return bet if select is None or not any(select) else informed_bet(bet, select)


def opposed(payoffs: Sequence[float]) -> tuple[float, ...]:
    """Payoffs of mean at most 0 if the mean of these is at least what their own rounding took off: for giving up."""
    slack = 4 * _MARGIN * max(abs(v) for v in payoffs)
    return tuple(-v - slack for v in payoffs)


def controlled_payoffs(payoffs: npt.ArrayLike, control: Sequence[float], masses: Sequence[float]) -> Floats:
    """Payoffs (bins, votes) less a control variate: their mean is at most that of `payoffs`, and nearly equal to it.

    `payoffs` has one row for each bin of z, or one row for all; `control` is c on each bin, fixed before the draws;
    `masses` are the probabilities of the bins, correct to 1e-13 of themselves and of all.
    """
    c, m = np.asarray(control, np.float64), np.asarray(masses, np.float64)
    if c.shape != m.shape or c.ndim != 1 or not np.all(m >= 0) or abs(math.fsum(m) - 1) > 1e-12:
        raise SettingError("control variate: expected a number and a mass for each bin, masses of sum 1")
    table = np.broadcast_to(np.asarray(payoffs, np.float64), (len(c), np.asarray(payoffs).shape[-1]))
    # c enters with its mean taken off; what the masses or the sums get wrong is taken off as well
    slack = 4 * _MARGIN * (np.abs(table).max() + 2 * np.abs(c).max() + math.fsum(np.abs(c)))
    return np.asarray(table - c[:, None] + math.fsum(m * c) - slack, np.float64)
