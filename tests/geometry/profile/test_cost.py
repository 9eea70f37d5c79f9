"""(R1) on planar classifiers whose smoothed truth is known: many checks, and bugs planted to see that they can fail."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import ndtr

from doublebubble.errors import SettingError
from doublebubble.geometry.profile import Prices, PriceTable, bin_masses, cost, default_edges
from doublebubble.geometry.profile import slices as slices_module
from doublebubble.types import Floats

from .planar import Planar, between, cells, density

EDGES = default_edges(9)
MASSES = between(np.concatenate(([-np.inf], EDGES, [np.inf])))
PARTS, ROWS = 5, 24
Z, Y = cells(EDGES, PARTS, ROWS)
MIDDLE_Z = np.clip(0.5 * (np.clip(Z[1:], -6, 6) + np.clip(Z[:-1], -6, 6)), -4, 4)
MIDDLE_Y = 0.5 * (np.clip(Y[1:], -5, 5) + np.clip(Y[:-1], -5, 5))


def random_prices(rng: np.random.Generator, a: float, b: float) -> Prices:
    """Prices about those that a displacement (a, b) calls for, k_A <= k_B; some have mu = 0."""
    z = np.concatenate((EDGES[:1] - 0.3, 0.5 * (EDGES[1:] + EDGES[:-1]), EDGES[-1:] + 0.3))
    k_a = np.exp(a * z - 0.5 * a * a + b * rng.normal(0.3, 0.5) + rng.normal(0, 0.15, len(z)))
    return Prices(EDGES, k_a, k_a + rng.exponential(0.3, len(z)), float(rng.choice([0.0, 0.3 * b, b, 1.0])))


def worst_for(prices: Prices, a: float, b: float) -> Planar:
    """The classifier that makes (R1) nearly an equality: A, and not B, where their brackets are positive."""
    w = np.exp(a * MIDDLE_Z[:, None] + b * MIDDLE_Y - 0.5 * (a * a + b * b))
    k_a, k_b = (np.repeat(k, PARTS)[:, None] + prices.mu * MIDDLE_Y for k in (prices.k_a, prices.k_b))
    return Planar(Z, Y, (k_a > w).astype(np.float64), (k_b <= w).astype(np.float64), PARTS)


def any_classifier(rng: np.random.Generator) -> Planar:
    f_a = rng.uniform(size=(len(Z) - 1, ROWS)) ** rng.choice([0.2, 1.0])
    return Planar(Z, Y, f_a, (1 - f_a) * rng.uniform(size=f_a.shape), PARTS)


class Checks(NamedTuple):
    """Prices, classifiers and displacements, with the true leads there."""

    prices: list[Prices]
    planar: list[Planar]
    a: Floats
    b: Floats
    leads: Floats

    def excess(self, sign: float = -1.0, prices: list[Prices] | None = None, mirrored: float = 1.0) -> Floats:
        """The bound (R1) minus the truth: a positive number is a violation."""
        values = np.array([value(p, f, sign) for p, f in zip(self.prices, self.planar, strict=True)])
        costs = PriceTable(prices or self.prices).cost(np.arange(len(self.a)), mirrored * self.a, self.b)
        return np.asarray(values - costs - self.leads, np.float64)


def checks(count: int, seed: int) -> Checks:
    rng = np.random.default_rng(seed)
    angle, length = rng.uniform(0, np.pi, count), rng.uniform(0.1, 2, count)
    a, b = length * np.cos(angle), length * np.sin(angle) * (np.arange(count) % 7 > 0)
    prices = [random_prices(rng, s, t) for s, t in zip(a, b, strict=True)]
    some = [worst_for(prices[i], a[i], b[i]) if i % 4 else any_classifier(rng) for i in range(count)]
    return Checks(prices, some, a, b, np.array([f.lead(s, t) for f, s, t in zip(some, a, b, strict=True)]))


def value(prices: Prices, planar: Planar, sign: float) -> float:
    f_a, f_b = planar.given_bin()
    mean = float(MASSES @ (prices.k_a * f_a + prices.k_b * (1 - f_b)))
    return mean - 1 + sign * prices.mu * abs(planar.slope)


@pytest.mark.parametrize("seed", range(4))
def test_ten_thousand_checks_find_no_violation(seed: int) -> None:
    found = checks(2500, seed).excess()
    assert found.max() <= 0
    assert found.max() > -0.01  # and the bound is near equality somewhere


def test_the_checks_see_planted_bugs(monkeypatch: pytest.MonkeyPatch) -> None:
    some = checks(500, 11)
    assert some.excess().max() <= 0
    assert some.excess(sign=1.0).max() > 0  # mu gamma added
    assert some.excess(sign=0.0).max() > 0  # mu gamma forgotten
    assert some.excess(mirrored=-1.0).max() > 0
    rolled = [Prices(p.edges, np.roll(p.k_a, 1), np.roll(p.k_b, 1), p.mu) for p in some.prices]
    assert some.excess(prices=rolled).max() > 0  # prices of the next bin
    masses = cost.differences
    monkeypatch.setattr(cost, "differences", lambda z: 0.95 * masses(z))
    assert some.excess().max() > 0
    monkeypatch.setattr(cost, "differences", masses)
    offsets = slices_module._offsets
    monkeypatch.setattr(slices_module, "_offsets", lambda eta: tuple(0.9 * L for L in offsets(eta)))
    assert some.excess().max() <= 0  # wrong roots cost accuracy, not validity


def test_chords_lie_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against chords so short that they are the integral; two wrong ways to weigh their ends are seen."""
    some = checks(60, 5)
    coarse = some.excess()
    monkeypatch.setattr(cost, "_CHORD", 0.004)
    fine = some.excess()
    monkeypatch.undo()
    assert np.all(coarse <= fine + 1e-8)
    assert np.max(fine - coarse) < 0.05
    right = cost._chord_weight
    for wrong in (lambda mass, *_: mass * 1.0, lambda mass, *rest: mass - right(mass, *rest)):
        monkeypatch.setattr(cost, "_chord_weight", wrong)
        assert np.any(some.excess() > fine + 1e-4)
        monkeypatch.undo()


