"""Oracles against Monte Carlo with exact tests, quadrature, finite differences, and brute force in the plane."""

from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr as Phi
from scipy.stats import binomtest, norm

from doublebubble.audit.oracles import (
    BallClassifier,
    HalfSpace,
    Intervals1D,
    LinearClassifier,
    Oracle,
    PlanarTable,
    Slab,
    Slabs,
)
from doublebubble.audit.oracles.base import distance_to_hyperplane
from doublebubble.audit.oracles.corridor import Corridor
from doublebubble.errors import InputError, SettingError
from doublebubble.types import Floats

SIMPLEX = np.array([[0.0, 2.0], [-np.sqrt(3), -1.0], [np.sqrt(3), -1.0]])
ORTHOGONAL = 1.5 * np.linalg.qr(np.random.default_rng(3).normal(size=(6, 6)))[0][:4]

ORACLES: list[tuple[str, Oracle, list[float]]] = [
    ("half-space", HalfSpace([1.0, -2.0, 0.5], 0.3), [0.5, 0.4, 0.2]),
    ("simplex", LinearClassifier(SIMPLEX, [0.1, 0.0, -0.4]), [0.3, 0.2]),
    ("orthogonal", LinearClassifier(ORTHOGONAL + 0.7, [0.2, -0.1, 0.0, 0.3]), [0.3, 0.1, -0.2, 0.5, 0.0, 0.4]),
    ("slab", Slab([0.6, 1.1], 0.2, 1.4), [0.4, 0.3]),
    ("narrow slab", Slab([3.0, 4.0], 1.0, 2.0, scale=5.0), [0.3, 0.3]),
    ("ball", BallClassifier([0.4, 0.5, 0.6, 0.2], 1.2), [0.5, 0.1, 0.9, 0.3]),
    ("ball from outside", BallClassifier([0.4, 0.5], 0.9), [1.3, 0.9]),
    ("intervals", Intervals1D([(-1.0, -0.2), (0.1, 0.9), (1.4, 2.0)]), [0.3]),
    ("slabs", Slabs([0.6, -1.1, 0.2], [(-0.8, -0.1), (0.3, 1.0)]), [0.4, -0.1, 0.3]),
    ("planar", PlanarTable([-0.3, 0.4], [0.0, 0.7], [[0, 1, 1], [2, 0, 1], [2, 2, 0]], 3), [0.1, 0.2, 0.5]),
    ("half-lines", Intervals1D([(-np.inf, -0.4), (0.5, np.inf)]), [0.4]),
]
each = pytest.mark.parametrize(("oracle", "x"), [case[1:] for case in ORACLES], ids=[case[0] for case in ORACLES])


@each
def test_probabilities_are_those_of_the_module_under_noise(oracle: Oracle, x: list[float]) -> None:
    sigma, n = 0.4, 100_000
    noise = np.random.default_rng(7).normal(size=(n, oracle.dimension))
    with torch.no_grad():
        votes = oracle(torch.tensor(np.array(x) + sigma * noise)).argmax(1).numpy()
    p = oracle.probabilities(x, sigma)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    for k, count in enumerate(np.bincount(votes, minlength=oracle.num_classes)):
        assert binomtest(int(count), n, float(p[k])).pvalue > 1e-4
    assert oracle.predicted(x, sigma) == np.argmax(p)


@each
def test_gradient_is_the_finite_difference(oracle: Oracle, x: list[float]) -> None:
    sigma, h = 0.35, 1e-5
    gradient = oracle.gradient(x, sigma)
    assert gradient.shape == (oracle.num_classes, oracle.dimension)
    for i in range(oracle.dimension):
        step = h * np.eye(oracle.dimension)[i]
        difference = oracle.probabilities(x + step, sigma) - oracle.probabilities(x - step, sigma)
        np.testing.assert_allclose(gradient[:, i], difference / (2 * h), rtol=1e-6, atol=1e-8)


