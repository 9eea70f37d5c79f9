"""Points to put certificates to the test: inside their domains, and tight where they are said to be."""

import numpy as np
import pytest
from scipy.special import ndtr as Phi

from doublebubble import registry
from doublebubble.audit.cases import boxed_cases, corridor_case, free_cases, tied_cases, tight_cases
from doublebubble.audit.coverage import Case
from doublebubble.geometry import Rival, cohen_radius, first_order_radius

EVERY = [*free_cases(), *boxed_cases(), *tied_cases(), corridor_case(), *tight_cases().values()]


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_each_point_lies_in_its_domain_and_has_a_class_of_its_own(case: Case) -> None:
    if case.domain is not None:
        assert case.domain[0] <= float(case.x.min()) <= float(case.x.max()) <= case.domain[1]
    _, distance = case.truth
    assert (distance == 0) == ("tied" in case.name)
    assert case.smoothed.sigma == case.sigma


def test_every_method_has_a_tight_point() -> None:
    assert set(tight_cases()) == set(registry.names("sound"))


def test_votes_alone_are_tight_on_the_half_space() -> None:
    case = tight_cases()["cohen"]
    g, distance = case.truth
    p = case.oracle.probabilities(case.x.numpy(), case.sigma)[g]
    assert cohen_radius(p, 1 - p, case.sigma) == pytest.approx(distance, rel=1e-9)


def test_a_ball_moved_off_the_face_is_tight_where_the_box_blocks_the_normal() -> None:
    """Moved by a m / (1 - a^2), with a the blocked part of the normal and m the margin, it reaches the truth."""
    case = tight_cases()["boundary"]
    a, m = 0.6, 0.3
    shift = a * m / (1 - a * a)
    g, distance = case.truth
    p = case.oracle.probabilities(case.x.numpy() + np.array([shift, 0.0]), case.sigma)[g]
    radius = cohen_radius(p, 1 - p, case.sigma)
    assert np.sqrt(radius**2 - shift**2) == pytest.approx(distance, rel=1e-6)
    assert distance > 1.2 * m, "much more than votes at the input can show"


def test_the_gradient_is_tight_on_the_slab() -> None:
    case = tight_cases()["first_order"]
    g, distance = case.truth
    x = case.x.numpy()
    p = case.oracle.probabilities(x, case.sigma)[g]
    gamma = case.sigma * np.linalg.norm(case.oracle.gradient(x, case.sigma)[g])
    radius = first_order_radius(p, [Rival(1 - p, 2 * float(gamma))], case.sigma)
    assert radius == pytest.approx(distance, rel=1e-3)


def test_the_centred_slab_has_no_gradient_for_pairs_to_miss() -> None:
    case = tight_cases()["dipole"]
    g, _ = case.truth
    p = case.oracle.probabilities(case.x.numpy(), case.sigma)
    assert p[g] == pytest.approx(2 * Phi(1.0) - 1)
    assert np.allclose(case.oracle.gradient(case.x.numpy(), case.sigma), 0)
