"""The verifier's (F3) against sets chosen by sorting a fine grid, and against the bound that certificates use."""

from typing import cast

import numpy as np
import pytest
from scipy.stats import norm

from doublebubble.audit.reverify.first_order import excess, psi, slope_bound
from doublebubble.audit.reverify.numbers import Unconfirmed, mp
from doublebubble.audit.reverify.votes import Rule
from doublebubble.bounds.cumulant import cumulant

GRID = np.linspace(-12, 12, 240001)
MASS = norm.pdf(GRID) * (GRID[1] - GRID[0])
OFFSETS = (0.0, 0.3, 0.5, 0.8, 1.0)
SIZES = (0.02, 0.3, 1.5)
NOISE = 1e-20  # ends of tails are found to some thirty digits


def moment(s: float, offset: float, shares: list[tuple[float, float]]) -> float:
    """E[exp(s X) - 1 - s X] where h_0j is weighted by a set of mass q that makes it large, for each (j, q)."""
    total = float(np.sum(MASS * (np.expm1(-s * offset * GRID) + s * offset * GRID)))
    for j, q in shares:
        h = np.exp(s * (j - offset) * GRID) - np.exp(-s * offset * GRID) - s * j * GRID
        order = np.argsort(-h)
        total += float(np.sum(np.clip(q - np.cumsum(MASS[order]) + MASS[order], 0, MASS[order]) * h[order]))
    return total


@pytest.mark.parametrize("s", SIZES)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("q", [1e-4, 0.03, 0.4])
def test_two_classes_have_the_exact_moment(s: float, offset: float, q: float) -> None:
    true, found = moment(s, offset, [(2, q)]), float(psi(mp.mpf(s), mp.mpf(offset), mp.mpf(q), mp.mpf(q)))
    assert true * (1 - 1e-6) <= found <= true * (1 + 1e-5)


@pytest.mark.parametrize("s", SIZES)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(("not_a", "rival"), [(0.03, 0.03), (0.3, 0.3), (0.3, 0.1), (0.2, 0.001)])
def test_it_is_no_more_than_certificates_use(s: float, offset: float, not_a: float, rival: float) -> None:
    """And no less than what some votes have: those of B in its tail, and others where B's are not."""
    found = float(psi(mp.mpf(s), mp.mpf(offset), mp.mpf(not_a), mp.mpf(rival)))
    assert moment(s, offset, [(2, rival)]) * (1 - 1e-6) <= found <= cumulant(s, offset, not_a, rival) + 1e-15


@pytest.mark.parametrize("s", SIZES)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("q", [1e-4, 0.03, 0.4])
def test_with_one_mass_no_other_way_is_less(s: float, offset: float, q: float) -> None:
    ends, mass = [mp.mpf(s) * (j - mp.mpf(offset)) for j in range(3)], mp.mpf(q)
    together = excess(ends[2], ends[0], mass)
    for low in (0, 1):
        assert together <= excess(ends[1], ends[0], mass) + excess(ends[2], ends[low], mass) + NOISE


@pytest.mark.parametrize("shift", [None, 0.2])
def test_where_draws_prove_nothing_no_less_is_proved_than_the_largest_slope_and_the_shift(shift: float | None) -> None:
    """With a stake of next to nothing; the largest slope is that of two half-spaces, each of one class."""
    most = norm.pdf(norm.ppf(0.3)) + norm.pdf(norm.ppf(0.25)) + (shift or 0.0)
    numbers = {"n1": 1000, "n2": 1000, "offset": 0.3, "lam": 1e-3, "tilt": 1.0, "dot": 0.0, "norm1": 0.1, "norm2": 0.1}

    def proved(gamma: float) -> None:
        given = {**numbers, "gamma": gamma, **({} if shift is None else {"shift": shift})}
        rule = {"rule": "first_order", "numbers": given}
        slope_bound(cast(Rule, rule), 2000, 1 - mp.mpf(0.3), mp.mpf(0.25), mp.mpf(1e-2))

    proved(most * (1 + 1e-9))
    for part in (1e-6, 0.1, 0.5):
        with pytest.raises(Unconfirmed, match="the half moments prove a gradient"):
            proved(most * (1 - part))
