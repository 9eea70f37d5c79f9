"""What must not change the bound, and what may only raise it. The solver's tolerance is 1e-7 of the radius, and of
the largest radius where cancellation leaves little of it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from doublebubble.geometry import certified_radius, double_bubble_radius, transitive_radius
from tests.geometry.truth import Case, random_case

TOLERANCE = 1e-7
seeds = st.integers(0, 2**32 - 1)
dimensions = st.integers(1, 12)
counts = st.integers(1, 4)


def radius(case: Case, low: object = 0.0, high: object = 1.0) -> float:
    ends = tuple(None if end is None else np.asarray(end, dtype=float) for end in (low, high))
    return certified_radius(case.x1, case.centres, case.radii, *ends).radius


def assert_same(a: float, b: float, case: Case) -> None:
    assert abs(a * a - b * b) <= TOLERANCE * (a * a + 1e-4 * float(np.max(case.radii)) ** 2)


def assert_not_lower(new: float, old: float, case: Case) -> None:
    assert new * new >= old * old * (1 - TOLERANCE) - 1e-4 * TOLERANCE * float(np.max(case.radii)) ** 2


@settings(max_examples=100, deadline=None)
@given(seed=seeds, d=dimensions, m=counts, scale=st.sampled_from([1e-6, 0.3, 255.0, 1e5]))
def test_translation_and_joint_scaling(seed: int, d: int, m: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    case, shift = random_case(rng, d, m), rng.normal(size=d)
    moved = Case(scale * (case.x1 + shift), scale * (case.centres + shift), scale * case.radii)
    ends = scale * (np.zeros(d) + shift), scale * (np.ones(d) + shift)
    moved = Case(np.clip(moved.x1, *ends), moved.centres, moved.radii)
    assert_same(radius(moved, *ends) / scale, radius(case), case)
    assert_same(radius(moved, None, None) / scale, radius(case, None, None), case)


@settings(max_examples=100, deadline=None)
@given(seed=seeds, d=st.integers(2, 12), m=counts)
def test_rotation_in_free_space(seed: int, d: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    case, turn = random_case(rng, d, m), np.linalg.qr(rng.normal(size=(d, d)))[0]
    assert_same(
        radius(Case(case.x1 @ turn, case.centres @ turn, case.radii), None, None), radius(case, None, None), case
    )


@settings(max_examples=100, deadline=None)
@given(seed=seeds, d=dimensions, m=counts, flip=st.booleans())
def test_order_of_coordinates_and_of_balls_and_reflection(seed: int, d: int, m: int, flip: bool) -> None:
    rng = np.random.default_rng(seed)
    case, axes, order = random_case(rng, d, m), rng.permutation(d), rng.permutation(m)
    x1, centres = case.x1[axes], case.centres[order][:, axes]
    mixed = Case(1.0 - x1, 1.0 - centres, case.radii[order]) if flip else Case(x1, centres, case.radii[order])
    assert_same(radius(mixed), radius(case), case)
    assert_same(radius(mixed, None, None), radius(case, None, None), case)


@settings(max_examples=150, deadline=None)
@given(seed=seeds, d=dimensions, m=counts)
def test_adding_a_ball_or_shrinking_the_domain_never_lowers(seed: int, d: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_case(rng, d, m + 1)
    fewer = Case(case.x1, case.centres[:-1], case.radii[:-1])
    for box in ((0.0, 1.0), (None, None)):
        whole = certified_radius(case.x1, case.centres, case.radii, *box).whole_domain
        before = certified_radius(fewer.x1, fewer.centres, fewer.radii, *box)
        assert_not_lower(radius(case, *box), before.radius, case)
        assert whole >= before.whole_domain
    small = certified_radius(
        case.x1, case.centres, case.radii, case.x1 * rng.uniform(size=d), case.x1 + (1 - case.x1) * rng.uniform(size=d)
    )
    if not small.whole_domain:  # else the radius is only how far the smaller domain reaches
        assert_not_lower(small.radius, radius(case), case)
    if not certified_radius(case.x1, case.centres, case.radii).whole_domain:
        assert_not_lower(radius(case), radius(case, None, None), case)


@settings(max_examples=100, deadline=None)
@given(seed=seeds, d=st.integers(2, 12))
def test_one_ball_in_free_space_is_the_transitive_radius(seed: int, d: int) -> None:
    case = random_case(np.random.default_rng(seed), d, 1)
    d2, r2 = float(np.linalg.norm(case.centres[0] - case.x1)), float(case.radii[0])
    expected, found = transitive_radius(r2, d2), radius(case, None, None)
    assert found <= expected * (1 + 1e-12) + 1e-15
    if d2 > 1e-5 * r2:  # the best multiplier 1 - d2/r2 is below the cap
        assert abs(found - expected) <= 1e-9 * r2


@settings(max_examples=100, deadline=None)
@given(seed=seeds, d=st.integers(2, 12))
def test_two_collinear_balls_reach_the_double_bubble(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    x1, u = rng.uniform(size=d), rng.normal(size=d)
    u /= np.linalg.norm(u)
    d2, d3 = rng.uniform(0.01, 0.3, 2)
    r2, r3 = rng.uniform(0.2, 0.6, 2)
    printed = double_bubble_radius(r2, d2, r3, d3)
    case = Case(x1, np.stack([x1 + d2 * u, x1 - d3 * u]), np.array([r2, r3]))
    assert radius(case, None, None) >= printed * (1 - 2e-6)  # s is capped at 1 - 1e-6
    bound = certified_radius(case.x1, case.centres, case.radii)
    if not bound.whole_domain:
        assert_not_lower(bound.radius, printed, case)
