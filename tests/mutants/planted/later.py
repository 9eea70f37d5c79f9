"""Bugs in the newest bounds: slopes along rays, votes that go on with a control variate."""

from tests.mutants.mutant import Mutant

_RAY, _CONTROLLED = "bounds/ray_gradient.py", "bounds/controlled_votes.py"

MUTANTS = (
    Mutant(
        "ends-of-the-ray-without-eta",
        _RAY,
        "ends = [min(max(end - moments.ahead, -most), most) for end in (-x, x)]",
        "ends = [min(max(end, -most), most) for end in (-x, x)]",
        "The mean along the ray lies between ends that are moved by eta; a shorter interval leaves out the worst.",
        ("bounds/test_ray_gradient.py::test_it_is_what_the_verifier_proves_and_hardly_more",),
    ),
    Mutant(
        "ends-of-the-ray-without-the-clipping",
        _RAY,
        "max(spare(ends[0] - bias), spare(ends[1] + bias))",
        "max(spare(ends[0]), spare(ends[1]))",
        "Clipping moves the mean of what is seen beyond the ends that the slope itself has.",
        ("bounds/test_ray_gradient.py::test_it_is_what_the_verifier_proves_and_hardly_more",),
    ),
    Mutant(
        "third-order-of-the-logarithm-too-large",
        _RAY,
        "stake**3 * third / 3",
        "stake**3 * third / 2",
        "The sum would be above the logarithm where draws lie on one side.",
        ("bounds/test_ray_gradient.py::test_it_is_what_the_verifier_proves_and_hardly_more",),
    ),
    Mutant(
        "fourth-order-of-the-logarithm-too-small",
        _RAY,
        "reach**j / (j + 4) for j",
        "reach**j / (j + 5) for j",
        "The sum would be above the logarithm near the end of its range.",
        ("bounds/test_ray_gradient.py::test_the_logarithm_is_bounded_from_below",),
    ),
    Mutant(
        "clipping-of-one-side-alone",
        _RAY,
        "return HEAVIEST * 2 * (density",
        "return HEAVIEST * (density",
        "Projections are clipped on both sides, and votes may lie against both.",
        ("bounds/test_ray_gradient.py::test_what_clipping_moves",),
    ),
    Mutant(
        "rounding-of-the-first-half-forgotten",
        _RAY,
        " + slack + 2 * lam * SUM_ERROR * x",
        " + slack",
        "The norm of the first half's mean is known up to the rounding of its sums.",
        ("bounds/test_ray_gradient.py::test_what_sums_may_lose_is_added",),
    ),
    Mutant(
        "change-with-bins-for-free",
        _CONTROLLED,
        "return 2 * MAJORITY * alpha + misplaced",
        "return 2 * MAJORITY * alpha",
        "A draw in a wrong bin is an event of its own, and its probability is to be set aside.",
        ("bounds/test_controlled_votes.py::test_the_reserve_pays_for_both_events",),
    ),
    Mutant(
        "majority-at-ten-times-its-level",
        _CONTROLLED,
        "[hits, draws - hits]) >= target(level))",
        "[hits, draws - hits]) >= target(10 * level))",
        "The level set aside for a wrong majority would not cover it.",
        ("bounds/test_controlled_votes.py::test_a_majority_is_shown_at_the_level_set_aside",),
    ),
    Mutant(
        "targets-of-the-largest-level",
        _CONTROLLED,
        "targets=np.array([target(level) for level in levels]),",
        "targets=np.array([target(max(levels)) for _ in levels]),",
        "The smallest radius pays for all classes, so its level is lower than those of the others.",
        ("bounds/test_controlled_votes.py::test_every_radius_keeps_the_target_of_its_own_level",),
    ),
)
