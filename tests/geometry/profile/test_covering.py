"""(R3): no covered displacement has another class, on planar classifiers known exactly; and little radius is lost."""

from math import inf, pi

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtri

from doublebubble.errors import SettingError
from doublebubble.geometry.profile import (
    GuessedProfile,
    Prices,
    PriceTable,
    Sector,
    checked_guess,
    covered_radius,
    covering,
    default_edges,
    design_sectors,
    mean_value,
    sector_ends,
    sector_value,
)
from doublebubble.types import Floats

from .planar import Planar, cells

EDGES = default_edges(16)
PARTS, ROWS = 3, 40
Z, Y = cells(EDGES, PARTS, ROWS)
MIDDLES = np.meshgrid(np.clip(0.5 * (Z[1:] + Z[:-1]), -4, 4), np.clip(0.5 * (Y[1:] + Y[:-1]), -4, 4), indexing="ij")


def corner(z0: float, tilt: float, blur: float) -> Planar:
    """A left of a boundary that bends away on both sides of the line, B right of it."""
    f_a = 1 / (1 + np.exp((MIDDLES[0] - z0 + tilt * np.abs(MIDDLES[1])) / blur))
    return Planar(Z, Y, f_a, 1 - f_a, PARTS)


def known(planar: Planar) -> tuple[GuessedProfile, float]:
    """The profile and slope as they are, and (S3)."""
    f_a, f_b = planar.given_bin()
    p = 0.5 * (1 + planar.lead(0.0, 0.0))
    return checked_guess(EDGES, f_a, f_b, abs(planar.slope) + 1e-3), float(ndtri(p))


def sectors_for(guess: GuessedProfile, radius: float, count: int = 14) -> list[Sector]:
    return [
        Sector(low, high, p, mean_value(p, guess)) for low, high, p in design_sectors(guess, radius, sector_ends(count))
    ]


def first_failure(planar: Planar, limit: float) -> float:
    """The shortest displacement of a fine grid at which A does not lead, both signs of y."""
    least = limit
    for angle in np.linspace(-pi, pi, 121):
        for radius in np.linspace(0.02, limit, 80):
            if radius < least and planar.lead(radius * np.cos(angle), radius * np.sin(angle)) <= 0:
                least = float(radius)
    return least


@pytest.mark.parametrize(("z0", "tilt", "blur"), [(0.9, 0.3, 0.2), (0.6, -0.2, 0.5), (1.2, 0.0, 0.4)])
def test_more_than_cohen_and_never_beyond_the_truth(z0: float, tilt: float, blur: float) -> None:
    planar = corner(z0, tilt, blur)
    guess, r0 = known(planar)
    covered = covered_radius(sectors_for(guess, 1.1 * r0), r0, 2 * r0)
    assert 1.01 * r0 < covered <= first_failure(planar, 2 * r0)


def vanishing(sectors: list[Sector], r0: float, limit: float) -> float:
    """Where the lead of some sector first vanishes, on a fine grid of its own angles."""
    radii, least = np.linspace(r0, limit, 200), limit
    for sector in sectors:
        for angle in np.linspace(sector.low, sector.high, 9):
            a, b = radii * np.cos(angle), np.maximum(radii * np.sin(angle), 1e-3)
            lead = sector.value - sector.prices.cost(a, b)
            if (lead <= 0).any():
                least = min(least, float(radii[(lead <= 0).argmax()]))
    return least


