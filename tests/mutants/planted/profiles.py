"""Certificates from the profile of the votes along a line: costs, coverings, and the functional that draws bound."""

from tests.mutants.mutant import Mutant

_COST, _COVERING = "geometry/profile/cost.py", "geometry/profile/covering.py"
_HALVES = "geometry/profile/test_covering.py::test_both_halves_of_a_split_column_are_covered"

MUTANTS = (
    Mutant(
        "chord-below-the-cost",
        _COST,
        "mixed: Floats = c_low * (mass - weight) + c_high * weight + ROUNDING * c_low * mass",
        "mixed: Floats = c_low * (mass - weight) * 0.999 + c_high * weight",
        "A chord must lie above the convex cost that it stands for.",
        ("geometry/profile/test_cost.py::test_chords_lie_above",),
    ),
    Mutant(
        "unbounded-bins-free",
        _COST,
        "            total += np.where(sign * a < 0, falling, _mixed(c_edge, c_edge, mass, weight))",
        "            total += 0 * falling",
        "The outermost bins hold mass, too.",
        ("geometry/profile/test_cost.py::test_an_unbounded_bin_counts",),
    ),
    Mutant(
        "prices-of-the-class-only",
        _COST,
        "c = c.sum(axis=1)  # of the two prices, whose chords have the same ends",
        "c = c[:, 0]",
        "The price on the rival costs as that on the class does.",
        ("geometry/profile/test_cost.py::test_ten_thousand_checks_find_no_violation",),
    ),
    Mutant(
        "ball-larger-than-its-lead",
        _COVERING,
        "np.maximum(Phi_inv(0.5 * (1 + m)) - _MARGIN, 0.0)",
        "np.maximum(2 * Phi_inv(0.5 * (1 + m)) - _MARGIN, 0.0)",
        "A lead m reaches as far as Fact L lets it, and no farther.",
        ("geometry/profile/test_covering.py::test_the_reach_of_a_lead",),
    ),
    Mutant(
        "corners-of-cells-forgotten",
        _COVERING,
        "apart = np.maximum(np.abs(high - angle), np.abs(angle - low))",
        "apart = np.minimum(np.abs(high - angle), np.abs(angle - low)) / 2",
        "A cell lies in a ball only if its farthest corner does.",
        ("geometry/profile/test_covering.py::test_a_cell_in_a_ball",),
    ),
    Mutant(
        "slope-off-the-line-free",
        _COVERING,
        "return mean_lower - 1 - mu * gamma - 2.0**-50",
        "return mean_lower - 1 - 2.0**-50",
        "What lies off the line can fall as fast as gamma allows.",
        ("geometry/profile/test_covering.py::test_the_value_of_a_sector",),
    ),
    Mutant(
        "gaps-between-sectors",
        _COVERING,
        "            if not any(s.low <= low and high <= s.high and ",
        "            if not any(s.low <= low + 0.5 and high <= s.high + 0.5 and ",
        "A direction in no sector has no functional that serves it.",
        ("geometry/profile/test_covering.py::test_what_cannot_be_meant",),
    ),
    Mutant(
        "range-of-the-functional-as-seen",
        "bounds/profile.py",
        "low, high = float(values.min()), float(values.max())\n    upper",
        "low, high = float(values[counts > 0].min()), float(values[counts > 0].max())\n    upper",
        "Pairs of bin and vote that were not drawn can still have most of the mean.",
        ("bounds/test_profile.py::test_the_range_is_not_what_was_seen",),
    ),
    Mutant(
        "votes-of-others-cost-nothing",
        "bounds/profile.py",
        "return np.stack([-c, prices.k_a + prices.k_b - c, prices.k_a - c], axis=1)",
        "return np.stack([-c, prices.k_a + prices.k_b - c, -c], axis=1)",
        "A vote for a third class is one less for A.",
        ("bounds/test_profile.py::test_coverage_whatever_the_guess",),
    ),
    Mutant(
        "upper-halves-of-columns-lost",
        _COVERING,
        "np.append(np.where(split, middle, high), high[split])",
        "np.append(np.where(split, middle, high), middle[split])",
        "Directions in the upper half of a column that was split would be claimed without a proved lead.",
        (_HALVES,),
    ),
    Mutant(
        "lower-halves-of-columns-lost",
        _COVERING,
        "np.append(np.where(split, middle, high), high[split])",
        "np.append(np.where(split, low, high), high[split])",
        "Directions in the lower half of a column that was split would be claimed without a proved lead.",
        (_HALVES,),
    ),
)
