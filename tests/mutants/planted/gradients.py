"""Bounds on the gradient of a lead from the noise of the draws, (F2) and (F3)."""

from tests.mutants.mutant import Mutant

_GRADIENT, _CUMULANT = "bounds/gradient.py", "bounds/cumulant.py"
_PROOF = "bounds/test_gradient.py::test_it_is_the_largest_norm_that_the_proof_leaves"
_REGIONS = "bounds/test_cumulant.py::test_no_region_of_votes_exceeds_it"

MUTANTS = (
    Mutant(
        "gradient-bound-without-a-level",
        _GRADIENT,
        "(c - 1 - log(c))) - log(alpha)",
        "(c - 1 - log(c)))",
        "Without ln(1/alpha) the bound holds at no level at all.",
        (_PROOF,),
    ),
    Mutant(
        "gradient-at-twice-its-level",
        _GRADIENT,
        "(c - 1 - log(c))) - log(alpha)",
        "(c - 1 - log(c))) - log(min(1.0, 2 * alpha))",
        "The bound fails twice as often as was paid for.",
        (_PROOF,),
    ),
    Mutant(
        "rounding-of-the-half-means-ignored",
        _GRADIENT,
        "dot = moments.dot + SUM_ERROR * (norm1 + moments.norm2)",
        "dot = moments.dot",
        "Sums of many products are off by their rounding, and (F2) is used up to it.",
        ("bounds/test_gradient.py::test_what_sums_may_lose_is_added",),
    ),
    Mutant(
        "tilt-kept-in-a-box",
        _GRADIENT,
        "c = test.tilt if shift is None else 1.0",
        "c = test.tilt",
        "The tangent of the logarithm was proved for half means without a shift only.",
        (_PROOF,),
    ),
    Mutant(
        "start-without-the-shift",
        _GRADIENT,
        "most = largest_lead_gradient(votes) + (shift or 0.0)",
        "most = largest_lead_gradient(votes)",
        "The shifted vector can be longer than any gradient, so the descent would start below it.",
        ("bounds/test_gradient.py::test_in_a_box_the_descent_starts_above_every_vector",),
    ),
    Mutant(
        "second-half-forgotten",
        _GRADIENT,
        "R = lam * dot + n2 * (c * psi(lam * norm1 / n2) + (c - 1 - log(c)))",
        "R = lam * dot + n2 * (c - 1 - log(c))",
        "What the second half adds by chance would be taken for certain.",
        (_PROOF,),
    ),
    Mutant(
        "rival-votes-weigh-one",
        _GRADIENT,
        "weights[list(rival)] = 2.0 - offset",
        "weights[list(rival)] = 1.0 - offset",
        "The sums would estimate the gradient of p_A and miss that of the rival.",
        ("bounds/test_gradient.py::test_weights_have_the_gradient_of_the_lead_as_mean",),
    ),
    Mutant(
        "moments-without-the-rival",
        _CUMULANT,
        "votes = first + tail_supremum(s * (2 - c0), -s * c0, q)",
        "votes = first",
        "Votes for the rival have the largest weight, and their exponential moments count.",
        (_REGIONS,),
    ),
    Mutant(
        "moments-without-the-offset",
        _CUMULANT,
        "return expm1(0.5 * (s * c0) ** 2) * (1 + _RELATIVE) + votes",
        "return votes",
        "The control variate adds variance of its own.",
        (_REGIONS,),
    ),
    Mutant(
        "moments-of-half-the-mass",
        _CUMULANT,
        "value = mu * q + curve.integral(a, inf, mu)",
        "value = mu * q / 2 + curve.integral(a, inf, mu)",
        "The dual bound would be below what some region of that mass attains.",
        ("bounds/test_cumulant.py::test_supremum_over_sets",),
    ),
    Mutant(
        "sums-too-rough-accepted",
        "tally.py",
        "if summation_error(shape[2], largest) > SUM_ERROR:",
        "if summation_error(shape[2], largest) > 1:",
        "In very many coordinates the sums lose more than the bound on the gradient allows for.",
        ("test_tally.py::test_moments_that_cannot_be_summed_to_the_allowed_error_are_refused",),
    ),
    Mutant(
        "halves-cut-elsewhere",
        "tally.py",
        "cut = min(max(self._split - first, 0), len(votes))",
        "cut = min(max(self._split - first, 0), len(votes)) // 2",
        "Draws of the first half would be summed into the second, whose size is another.",
        ("test_tally.py::test_moments_equal_the_obvious_computation",),
    ),
    Mutant(
        "a-bound-that-is-no-number-is-zero",
        "bounds/gradient.py",
        "sqrt(max(square(x), 0.0))",
        "sqrt(max(0.0, square(x)))",
        "Where a square overflows to NaN the gradient would be taken to be 0.",
        ("bounds/test_gradient.py::test_a_square_that_is_no_number_bounds_nothing",),
    ),
)
