import math

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from doublebubble.errors import InputError
from doublebubble.geometry import bound_at, certified_radii, certified_radius, dual_value, nearest_point
from tests.geometry.truth import Case, covered, random_case, true_distance


def grid(d: int, per_axis: int) -> np.ndarray:
    axes = np.meshgrid(*[np.linspace(0.0, 1.0, per_axis)] * d, indexing="ij")
    return np.stack([axis.reshape(-1) for axis in axes], axis=1)


@pytest.mark.parametrize(("d", "per_axis"), [(2, 301), (3, 51)])
def test_no_uncovered_grid_point_is_nearer_and_the_bound_is_tight(d: int, per_axis: int) -> None:
    """250 configurations in each dimension, from `random_case`, one to four balls in the unit box."""
    rng, points, ratios = np.random.default_rng(d), grid(d, per_axis), []
    for i in range(250):
        case = random_case(rng, d, 1 + i % 4)
        bound = certified_radius(case.x1, case.centres, case.radii)
        truth = true_distance(case, 0.0, 1.0)
        distance = np.linalg.norm(points - case.x1, axis=1)
        assert covered(points[distance < bound.radius], case).all()
        assert covered(points[distance < truth - 1e-9], case).all()  # the enumeration misses no nearer point
        assert bound.radius <= truth * (1 + 1e-9)
        if bound.whole_domain:
            assert covered(points, case).all()
        if math.isfinite(truth) and truth > 1e-6:
            ratios.append(bound.radius / truth)
    assert len(ratios) > 200
    assert np.mean(ratios) >= 0.90


def test_high_dimension_random_search_finds_no_uncovered_point_within_the_radius() -> None:
    rng = np.random.default_rng(7)
    for i in range(40):
        d = (20, 300)[i % 2]
        case = random_case(rng, d, 1 + i % 4)
        bound = certified_radius(case.x1, case.centres, case.radii)
        toward = nearest_point(bound.multipliers, case.x1, case.centres, case.radii) - case.x1
        if bound.radius == 0.0 or not toward.any():
            continue
        noise = rng.normal(size=(2000, d)) * rng.choice([0.0, 1e-3, 0.03, 0.3], size=(2000, 1)) / math.sqrt(d)
        steps = toward / np.linalg.norm(toward) + noise
        steps *= (
            bound.radius * rng.choice([1 - 1e-9, 1.5], size=(2000, 1)) / np.linalg.norm(steps, axis=1, keepdims=True)
        )
        points = np.clip(case.x1 + steps, 0.0, 1.0)
        near = np.linalg.norm(points - case.x1, axis=1) < bound.radius * (1 - 1e-12)
        assert near.sum() > 100
        assert np.all(covered(points[near], case))


def test_one_ball_in_a_box_is_exact_while_the_multiplier_is_below_one() -> None:
    """The nearest uncovered point is clip(x1 - t c) for the t at which it reaches the sphere."""
    rng, checked = np.random.default_rng(3), 0
    for _ in range(100):
        d = int(rng.integers(2, 300))
        case = random_case(rng, d, 1)
        case = Case(case.x1, case.centres, case.radii + 1e-3)
        c, r = case.centres[0] - case.x1, float(case.radii[0])

        def beyond(t: float, x1: np.ndarray = case.x1, c: np.ndarray = c, r: float = r) -> float:
            return float(np.sum((np.clip(x1 - t * c, 0.0, 1.0) - x1 - c) ** 2) - r**2)

        bound = certified_radius(case.x1, case.centres, case.radii)
        if bound.multipliers[0] >= 1 - 1e-6:
            continue
        t = float(brentq(beyond, 0.0, 1e7, xtol=1e-15, rtol=1e-15))
        truth = float(np.linalg.norm(np.clip(case.x1 - t * c, 0.0, 1.0) - case.x1))
        assert bound.radius == pytest.approx(truth, rel=1e-9)
        checked += 1
    assert checked > 30


@pytest.mark.parametrize("span", [1, 2])
def test_exact_in_free_space_when_centres_span_fewer_dimensions(span: int) -> None:
    """Exact to 1e-9 while s < 1 - 1e-6; at that cap the loss is a part of at most 1e-6 of the square."""
    rng, interior = np.random.default_rng(span), 0
    for i in range(120):
        d, m = span + 1, 1 + i % 4
        x1, basis = rng.uniform(size=d), np.linalg.qr(rng.normal(size=(d, d)))[0][:span]
        centres = x1 + rng.normal(size=(m, span)) @ basis * 0.2
        away = np.linalg.norm(centres - x1, axis=1)
        case = Case(x1, centres, away + rng.uniform(0.01, 0.3, m))
        truth, bound = true_distance(case), certified_radius(x1, centres, case.radii, None, None)
        assert bound.radius <= truth * (1 + 1e-9)
        if 1.0 - bound.multipliers.sum() > 1.01e-6:
            assert bound.radius == pytest.approx(truth, rel=1e-9)
            interior += 1
        else:
            assert bound.radius**2 >= truth**2 * (1 - 3e-6)
    assert 20 < interior < 120


