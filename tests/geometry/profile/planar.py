"""Planar classifiers given by a table of cells: their smoothed truth, and the worst of them by a linear program."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.special import ndtr

from doublebubble.geometry.profile import GuessedProfile
from doublebubble.types import Floats


def density(y: Floats) -> Floats:
    values: Floats = np.exp(-0.5 * y * y) / np.sqrt(2 * np.pi)
    return values


def between(ends: Floats) -> Floats:
    """Mass between neighbours, computed apart from the package's own."""
    masses: Floats = np.where(ends[1:] > 0, ndtr(-ends[:-1]) - ndtr(-ends[1:]), np.diff(ndtr(ends)))
    return masses


@dataclass(frozen=True)
class Planar:
    """P(A) and P(B) given the cell of (z, y); cells of z refine the bins, each into the same number of parts."""

    z: Floats
    y: Floats
    f_a: Floats
    f_b: Floats
    parts: int

    def lead(self, a: float, b: float) -> float:
        weights = np.outer(between(self.z - a), between(self.y - b))
        return float(((self.f_a - self.f_b) * weights).sum())

    @property
    def slope(self) -> float:
        """E[(f_A - f_B) y]: the whole of D_off, since nothing depends on further coordinates."""
        moments = density(self.y[:-1]) - density(self.y[1:])
        return float(between(self.z) @ (self.f_a - self.f_b) @ moments)

    def given_bin(self) -> tuple[Floats, Floats]:
        """P(A) and P(B) given the bin of z."""
        mass = between(self.z)
        whole = mass.reshape(-1, self.parts).sum(axis=1)
        both = [(f @ between(self.y) * mass).reshape(-1, self.parts).sum(axis=1) / whole for f in (self.f_a, self.f_b)]
        return both[0], both[1]


def cells(edges: Floats, parts: int, rows: int) -> tuple[Floats, Floats]:
    """Ends of the cells: each bin in `parts`, y in `rows`; the outermost reach to infinity."""
    outer = np.concatenate(([edges[0] - 1.5], edges, [edges[-1] + 1.5]))
    inner = [np.linspace(low, high, parts + 1)[:-1] for low, high in pairwise(outer)]
    z = np.concatenate([*inner, outer[-1:]])
    y = np.linspace(-4.0, 4.0, rows + 1)
    z[[0, -1]] = y[[0, -1]] = -np.inf, np.inf
    return z, y


def worst_lead(guess: GuessedProfile, a: float, b: float, parts: int, rows: int) -> float:
    """The least lead at (a, b) over all tables of cells with this profile and slope: HiGHS."""
    edges, f_a, f_b, gamma = guess.edges, guess.f_a, guess.f_b, guess.gamma
    z, y = cells(edges, parts, rows)
    mass_z, mass_y = between(z), between(y)
    weight = np.outer(between(z - a), between(y - b)).ravel()
    moment = np.outer(mass_z, density(y[:-1]) - density(y[1:])).ravel()
    bins = len(edges) + 1
    whole = mass_z.reshape(-1, parts).sum(axis=1)
    rows_of = np.repeat(np.repeat(np.arange(bins), parts), rows)
    share = np.outer(mass_z / np.repeat(whole, parts), mass_y).ravel()
    means = sp.csr_matrix((share, (rows_of, np.arange(len(share)))), shape=(bins, len(share)))
    found = linprog(  # type: ignore[call-overload]
        np.concatenate([weight, weight]),
        A_ub=sp.csr_matrix(-np.concatenate([moment, moment])[None]),
        b_ub=[gamma],
        A_eq=sp.block_diag([means, means]),
        b_eq=np.clip(np.concatenate([f_a, 1 - f_b]), 1e-9, 1 - 1e-9),
        bounds=(0, 1),
        method="highs",
    )
    return float(found.fun) - 1