@each
def test_cohen_radius_never_exceeds_the_robust_distance(oracle: Oracle, x: list[float]) -> None:
    """The theorem of Cohen et al., at random points and noise levels, equal for the half-space."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        point, sigma = np.array(x) + rng.normal(size=len(x)), float(rng.uniform(0.2, 1))
        radius, distance = oracle.cohen_radius(point, sigma), oracle.robust_distance(point, sigma)
        assert 0 <= radius <= distance + 1e-8
        if isinstance(oracle, HalfSpace):
            assert radius == pytest.approx(distance, rel=1e-9)


@each
def test_cohen_radius_is_s3_written_out(oracle: Oracle, x: list[float]) -> None:
    p = np.sort(oracle.probabilities(x, 0.5))
    assert oracle.cohen_radius(x, 0.5) == pytest.approx(0.25 * (norm.ppf(p[-1]) - norm.ppf(p[-2])), abs=1e-9)


@each
def test_module_takes_any_inner_shape_and_dtype(oracle: Oracle, x: list[float]) -> None:
    batch = torch.tensor([x, x], dtype=torch.float32, requires_grad=True)
    logits = oracle(batch.reshape(2, 1, oracle.dimension, 1))
    assert logits.shape == (2, oracle.num_classes)
    assert logits.dtype == torch.float32
    assert not oracle.training
    (slope,) = torch.autograd.grad(logits[0, 1], batch)
    assert torch.isfinite(slope).all()
    assert slope[0].abs().sum() > 0


def test_scale_multiplies_the_logits() -> None:
    batch = torch.tensor([[0.3, 0.9]])
    assert torch.equal(HalfSpace([1.0, 2.0], 0.1, scale=4.0)(batch), 4 * HalfSpace([1.0, 2.0], 0.1)(batch))


PLANE: list[tuple[Oracle, list[float], float]] = [
    (HalfSpace([1.0, -2.0], 0.3), [0.95, 0.1], 0.3),
    (HalfSpace([1.0, 3.0], -3.7), [0.1, 0.2], 0.3),
    (LinearClassifier(SIMPLEX, [-0.9, 0.1, 0.0]), [0.9, 0.35], 0.5),
    (LinearClassifier(SIMPLEX, [-0.9, 0.1, 0.0]), [0.05, 0.3], 0.2),
    (Slab([1.0, 1.0], 0.6, 1.6), [0.6, 0.55], 0.25),
    (Slab([1.0, 0.2], 0.5, 1.0), [0.05, 0.9], 0.15),
    (BallClassifier([0.5, 0.4], 0.45), [0.6, 0.45], 0.2),
    (BallClassifier([1.3, -0.2], 0.6), [0.3, 0.9], 0.1),
    (BallClassifier([-0.3, 0.5], 0.5), [0.9, 0.95], 0.1),
]


@pytest.mark.parametrize(("oracle", "x", "sigma"), PLANE)
def test_robust_distance_in_the_unit_square_by_brute_force(oracle: Oracle, x: list[float], sigma: float) -> None:
    """No point of a fine grid with another class is nearer, and one is nearly as near."""
    side = np.linspace(0, 1, 81)
    grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    a = oracle.predicted(x, sigma)
    gaps = np.linalg.norm(grid - x, axis=1)
    order = np.argsort(gaps)
    nearest = next((gaps[i] for i in order if np.argmax(oracle.probabilities(grid[i], sigma)) != a), np.inf)
    distance = oracle.robust_distance(x, sigma, low=0.0, high=1.0)
    assert distance <= nearest + 1e-9
    assert nearest <= distance + 0.0177  # the diagonal of a cell
    assert oracle.robust_distance(x, sigma) <= distance


def test_box_matters_and_can_hide_every_change() -> None:
    oracle = HalfSpace([1.0, 1.0], -1.9)
    assert oracle.robust_distance([0.95, 0.3], 0.5) == pytest.approx(0.65 / np.sqrt(2))
    assert oracle.robust_distance([0.95, 0.3], 0.5, 0.0, 1.0) == pytest.approx(np.hypot(0.05, 0.6))
    assert HalfSpace([1.0, 1.0], -2.1).robust_distance([0.5, 0.5], 0.5, 0.0, 1.0) == np.inf
    assert Slab([1.0], 0.0, 0.1).robust_distance([0.05], 1.0) == np.inf  # noise washes the slab away
    assert BallClassifier([0.0, 0.0], 0.1).robust_distance([0.0, 0.0], 1.0) == np.inf
    assert BallClassifier([0.5, 0.5], 5.0).robust_distance([0.5, 0.2], 0.1, 0.0, 1.0) == np.inf
    assert BallClassifier([9.0, 9.0], 1.0).robust_distance([0.5, 0.2], 0.1, 0.0, 1.0) == np.inf
    with pytest.raises(InputError, match="not known in this box"):
        BallClassifier([0.9, 0.5], 0.3).robust_distance([0.95, 0.5], 0.1, 0.0, 1.0)


def bisected(x: Floats, w: Floats, level: float, lo: Floats, hi: Floats) -> float:
    """The same distance by bisection on the multiplier."""
    sign = np.sign(level - w @ x)
    if sign * (np.where(sign * w > 0, hi, lo) @ w - level) < 0:
        return float("inf")
    a, b = 0.0, 1e6
    for _ in range(200):
        t = (a + b) / 2
        reached = sign * (w @ np.clip(x + sign * t * w, lo, hi) - level) >= 0
        a, b = (a, t) if reached else (t, b)
    return float(np.linalg.norm(np.clip(x + sign * b * w, lo, hi) - x))


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_distance_to_hyperplane_in_a_box(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    lo, hi = -rng.uniform(0.5, 1, d), rng.uniform(0.5, 1, d)
    x = np.where(rng.random(d) < 0.3, lo, rng.uniform(lo, hi))
    w = rng.normal(size=d) * ((rng.random(d) < 0.8) | (np.arange(d) == 0))
    level = float(rng.normal() * np.linalg.norm(w))
    distance = distance_to_hyperplane(x, w, level, lo, hi)
    assert distance == pytest.approx(bisected(x, w, level, lo, hi), rel=1e-9, abs=1e-12)
    y = rng.uniform(lo, hi, (2000, d))
    across = (y @ w - level) * (x @ w - level) <= 0
    assert not across.any() or distance <= np.linalg.norm(y[across] - x, axis=1).min() + 1e-12
    free = abs(level - w @ x) / np.linalg.norm(w)
    everywhere = np.full(d, np.inf)
    assert distance_to_hyperplane(x, w, level, -everywhere, everywhere) == pytest.approx(free, rel=1e-12)


def test_linear_probabilities_by_quadrature_and_closed_form() -> None:
    oracle, x, sigma = LinearClassifier(ORTHOGONAL, [0.2, -0.1, 0.0, 0.3]), np.linspace(-0.5, 0.8, 6), 0.3
    m = (ORTHOGONAL @ x + [0.2, -0.1, 0.0, 0.3]) / (1.5 * sigma)
    for k, p in enumerate(oracle.probabilities(x, sigma)):
        others = np.delete(m, k)
        exact, _ = quad(lambda u, k=k, o=others: norm.pdf(u - m[k]) * np.prod(Phi(u - o)), -15, 15, epsabs=1e-14)
        assert p == pytest.approx(exact, abs=1e-12)
    for margin in (0.0, 1.0, 8.0, 25.0):  # two classes: far tails, relative to themselves
        two = LinearClassifier([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])
        p = two.probabilities([margin, 0.0], 1.0)
        np.testing.assert_allclose(p, [Phi(margin / np.sqrt(2)), Phi(-margin / np.sqrt(2))], rtol=1e-10)


def test_ball_probabilities_in_the_tail() -> None:
    """d = 1 is a difference of normal tails; d = 3 an integral of them over the ball's sections, in 30 digits."""
    line = BallClassifier([0.0], 1.0)
    for rho in (0.0, 0.5, 2.0, 4.0):
        p = line.probabilities([rho], 0.5)
        inside = norm.sf(2 * (rho - 1)) - norm.sf(2 * (rho + 1))
        assert p[1] == pytest.approx(inside, rel=1e-9)
        assert p[0] == pytest.approx(norm.sf(2 * (1 - rho)) + norm.sf(2 * (1 + rho)), rel=1e-9)
    space = BallClassifier([0.0, 0.0, 0.0], 1.0)

    def section(rho: float) -> Callable[[mp.mpf], mp.mpf]:
        """The density at height z times the chance that the other two coordinates stay inside the ball's section."""
        return lambda z: mp.npdf(z, rho, 0.4) * (1 - mp.exp(-(1 - z * z) / (2 * mp.mpf("0.16"))))

    with mp.workdps(30):
        for rho in (0.3, 3.0):
            exact = mp.quad(section(rho), [-1, 0, 1])
            assert space.probabilities([0.0, rho, 0.0], 0.4)[1] == pytest.approx(float(exact), rel=1e-8)