def test_lower_bound_only_example() -> None:
    """In a corner of the square the dual bound is valid and not exact."""
    case = Case(np.array([0.2, 0.2]), np.array([[0.25, 0.25]]), np.array([0.5]))
    bound = certified_radius(case.x1, case.centres, case.radii)
    assert true_distance(case, 0.0, 1.0) == pytest.approx(0.5228, abs=5e-5)
    assert bound.radius == pytest.approx(math.sqrt(0.23), abs=1e-9)
    assert bound.multipliers == pytest.approx([1.2], abs=1e-9)


def test_blocked_faces_give_the_pythagorean_radius() -> None:
    """x1 at the face 0 of some coordinates and x2 inwards along them: R^2 = r2^2 - t^2."""
    x1, x2 = np.full(50, 0.5), np.full(50, 0.5)
    x1[:10] = 0.0
    x2[:10] = 0.03
    t = 0.03 * math.sqrt(10)
    bound = certified_radius(x1, [x2], [0.4])
    assert bound.radius == pytest.approx(math.sqrt(0.4**2 - t**2), rel=1e-12)
    assert bound.multipliers == pytest.approx([1.0])
    assert certified_radius(x1, [x2], [0.4], None, None).radius == pytest.approx(0.4 - t, rel=1e-9)


@pytest.mark.parametrize("slack", [1e-6, -1e-6])
def test_whole_domain_is_flagged_when_one_ball_holds_every_corner(slack: float) -> None:
    x1, x2 = np.array([0.25, 0.0, 0.5]), np.array([0.5, 0.25, 0.5])
    corner = math.sqrt(0.5**2 + 0.75**2 + 0.5**2)
    bound = certified_radius(x1, [x2], [corner + slack])
    assert bound.whole_domain == (slack > 0)
    farthest, uncovered_corner = math.sqrt(0.75**2 + 1.0 + 0.5**2), math.sqrt(0.25**2 + 1.0 + 0.5**2)
    assert bound.radius == pytest.approx(farthest if slack > 0 else uncovered_corner, rel=1e-5)
    assert bound.radius <= farthest
    again = bound_at(bound.multipliers, x1, [x2], [corner + slack])
    assert (again.radius, again.whole_domain) == (bound.radius, bound.whole_domain)


def test_whole_domain_by_several_balls_none_of_which_holds_it() -> None:
    case = Case(np.array([0.5, 0.4]), np.array([[0.2, 0.5], [0.8, 0.5]]), np.array([0.78, 0.78]))
    bound = certified_radius(case.x1, case.centres, case.radii)
    assert bound.whole_domain
    assert covered(grid(2, 201), case).all()
    assert not any(covered(grid(2, 201), Case(case.x1, case.centres[[i]], case.radii[[i]])).all() for i in (0, 1))
    assert bound.radius == pytest.approx(math.hypot(0.5, 0.6), rel=1e-12)


def test_domain_of_a_single_point() -> None:
    bound = certified_radius([0.5, 0.5], [[0.5, 0.5]], [0.1], low=0.5, high=0.5)
    assert (bound.radius, bound.whole_domain) == (0.0, True)


def test_nothing_is_certified_where_no_ball_covers_x1() -> None:
    none = certified_radius(np.zeros((2, 3)), np.empty((0, 2, 3)), [])
    assert (none.radius, none.whole_domain, none.multipliers.shape) == (0.0, False, (0,))
    for radii in ([0.3, 0.0], [0.5, 0.0]):  # outside, and exactly on the sphere
        bound = certified_radius([0.0], [[0.5], [0.0]], radii)
        assert (bound.radius, bound.whole_domain) == (0.0, False)
        assert not bound.multipliers.any()


def test_balls_of_radius_zero_drop_out() -> None:
    with_it = certified_radius([0.3, 0.4], [[0.1, 0.1], [0.35, 0.4], [0.3, 0.4]], [0.0, 0.2, 0.0])
    assert with_it.multipliers[[0, 2]].tolist() == [0.0, 0.0]
    assert with_it.radius == pytest.approx(certified_radius([0.3, 0.4], [[0.35, 0.4]], [0.2]).radius, rel=1e-12)


