"""The exact answer to (G1) in few dimensions, by enumeration, and the random configurations that tests share.

Independent of the dual bound: the nearest uncovered point lies on some set of spheres and faces, and is the nearest
point of their intersection; all such sets are tried.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from doublebubble.types import Floats


@dataclass(frozen=True)
class Case:
    x1: Floats
    centres: Floats
    radii: Floats


def random_case(rng: np.random.Generator, d: int, m: int) -> Case:
    """x1 uniform in the unit box, each coordinate moved to 0 or 1 with probability 0.2; centres normal about x1 with
    deviation uniform in (0, 0.25); ball 1 covers x1 by up to 0.3, the others by -0.1 to 0.3."""
    x1 = rng.uniform(size=d)
    x1 = np.where(rng.uniform(size=d) < 0.2, np.round(x1), x1)
    c = rng.normal(size=(m, d)) * rng.uniform(0.0, 0.25)
    margin = rng.uniform(-0.1, 0.3, m)
    margin[0] = rng.uniform(0.0, 0.3)
    centres = x1 + c
    return Case(x1, centres, np.maximum(np.linalg.norm(c, axis=1) + margin, 0.0))


def covered(points: Floats, case: Case) -> np.ndarray:
    """Whether each point lies strictly inside some ball."""
    inside = np.zeros(len(points), dtype=bool)
    for centre, radius in zip(case.centres, case.radii, strict=True):
        inside |= np.sum((points - centre) ** 2, axis=1) < radius**2
    return inside


def true_distance(case: Case, low: float = -math.inf, high: float = math.inf) -> float:
    """The distance from x1 to the nearest point of the domain that no ball covers; inf if there is none."""
    d, best = len(case.x1), math.inf
    ends = [None, low, high] if math.isfinite(low) else [None]
    spheres = [i for i in range(len(case.radii)) if case.radii[i] > 0.0]
    for fixed in itertools.product(ends, repeat=d):
        free = np.array([end is None for end in fixed])
        y = np.array([0.0 if end is None else end for end in fixed]) - np.where(free, 0.0, case.x1)
        if np.linalg.norm(y) >= best:
            continue
        for size in range(min(int(free.sum()), len(spheres)) + 1):
            for chosen in itertools.combinations(spheres, size):
                for point in _extremes(case, y, free, list(chosen)):
                    if np.linalg.norm(point) < best and _feasible(case, point, low, high):
                        best = float(np.linalg.norm(point))
    return best


def _feasible(case: Case, y: Floats, low: float, high: float) -> bool:
    x = case.x1 + y
    in_box = np.all(x >= low - 1e-10) and np.all(x <= high + 1e-10)
    return bool(in_box and np.all(np.linalg.norm(x - case.centres, axis=1) >= case.radii - 1e-10))


def _extremes(case: Case, y: Floats, free: np.ndarray, chosen: list[int]) -> list[Floats]:
    """The points nearest to x1 and farthest, as offsets, on the chosen spheres, coordinates outside `free` as in y.

    The farthest matters where the cut is two points, each of which is then a local minimum.
    """
    if not chosen:
        return [y]
    c = case.centres[chosen] - case.x1
    rho2 = case.radii[chosen] ** 2 - np.sum((y - c)[:, ~free] ** 2, axis=1)
    c = c[:, free]
    normals = 2.0 * (c[1:] - c[0])
    rights = np.sum(c[1:] ** 2, axis=1) - np.sum(c[0] ** 2) - rho2[1:] + rho2[0]
    back = np.linalg.pinv(normals) if len(normals) else np.zeros((len(c[0]), 0))
    centre = c[0] + back @ (rights - normals @ c[0])
    tau = rho2[0] - np.sum((centre - c[0]) ** 2)
    if tau < 0.0:
        return []
    away = back @ rights - centre  # from the centre of the cut to the projection of x1 on its plane
    if np.linalg.norm(away) < 1e-13:
        kernel = np.linalg.svd(np.vstack([normals, np.zeros((1, len(c[0])))]))[2][-1]
        away = kernel - back @ (normals @ kernel)
        if np.linalg.norm(away) < 0.5:
            return []
    points = np.stack([y, y])
    points[:, free] = centre + np.outer([1.0, -1.0], math.sqrt(tau) * away / np.linalg.norm(away))
    return list(points)


def exact_dual(multipliers: Floats, case: Case, low: float | None, high: float | None) -> Fraction:
    """G of (D1) in rational arithmetic: no rounding at all."""
    lam = [Fraction(v) for v in multipliers.tolist()]
    q, total = 1 - sum(lam, Fraction(0)), Fraction(0)
    for weight, centre, radius in zip(lam, case.centres.tolist(), case.radii.tolist(), strict=True):
        squares = (((Fraction(a) - Fraction(b)) ** 2) for a, b in zip(centre, case.x1.tolist(), strict=True))
        total += weight * (Fraction(radius) ** 2 - sum(squares, Fraction(0)))
    for k, x in enumerate(case.x1.tolist()):
        w = sum(
            (v * (Fraction(row[k]) - Fraction(x)) for v, row in zip(lam, case.centres.tolist(), strict=True)),
            Fraction(0),
        )
        if low is None or high is None:
            points = [-w / q] if q else [Fraction(0)]
        else:
            points = [Fraction(low) - Fraction(x), Fraction(high) - Fraction(x)]
            if q > 0:
                points = [min(max(-w / q, points[0]), points[1])]
        total += min(q * y * y + 2 * w * y for y in points)
    return total