def test_intervals_distance_by_brute_force() -> None:
    rng = np.random.default_rng(5)
    for _ in range(25):
        ends = np.sort(rng.uniform(0, 4, 6))
        if np.diff(ends).min() < 1e-3:
            continue
        intervals = [(float(ends[i]), float(ends[i + 1])) for i in (0, 2, 4)]
        if rng.random() < 0.3:
            intervals[-1] = (intervals[-1][0], np.inf)
        oracle, sigma, x = Intervals1D(intervals), float(rng.uniform(0.1, 0.6)), float(rng.uniform(-1, 5))
        y = np.linspace(-6, 10, 32_001)
        inside = np.sum([Phi((b - y) / sigma) - Phi((a - y) / sigma) for a, b in intervals], 0)
        changed = (inside > 0.5) != (oracle.predicted([x], sigma) == 1)
        nearest = np.abs(y - x)[changed].min() if changed.any() else np.inf
        assert oracle.robust_distance([x], sigma) == pytest.approx(nearest, abs=6e-4)
        in_box = changed & (y >= -1) & (y <= 5)
        nearest = np.abs(y - x)[in_box].min() if in_box.any() else np.inf
        assert oracle.robust_distance([x], sigma, -1.0, 5.0) == pytest.approx(nearest, abs=6e-4)