def test_little_is_lost_and_every_point_is_in_a_ball() -> None:
    guess, r0 = known(corner(0.9, 0.3, 0.2))
    sectors = sectors_for(guess, 1.1 * r0)
    covered = covered_radius(sectors, r0, 2 * r0)
    assert covered >= 0.99 * vanishing(sectors, r0, 2 * r0)
    rng = np.random.default_rng(0)
    for sector in sectors:
        angle, radius = rng.uniform(sector.low, sector.high, 25), rng.uniform(r0, covered, 25)
        points = np.stack([radius * np.cos(angle), radius * np.sin(angle)])
        near = points[:, :, None] + rng.normal(0, 0.015, (2, 25, 60)) * rng.uniform(0, 1, 60)
        near[1] = np.abs(near[1]) + 1e-4
        lead = sector.value - sector.prices.cost(near[0].ravel(), near[1].ravel()).reshape(25, 60)
        reach = ndtri(0.5 * (1 + np.clip(lead, 0, 0.999)))
        distance = np.hypot(*(near - points[:, :, None]))
        assert np.all((reach - distance).max(axis=1) > 0)


def test_a_sector_is_covered_by_its_own_functional_alone() -> None:
    guess, r0 = known(corner(0.9, 0.3, 0.2))
    sectors = sectors_for(guess, 1.1 * r0)
    for i in (0, 6, 13):
        silent = [s._replace(value=-1.0) if j == i else s for j, s in enumerate(sectors)]
        assert covered_radius(silent, r0, 2 * r0) == r0


