"""Votes by bins with a control variate, (R6): the bound, its use and its verifier."""

from tests.mutants.mutant import Mutant

_BOUND, _VERIFIER = "bounds/controlled.py", "audit/reverify/profile.py"
_JOINT = "bounds/test_controlled.py::test_a_constant_control_gives_the_joint_rule"
_TRUE = "audit/reverify/test_profile.py::test_a_true_controlled_certificate_is_confirmed"
_FORGED = "audit/reverify/test_profile.py::test_a_forged_control_variate_is_refuted"

MUTANTS = (
    Mutant(
        "controlled-bins-for-free",
        _BOUND,
        'bins = budget.take(misplaced, "bins")',
        "bins = misplaced",
        "That rounding misplaces a draw is an event of its own, which shares alpha with the mean.",
        ("bounds/test_controlled.py::test_the_bins_are_paid_for",),
        quick=True,
    ),
    Mutant(
        "controlled-at-a-larger-level",
        _BOUND,
        "functional_lower_bound(test.functional, table, level)",
        "functional_lower_bound(test.functional, table, min(4 * level, 0.9))",
        "The mean may fail with what is left of alpha, and no more.",
        ("bounds/test_controlled.py::test_coverage_by_enumeration", _JOINT),
    ),
    Mutant(
        "controlled-rival-for-nothing",
        _BOUND,
        "joint_radius(mean, test.k_a, test.k_b, sigma)",
        "joint_radius(mean, test.k_a, 0.5 * test.k_b, sigma)",
        "Both prices cost what they cost at a distance.",
        (_JOINT,),
    ),
    Mutant(
        "controlled-price-of-the-class-twice",
        _BOUND,
        "self.k_a * one, self.k_b * one, 0.0), self.control",
        "self.k_a * one, self.k_a * one, 0.0), self.control",
        "The mean that is bounded must be the one whose lead is computed.",
        (_JOINT,),
    ),
    Mutant(
        "verifier-forgets-the-mean-of-the-control",
        _VERIFIER,
        "    known = k_a + k_b - sum((high - low) * each for ",
        "    known = k_a + k_b - sum(0 * (high - low) * each for ",
        "What the control variate takes off each draw must be taken off the known part as well.",
        (_TRUE, _FORGED),
    ),
    Mutant(
        "verifier-takes-any-controlled-stake",
        _VERIFIER,
        'require(0 < stake <= 1 / spread, "rule controlled: the stake is out of range")',
        "stake = abs(stake)",
        "A stake that lets a factor fall below 0 proves nothing.",
        (_FORGED,),
    ),
)