def test_single_edge_is_a_half_space() -> None:
    oracle = Intervals1D([(-np.inf, 0.7)])
    for x in (-1.3, 0.2, 0.699, 0.71, 5.0):
        assert oracle.robust_distance([x], 0.4) == pytest.approx(abs(x - 0.7), abs=1e-9)


def test_ball_far_smaller_noise_and_translation() -> None:
    near = BallClassifier([0.0], 1.0)
    assert near.robust_distance([0.25], 0.01) == pytest.approx(0.75, abs=1e-9)
    one, two = BallClassifier([0.0, 0.0, 0.0], 1.0), BallClassifier([5.0, -3.0, 2.0], 2.0)
    base = one.robust_distance([0.1, 0.2, 0.3], 0.3)
    assert two.robust_distance([5.2, -2.6, 2.6], 0.6) == pytest.approx(2 * base, rel=1e-9)


def test_refusals() -> None:
    with pytest.raises(SettingError, match="regular simplex"):
        LinearClassifier([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], [0.0, 0.0, 0.0])
    with pytest.raises(SettingError, match="W \\(K, d\\)"):
        LinearClassifier([[1.0, 0.0]], [0.0])
    with pytest.raises(SettingError):
        HalfSpace([0.0, 0.0], 1.0)
    with pytest.raises(SettingError):
        Slab([1.0], 1.0, 0.0)
    with pytest.raises(SettingError):
        BallClassifier([1.0], 0.0)
    for intervals in ([], [(1.0, 0.0)], [(0.0, 2.0), (1.0, 3.0)], [(-np.inf, np.inf)]):
        with pytest.raises(SettingError):
            Intervals1D(intervals)
    oracle = HalfSpace([1.0, 1.0], 0.0)
    with pytest.raises(InputError, match="expected 2 finite numbers"):
        oracle.probabilities([1.0], 0.5)
    with pytest.raises(InputError, match="point of the box"):
        oracle.robust_distance([2.0, 0.0], 0.5, 0.0, 1.0)
    with pytest.raises(SettingError, match="sigma"):
        oracle.probabilities([1.0, 1.0], 0.0)
    with pytest.raises(SettingError, match="scale"):
        HalfSpace([1.0], 0.0, scale=0.0)
    with pytest.raises(InputError, match="no finite radius"):
        oracle.cohen_radius([100.0, 100.0], 0.5)


def test_planar_distance_by_a_grid_of_the_box() -> None:
    rng = np.random.default_rng(8)
    side = np.linspace(0.0, 1.0, 401)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for classes in (2, 3, 5):
        table = np.concatenate([np.arange(classes), rng.integers(classes, size=16 - classes)])
        oracle = PlanarTable([0.25, 0.5, 0.75], [0.25, 0.5, 0.75], rng.permutation(table).reshape(4, 4))
        for x in ([0.4, 0.6], [0.0, 0.3], [1.0, 1.0]):
            p = oracle._at(grid, 0.2)
            top = oracle.predicted(x, 0.2)
            lost = np.delete(p, top, axis=1).max(axis=1) >= p[:, top]
            nearest = np.linalg.norm(grid[lost] - x, axis=1).min() if lost.any() else np.inf
            found = oracle.robust_distance(x, 0.2, 0.0, 1.0)
            assert found <= nearest + 1e-9
            assert found >= nearest - 0.006 or not np.isfinite(nearest)


