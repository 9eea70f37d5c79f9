"""The audit by repetition: bugs that would let a method pass that claims too much."""

from tests.mutants.mutant import Mutant

_COVERAGE, _VALIDITY = "audit/coverage.py", "audit/validity.py"
_MISS = "audit/test_coverage.py::test_a_miss_is_a_radius_beyond_the_truth_or_any_radius_for_a_wrong_class"

MUTANTS = (
    Mutant(
        "wrong-class-is-no-miss",
        _COVERAGE,
        "wrong = radius > 0 and (predicted != g or tied)",
        "wrong = False",
        "Any radius for a wrong class, or at a tie, is too large.",
        (_MISS,),
    ),
    Mutant(
        "misses-within-a-tenth-forgiven",
        _COVERAGE,
        "radius > distance * (1 + _TOLERANCE)",
        "radius > 1.1 * distance",
        "A method whose radii are a tenth too large would pass.",
        (_MISS,),
    ),
    Mutant(
        "more-misses-than-the-test-allows",
        _COVERAGE,
        "return int(stats.binom.isf(level, times, alpha))",
        "return 2 * int(stats.binom.isf(level, times, alpha))",
        "A method that fails nearly twice as often as it says would pass.",
        ("audit/test_coverage.py::test_the_misses_allowed_are_those_of_the_exact_test",),
    ),
    Mutant(
        "wrong-predictions-at-a-tie-forgiven",
        _COVERAGE,
        "return sum(answer.label != ABSTAIN and (answer.label != g or distance == 0) for answer in answers)",
        "return sum(answer.label != ABSTAIN and answer.label != g for answer in answers)",
        "At a tie any class named is wrong, and that is where a prediction errs.",
        ("audit/test_coverage.py::test_every_prediction_at_a_tie_is_wrong",),
    ),
    Mutant(
        "p-value-of-one-miss-less",
        _VALIDITY,
        "return float(stats.binom.sf(self.misses - 1, self.times, self.alpha))",
        "return float(stats.binom.sf(self.misses // 2, self.times, self.alpha))",
        "Half of the misses would not count.",
        ("audit/test_validity.py::test_the_p_value_is_that_of_the_exact_test",),
    ),
    Mutant(
        "radii-of-methods-beside-on-trust",
        "audit/reverify/certificates.py",
        "    if unproved:",
        "    if not made.radii:",
        "A radius that nothing stored proves would be confirmed with the others.",
        ("audit/reverify/test_certificates.py::test_what_stands_beside_the_chosen_method_is_verified_like_it",),
    ),
    Mutant(
        "radius-of-a-method-not-its-own",
        "audit/reverify/certificates.py",
        '        require(made.radii.get(method) == claim.radius, f"the radius is not that of the method {method}")\n',
        "",
        "The radius shown for a method must be the one that its balls prove.",
        ("audit/reverify/test_certificates.py::test_what_stands_beside_the_chosen_method_is_verified_like_it",),
    ),
)