def test_a_ring_without_lead_stops_the_covering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Balls reach across a narrow ring without lead, as Fact L allows, but not across a wide one."""
    guess, r0 = known(corner(0.9, 0.3, 0.2))
    sectors = [s._replace(value=0.0) for s in sectors_for(guess, 1.1 * r0, 6)]
    reach = float(ndtri(0.5 * (1 + 0.1)))

    def gap_of(width: float) -> None:
        def cost(self: object, row: Floats, a: Floats, b: Floats) -> Floats:
            return np.where(np.abs(np.hypot(a, b) - 1.0) < 0.5 * width, 1.0, -0.1)

        monkeypatch.setattr(PriceTable, "cost", cost)

    gap_of(0.0)
    assert covered_radius(sectors, 0.8, 1.3) > 1.29
    gap_of(0.3)
    assert 0.8 <= covered_radius(sectors, 0.8, 1.3) < 0.85 + reach


def test_a_cell_in_a_ball() -> None:
    """The outer end against samples of the cell, and the first point beyond it."""
    rng = np.random.default_rng(4)
    low, inside = rng.uniform(0, 3, 300), rng.uniform(0.2, 2, 300)
    high = low + rng.uniform(0.001, 0.14, 300)
    angle, radius = rng.uniform(low - 0.1, high + 0.1), inside + rng.uniform(-0.2, 0.3, 300)
    a, b, reach = radius * np.cos(angle), np.abs(radius * np.sin(angle)), rng.uniform(0, 0.4, 300)
    end = covering._outer_end(a, b, reach, low, high, inside)
    held = end > inside
    assert 50 < held.sum() < 290
    for i in np.nonzero(held)[0]:
        s, t = np.meshgrid(np.linspace(inside[i], end[i], 15), np.linspace(low[i], high[i], 15))
        distance = np.hypot(s * np.cos(t) - a[i], s * np.sin(t) - b[i])
        assert distance.max() < reach[i]
        beyond = np.hypot((end[i] + 1e-6) * np.cos(t) - a[i], (end[i] + 1e-6) * np.sin(t) - b[i])
        assert beyond.max() > reach[i] - 1e-6


def test_rings() -> None:
    guess, r0 = known(corner(0.9, 0.3, 0.2))
    inner = [s._replace(outer=1.1 * r0) for s in sectors_for(guess, 1.05 * r0)]
    outer = [s._replace(inner=1.1 * r0) for s in sectors_for(guess, 1.15 * r0)]
    both = covered_radius(inner + outer, r0, 2 * r0)
    assert both > 1.015 * r0
    silent = [s._replace(value=-1.0) for s in outer]
    assert covered_radius(inner + silent, r0, 2 * r0) <= 1.1 * r0
    with pytest.raises(SettingError, match="at lengths"):
        covered_radius(inner, r0, 2 * r0)
    gap = [s._replace(inner=1.11 * r0) if i == 4 else s for i, s in enumerate(outer)]
    with pytest.raises(SettingError, match="at lengths"):
        covered_radius(inner + gap, r0, 2 * r0)
    far = [s._replace(outer=inf) if s.low > 1.0 else s for s in inner]  # some of one ring, some of two
    mixed = covered_radius(far + [s for s in outer if s.low <= 1.0], r0, 2 * r0)
    assert r0 <= mixed <= max(both, covered_radius([s._replace(outer=inf) for s in inner], r0, 2 * r0)) * 1.01


def test_the_value_of_a_sector() -> None:
    assert sector_value(2.0, 0.5, 0.1) == pytest.approx(0.95, abs=1e-12)
    assert sector_value(2.0, 0.5, 0.1) < 0.95
    for mean, mu, gamma in [(inf, 0.1, 0.1), (1.0, -0.1, 0.1), (1.0, 0.1, -0.1), (1.0, 0.1, float("nan"))]:
        with pytest.raises(SettingError):
            sector_value(mean, mu, gamma)


def test_what_cannot_be_meant() -> None:
    guess, r0 = known(corner(0.9, 0.3, 0.2))
    good = sectors_for(guess, r0, 3)
    for bad in ([], good[1:], good[:-1], [good[0], good[2]], [*good[:2], good[2]._replace(value=float("nan"))]):
        with pytest.raises(SettingError):
            covered_radius(bad, r0, 2.0)
    for gap in (1e-9, 0.1):  # between two sectors, and before the last ends
        later, sooner = good[1]._replace(low=good[1].low + gap), good[2]._replace(high=good[2].high - gap)
        for bad in ([good[0], later, good[2]], [*good[:2], sooner]):
            with pytest.raises(SettingError):
                covered_radius(bad, r0, 2.0)
    with pytest.raises(SettingError):
        covered_radius(good, r0, 7.0)
    with pytest.raises(SettingError):
        covered_radius(good, -0.1, 2.0)


@pytest.mark.parametrize("m", [1e-6, 0.01, 0.3, 0.9])
def test_the_reach_of_a_lead(m: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two half-spaces that share the plane lose a lead m at exactly this distance, and nothing loses it sooner."""
    guess, r0 = known(corner(0.9, 0.3, 0.2))
    sectors = [s._replace(value=0.0) for s in sectors_for(guess, r0, 2)]
    monkeypatch.setattr(PriceTable, "cost", lambda self, row, a, b: np.full(np.shape(a), -m))
    columns = covering._Columns(sectors, r0, 2.0)
    (reach,) = columns.lead(np.array([0]), np.array([0.5]), np.array([1.0]))[2]
    half_space = float(ndtri(0.5 * (1 + m)))
    assert half_space - 3e-9 <= reach < half_space
    p_a = np.linspace(m, 1, 200)[1:-1]
    p_b = np.minimum(p_a - m, 1 - p_a)
    enough = (p_b > 0) & (p_a - p_b >= m)
    assert np.all(0.5 * (ndtri(p_a[enough]) - ndtri(p_b[enough])) >= half_space - 1e-12)


@pytest.mark.parametrize("part", [0.25, 0.75])
def test_both_halves_of_a_split_column_are_covered(part: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lead in one half of each column, in a wedge wider than any ball reaches: nothing is proved beyond r0."""
    column, half, m = pi / 24, 0.0305, 0.02
    assert half > ndtri(0.5 * (1 + m))

    def cost(self: PriceTable, row: npt.NDArray[np.int64], a: Floats, b: Floats) -> Floats:
        off = np.mod(np.arctan2(b, a), column) - part * column
        return np.where(np.abs(off) < half, 1.0, -m)

    monkeypatch.setattr(PriceTable, "cost", cost)
    prices = Prices(default_edges(4), np.ones(4), np.ones(4), 0.1)
    sectors = [Sector(low, low + pi / 2, prices, 0.0) for low in (0.0, pi / 2)]
    assert covered_radius(sectors, 1.0, 1.3) == 1.0