def test_a_planar_half_space_has_the_distance_of_its_line() -> None:
    oracle = PlanarTable([0.3], [0.0], [[0, 0], [1, 1]], 4)
    assert oracle.robust_distance([0.1, 5.0, 0.0, 0.0], 0.5) == pytest.approx(0.2, rel=1e-9)
    assert oracle.robust_distance([0.1, 0.15, 0.0, 0.0], 0.5, 0.0, 0.2) == np.inf
    with pytest.raises(SettingError, match="each class"):
        PlanarTable([0.3], [0.0], [[0, 0], [2, 2]])
    with pytest.raises(SettingError, match="each cell"):
        PlanarTable([0.3], [0.0], [[0, 1]])


def test_slabs_are_intervals_along_their_normal() -> None:
    w = np.arange(1.0, 785.0)
    slabs, line = Slabs(w, [(-1.0, 0.0), (0.4, 1.5)]), Intervals1D([(-1.0, 0.0), (0.4, 1.5)])
    x = 0.9 * w / np.linalg.norm(w)
    assert slabs.probabilities(x, 0.3) == pytest.approx(line.probabilities([0.9], 0.3))
    assert slabs.robust_distance(x, 0.3) == pytest.approx(line.robust_distance([0.9], 0.3), rel=1e-9)
    assert slabs.robust_distance(x, 0.3, x, x + 1) >= slabs.robust_distance(x, 0.3)


def wide() -> list[tuple[BallClassifier | Slabs, Floats, Floats]]:
    """A ball and a union of slabs in 784 dimensions, points of them, and the ways of their profiles."""
    d = 784
    w = np.ones(d) / np.sqrt(d)
    return [
        (BallClassifier(np.zeros(d), 14.3), np.full(d, 0.06), w),
        (Slabs(w, [(-1.0, -0.2), (0.0, 0.8), (1.1, 3.0)]), np.full(d, 0.01), w),
    ]


@pytest.mark.parametrize(("oracle", "x", "way"), wide(), ids=["ball", "slabs"])
def test_wide_profiles_are_those_of_draws_and_have_the_right_mean(
    oracle: BallClassifier | Slabs, x: Floats, way: Floats
) -> None:
    """Votes by bins of u.Z, by exact tests, and the integral of the profile against the probability itself."""
    sigma = 0.5
    z = np.linspace(-8, 8, 400_001)
    mean = float((norm.pdf(z) * oracle.profile(x, sigma, z)[:, 1]).sum() * (z[1] - z[0]))
    assert mean == pytest.approx(oracle.probabilities(x, sigma)[1], abs=3e-5)
    noise = np.random.default_rng(2).standard_normal((4000, 784))
    votes = oracle(torch.from_numpy(x + sigma * noise)).argmax(1).numpy()
    places = np.digitize(noise @ way, edges := np.array([-1.2, -0.5, 0.0, 0.5, 1.2]))
    ends = np.concatenate([[-8.0], edges, [8.0]])
    for j in range(6):
        z = np.linspace(ends[j], ends[j + 1], 20_001)
        weights = norm.pdf(z)
        p = float(weights @ oracle.profile(x, sigma, z)[:, 1] / weights.sum())
        here = votes[places == j]
        assert binomtest(int(here.sum()), len(here), min(max(p, 0.0), 1.0)).pvalue > 1e-5


def test_a_profile_gives_back_the_gradient() -> None:
    """sigma times the slope along the way is E[z P(class | z)]."""
    for oracle, x, way in wide():
        z = np.linspace(-8, 8, 400_001)
        moment = float((z * norm.pdf(z) * oracle.profile(x, 0.5, z)[:, 1]).sum() * (z[1] - z[0]))
        assert moment == pytest.approx(0.5 * float(oracle.gradient(x, 0.5)[1] @ way), abs=3e-5)


def test_the_gradient_of_a_corridor_is_the_finite_difference() -> None:
    oracle, x, step = Corridor(4, 0.2, 0.5), np.array([0.1, 0.3, 0.6, 0.2]), 1e-6
    for axis in range(4):
        moved = [oracle.probabilities(x + sign * step * np.eye(4)[axis], 0.25) for sign in (1, -1)]
        assert oracle.gradient(x, 0.25)[:, axis] == pytest.approx((moved[0] - moved[1]) / (2 * step), abs=1e-7)