def test_a_ball_at_x1_gives_its_own_radius() -> None:
    for box in ((0.0, 1.0), (None, None)):
        bound = certified_radius(np.full(9, 0.5), [np.full(9, 0.5)], [0.25], *box)
        assert bound.radius == pytest.approx(0.25, rel=1e-13)


def test_batched_equals_one_by_one() -> None:
    rng = np.random.default_rng(5)
    cases = [random_case(rng, 12, 2) for _ in range(20)]
    jobs = (np.stack([c.x1 for c in cases]), np.stack([c.centres for c in cases]), np.stack([c.radii for c in cases]))
    for box in ((0.0, 1.0), (None, None)):
        together = certified_radii(*jobs, *box)
        alone = [certified_radius(c.x1, list(c.centres), c.radii, *box) for c in cases]
        assert [b.radius for b in together] == [b.radius for b in alone]
        assert [b.multipliers.tolist() for b in together] == [b.multipliers.tolist() for b in alone]
    with pytest.raises(InputError, match="as many of each"):
        certified_radii(jobs[0], jobs[1], jobs[2][:-1])


def test_a_verifier_gets_the_same_radius_from_the_multipliers() -> None:
    rng = np.random.default_rng(11)
    for box in ((0.0, 1.0), (None, None)):
        for m in (1, 2, 3):
            case = random_case(rng, 8, m)
            bound = certified_radius(case.x1, case.centres, case.radii, *box)
            assert bound_at(bound.multipliers, case.x1, case.centres, case.radii, *box).radius == bound.radius
            value = dual_value(bound.multipliers, case.x1, case.centres, case.radii, *box)
            assert bound.radius**2 == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_tensors_of_any_floating_dtype_and_shape(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    x1 = torch.rand((3, 4, 4), generator=generator).to(dtype).requires_grad_()
    x2 = (x1.detach().double() + 0.01).to(dtype)
    bound = certified_radius(x1, x2[None], torch.tensor([0.3], dtype=torch.float64), 0.0, torch.ones(3, 4, 4))
    wide = certified_radius(x1.detach().double().numpy(), [x2.double().numpy()], [0.3])
    assert bound.radius == wide.radius > 0.2
    assert nearest_point(bound.multipliers, x1, [x2], [0.3]).shape == (3, 4, 4)


def test_gradient_of_the_bound_by_the_envelope_theorem() -> None:
    """(D5) against central differences, with radii that vary linearly; s < 1 and s >= 1 both occur."""
    rng, beyond, step = np.random.default_rng(2), 0, 1e-6
    for i in range(120):
        d, m = 4, 1 + i % 3
        case = random_case(rng, d, m)
        slopes = rng.normal(size=(m, d)) * 0.3
        bound = certified_radius(case.x1, case.centres, case.radii)
        lam = bound.multipliers
        if bound.whole_domain or bound.radius < 0.02 or lam[lam > 0].min() < 1e-3:
            continue
        star = nearest_point(lam, case.x1, case.centres, case.radii)
        formula = 2 * lam[:, None] * (case.radii[:, None] * slopes + star - case.centres)
        move = rng.normal(size=(m, d))
        side = []
        for sign in (1, -1):
            radii = np.maximum(case.radii + sign * step * np.sum(move * slopes, axis=1), 0.0)
            side.append(certified_radius(case.x1, case.centres + sign * step * move, radii).radius ** 2)
        assert np.sum(formula * move) == pytest.approx((side[0] - side[1]) / (2 * step), abs=2e-4)
        beyond += bool(lam.sum() >= 1 - 1e-8)
    assert beyond > 3


def test_nearest_point_below_one_is_on_the_sphere_and_attains_the_radius() -> None:
    x1, x2 = np.array([0.49, 0.51]), np.array([0.49, 0.41])
    bound = certified_radius(x1, [x2], [0.52])
    star = nearest_point(bound.multipliers, x1, [x2], [0.52])
    assert star == pytest.approx([0.49, 0.93], abs=1e-9)
    with pytest.raises(InputError, match="covers x1"):
        nearest_point([1.5], x1, [[0.0, 0.0]], [0.1])


def test_free_space_multipliers_above_the_cap_prove_nothing() -> None:
    arguments = ([0.0, 0.0], [[0.1, 0.0], [-0.1, 0.0]], [0.3, 0.3], None, None)
    assert dual_value([0.5, 0.5], *arguments) == -math.inf
    assert dual_value([0.9, 0.9], *arguments) == -math.inf
    assert bound_at([0.5, 0.5], *arguments).radius == 0.0
    assert dual_value([0.4999, 0.4999], *arguments) > 0.07