@pytest.mark.parametrize("end", [0, -1])
@pytest.mark.parametrize(("a", "b", "mu"), [(0.8, 0.3, 0.2), (-0.8, 0.3, 0.2), (0.0, 0.5, 0.1), (0.5, 0.0, 0.0)])
def test_an_unbounded_bin_counts(end: int, a: float, b: float, mu: float) -> None:
    """Only one outermost bin is priced, and it holds half of the mass: what it costs against the sum of many slices."""
    edges = np.array([0.0, 3.0]) if end == 0 else np.array([-3.0, 0.0])
    k = np.full(3, -50.0)
    k[end] = 2.0
    z = np.linspace(-9, 9, 36_001)
    z = z[z < 0] if end == 0 else z[z > 0]
    c = slices_module.slice_cost(np.array([2.0]), np.array([mu]), np.array([b]), a * z - 0.5 * a * a)
    truth = 2 * float((c * density(z)).sum()) * 5e-4
    assert truth - 1e-5 <= float(Prices(edges, k, k, mu).cost(a, b)[0])


def test_masses() -> None:
    assert bin_masses(EDGES) == pytest.approx(MASSES, rel=1e-13)
    assert bin_masses(EDGES).sum() == pytest.approx(1, abs=1e-14)


def test_masses_are_kept_for_their_own_edges_and_nobody_can_change_them() -> None:
    first, moved = bin_masses(EDGES), np.array(EDGES) + 0.01
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.5
    assert bin_masses(list(EDGES)) is first
    assert bin_masses(moved)[0] == pytest.approx(ndtr(moved[0]), rel=1e-13)
    moved[0] -= 0.02
    assert bin_masses(moved)[0] == pytest.approx(ndtr(moved[0]), rel=1e-13), "the edges as they are now"
    for wrong in ([], [[0.0, 1.0]], [0.0, 0.0], [0.0, 7.0]):
        with pytest.raises(SettingError, match="edges: expected"):
            bin_masses(wrong)


def test_functionals_together_cost_what_each_costs_alone() -> None:
    rng = np.random.default_rng(3)
    rows = [random_prices(rng, a, 0.5) for a in (-0.5, 0.2, 1.0)]
    a, b = rng.uniform(-1, 1, 30), rng.uniform(0, 1, 30) * (np.arange(30) % 5 > 0)
    row = rng.integers(0, 3, 30)
    together = PriceTable(rows).cost(row, a, b)
    alone = [rows[r].cost(s, t)[0] for r, s, t in zip(row, a, b, strict=True)]
    assert together == pytest.approx(alone, rel=1e-13)


def test_more_chords_never_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = random_prices(np.random.default_rng(5), 1.0, 0.4)
    found = []
    for chord in (0.3, 0.15, 0.075, 0.0375):
        monkeypatch.setattr(cost, "_CHORD", chord)
        found.append(float(prices.cost(1.0, 0.4)[0]))
    assert found == sorted(found, reverse=True)
    assert found[1] - found[2] == pytest.approx(4 * (found[2] - found[3]), rel=0.5)  # second order


def test_what_cannot_be_meant() -> None:
    k = np.ones(len(EDGES) + 1)
    good = Prices(EDGES, k, k, 0.1)
    for bad in (
        good._replace(mu=-0.1),
        good._replace(mu=float("nan")),
        good._replace(k_a=k[:-1]),
        good._replace(k_b=np.full(len(k), np.nan)),
        good._replace(edges=EDGES[::-1]),
        good._replace(edges=np.array([0.0, 1e-3])),
        good._replace(edges=np.array([np.nan])),
    ):
        with pytest.raises(SettingError):
            bad.cost(0.5, 0.5)
    for a, b in [(0.0, -0.1), (7.0, 0.0), (np.nan, 0.1), (0.1, np.nan)]:
        with pytest.raises(SettingError):
            good.cost(a, b)
    with pytest.raises(SettingError):
        PriceTable([good, good._replace(edges=EDGES + 0.01)])
