"""(F6) against linear programs over pairs of opposite points, closed forms and 60-digit arithmetic."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import ndtri
from scipy.stats import norm

from doublebubble.errors import SettingError
from doublebubble.geometry import PairMass, dipole_radius
from doublebubble.geometry.dipole import _ends, _lead

HALF = np.linspace(0.005, 7.995, 800)
MASS = norm.pdf(HALF) / (2 * norm.pdf(HALF).sum())


def least_probability(both: float, single: float, t: float) -> float:
    """Minimise over the share of each pair (z, -z) on which f is 1 at both ends, only at z, only at -z."""
    up, down = MASS * np.exp(t * HALF - t * t / 2), MASS * np.exp(-t * HALF - t * t / 2)
    zero = np.zeros_like(MASS)
    result = linprog(
        np.r_[up + down, up, down],
        A_ub=np.hstack([np.eye(len(HALF))] * 3),
        b_ub=np.ones(len(HALF)),
        A_eq=np.array([np.r_[2 * MASS, zero, zero], np.r_[zero, MASS, MASS]]),
        b_eq=[both, single],
        bounds=(0, 1),
    )
    assert result.fun is not None
    return float(result.fun)


@pytest.mark.parametrize(("both", "single"), [(0.8, 0.08), (0.5, 0.2), (0.3, 0.3), (0.9, 0.0)])
def test_binary_radius_is_where_the_least_probability_is_one_half(both: float, single: float) -> None:
    mass = PairMass(both, single)
    t = dipole_radius(mass, [mass], 1.0)
    assert least_probability(both, single, t) == pytest.approx(0.5, abs=2e-4)


@given(p=st.floats(0.5001, 1 - 1e-9), q=st.floats(1e-9, 0.4))
def test_half_spaces_are_the_multiclass_radius(p: float, q: float) -> None:
    """Through a half-space of mass p > 1/2 no pair misses twice: C_S = 2p - 1, C_N = 1 - p."""
    q = min(q, 1 - p)
    radius = dipole_radius(PairMass(2 * p - 1, 1 - p), [PairMass(1 - 2 * q, q)], 0.5)
    assert radius == pytest.approx(0.25 * float(ndtri(p) - ndtri(q)), rel=1e-7, abs=1e-9)


def test_a_slab_gains_what_first_order_gains() -> None:
    assert dipole_radius(PairMass(0.9, 0.0), [PairMass(0.9, 0.0)], 1.0) / float(ndtri(0.9)) == pytest.approx(
        1.2825, abs=1e-4
    )


@given(both=st.floats(0, 0.99), part=st.floats(0, 1), loss=st.floats(0, 1), which=st.sampled_from(["both", "single"]))
def test_weaker_bounds_never_give_more(both: float, part: float, loss: float, which: str) -> None:
    mass = PairMass(both, 0.5 * part * (1 - both))
    weaker = PairMass(both * loss, mass.single) if which == "both" else PairMass(both, mass.single * loss)
    radius = dipole_radius(mass, [mass], 1.0)
    assert np.isfinite(radius)
    assert dipole_radius(weaker, [mass], 1.0) <= radius
    assert dipole_radius(mass, [weaker], 1.0) <= radius
    assert dipole_radius(mass, [mass, weaker], 1.0) == dipole_radius(mass, [weaker], 1.0)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (PairMass(0.7, 0.1), PairMass(0.75, 0.12)),
        (PairMass(0.3, 0.2), PairMass(0.8, 0.05)),
        (PairMass(0.999, 0.0004), PairMass(0.9995, 0.0002)),
    ],
)
def test_never_above_the_exact_radius(a: PairMass, b: PairMass) -> None:
    radius = dipole_radius(a, [b], 1.0)
    with mp.workdps(60):

        def quantile(p: mp.mpf) -> mp.mpf:
            return mp.sqrt(2) * mp.erfinv(2 * p - 1)

        def least(mass: PairMass, t: mp.mpf) -> mp.mpf:
            end, half = quantile((1 + mp.mpf(mass.both)) / 2), quantile(mp.mpf(mass.single))
            return mp.ncdf(end - t) - mp.ncdf(-end - t) + mp.ncdf(half - t)

        exact = mp.findroot(lambda t: least(a, t) + least(b, t) - 1, radius)
        assert mp.mpf(radius) <= exact
        assert mp.mpf(radius) >= exact * (1 - mp.mpf(10) ** -11)


@pytest.mark.parametrize(
    ("a", "others", "sigma"),
    [
        (PairMass(1.0, 0.0), [PairMass(0.5, 0.0)], 1.0),
        (PairMass(0.5, 0.3), [PairMass(0.5, 0.0)], 1.0),
        (PairMass(0.5, -0.1), [PairMass(0.5, 0.0)], 1.0),
        (PairMass(float("nan"), 0.0), [PairMass(0.5, 0.0)], 1.0),
        (PairMass(0.5, 0.1), [], 1.0),
        (PairMass(0.5, 0.1), [PairMass(0.5, 0.0)], 0.0),
    ],
)
def test_impossible_arguments_are_refused(a: PairMass, others: list[PairMass], sigma: float) -> None:
    with pytest.raises(SettingError, match="expected"):
        dipole_radius(a, others, sigma)


masses = st.tuples(st.floats(0, 0.9999), st.floats(0, 1)).map(lambda m: PairMass(m[0], 0.5 * m[1] * (1 - m[0])))


@given(mass=masses)
@example(mass=PairMass(0.734375, 2.5617401739619856e-217))
def test_slab_and_half_line_hold_no_more_than_the_masses(mass: PairMass) -> None:
    a, b = _ends(mass)
    with mp.workdps(40):
        assert mp.ncdf(a) - mp.ncdf(-mp.mpf(a)) <= mp.mpf(mass.both)
        assert mp.ncdf(b) <= mp.mpf(mass.single)


@given(first=masses, second=masses, t=st.floats(0, 6))
def test_the_lead_is_below_the_exact_one_for_any_ends(first: PairMass, second: PairMass, t: float) -> None:
    ends = _ends(first), _ends(second)
    with mp.workdps(40):
        exact = mp.mpf(-1)
        for a, b in ends:
            exact += mp.ncdf(a - mp.mpf(t)) - mp.ncdf(-mp.mpf(a) - t) + mp.ncdf(b - mp.mpf(t))
        assert exact - mp.mpf(10) ** -12 <= mp.mpf(_lead(t, *ends)) <= exact
