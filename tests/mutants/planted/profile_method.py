"""The method `profile`: lines and bins, the bound from a table, the statistic, and its verifier."""

from tests.mutants.mutant import Mutant

_LINES, _TALLY, _BOUND, _METHOD = "lines.py", "tally.py", "bounds/profile.py", "methods/profile.py"
_COVERING, _VERIFIER, _PLANE = (
    "geometry/profile/covering.py",
    "audit/reverify/profile.py",
    "audit/reverify/plane.py",
)
_FORGED = "audit/reverify/test_profile.py::test_a_forged_profile_is_refuted"
_PARTS = "bounds/test_profile.py::test_a_profile_is_what_its_parts_say"

MUTANTS = (
    Mutant(
        "projection-without-its-rest",
        _LINES,
        " + products[:, whole:].sum(1)",
        "",
        "The bin of a draw is that of its whole projection: else the masses of the bins are not known.",
        ("test_lines.py::test_places_are_those_of_the_exact_projection",),
        quick=True,
    ),
    Mutant(
        "rounding-of-bins-paid-for-one-edge",
        _LINES,
        "each = 0.8 * 1.01 * error * edges",
        "each = 0.8 * 1.01 * error",
        "A draw may be misplaced at every edge.",
        ("test_lines.py::test_the_budget_grows_with_draws_and_edges_and_is_small",),
    ),
    Mutant(
        "line-of-any-length",
        _LINES,
        "if not abs(square - 1) <= _UNIT / 2:",
        "if not square > 0:",
        "Along a vector that is no unit vector the bins have other masses.",
        ("test_lines.py::test_wrong_lines_are_refused",),
    ),
    Mutant(
        "bins-of-the-first-line-for-all",
        _TALLY,
        "bins = [line.places(flat) for line in self.request.lines]",
        "bins = [self.request.lines[0].places(flat) for _ in self.request.lines]",
        "Each rival has a line of its own.",
        ("test_tally.py::test_tables_by_bins_equal_the_obvious_computation",),
    ),
    Mutant(
        "masses-of-bins-as-drawn",
        _BOUND,
        "    known = float(masses @ (prices.k_a + prices.k_b - c))",
        "    known = float(counts.sum(axis=1) / counts.sum() @ (prices.k_a + prices.k_b - c))",
        "The mean of the control variate is known from the exact masses, not from the draws that are judged.",
        ("bounds/test_profile.py::test_the_known_part_uses_exact_masses",),
    ),
    Mutant(
        "prices-fixed-after-the-bins-were-seen",
        _BOUND,
        "    prices, c = test.prices, np.asarray(test.control, np.float64)\n    counts = np.asarray(table)\n",
        "    counts = np.asarray(table)\n"
        "    lucky = counts[:, 0] * 2 >= counts.sum(axis=1)\n"
        "    prices = test.prices._replace(k_a=test.prices.k_a * lucky)\n"
        "    c = np.asarray(test.control, np.float64)\n",
        "Prices chosen by the bins that they are tested on make Markov's inequality speak of another variable.",
        ("bounds/test_profile.py::test_the_known_part_uses_exact_masses",),
    ),
    Mutant(
        "profile-designed-on-the-certify-draws",
        _METHOD,
        'trials.votes([trials.x], "profile", tuple(dict.fromkeys(rows)), split, tuple(dict.fromkeys(lines)))',
        "trials.smoothed.tallies([replace(Request(trials.x, trials.per_verdict, "
        'replace(trials._stream("profile"), stage="certify"), tuple(dict.fromkeys(rows)), split), '
        "lines=tuple(dict.fromkeys(lines)))])",
        "The bins that certify would have been seen before the prices were fixed.",
        ("methods/test_profile.py::test_the_design_sees_search_draws_alone",),
    ),
    Mutant(
        "one-half-of-the-draws-used-twice",
        _TALLY,
        "means = (self._sums[0] + self._lost[0]).cpu().numpy() / max(self._split, 1)",
        "means = (self._sums.sum(0) + self._lost.sum(0)).cpu().numpy() / self.request.n",
        "A ray aimed by draws of the second half finds them along it: (R7) needs two independent halves.",
        ("test_rays.py",),
    ),
    Mutant(
        "mean-of-the-control-variate-forgotten",
        _BOUND,
        "    known = float(masses @ (prices.k_a + prices.k_b - c))",
        "    known = float(masses @ (prices.k_a + prices.k_b))",
        "What the control variate takes off each draw must be taken off the known part as well.",
        ("bounds/test_profile.py::test_many_draws_give_the_truth_for_every_control_variate",),
    ),
    Mutant(
        "functional-at-the-whole-of-alpha",
        _BOUND,
        "functional_lower_bound(sector.test, seen.table, functional)",
        "functional_lower_bound(sector.test, seen.table, alpha)",
        "The functional shares alpha with the slope, the bins and the counts.",
        (_PARTS,),
    ),
    Mutant(
        "slope-at-the-whole-of-alpha",
        _BOUND,
        "    gamma = ray_gradient_bound(seen.moments, test.gradient, level, ",
        "    gamma = ray_gradient_bound(seen.moments, test.gradient, alpha, ",
        "The slope off the line shares alpha with the functional.",
        (_PARTS,),
    ),
    Mutant(
        "sectors-by-another-functional",
        _COVERING,
        "            row.append(np.full(count, i))",
        "            row.append(np.full(count, 0))",
        "A sector is covered by its own functional alone: of many, one has failed with more than alpha.",
        ("geometry/profile/test_covering.py",),
    ),
    Mutant(
        "sectors-without-a-covering",
        _COVERING,
        "    return columns.cover(min(limit, ceiling))",
        "    return min(limit, ceiling)",
        "The lead at a few angles says nothing of those between.",
        ("geometry/profile/test_covering.py",),
    ),
    Mutant(
        "eta-along-the-line",
        _METHOD,
        "if profile.eta is not None and np.any((profile.eta != 0) & (profile.line.direction != 0)):",
        "if profile.eta is not None and np.any(~np.isfinite(profile.eta)):",
        "(R4) needs an eta at right angles to the line.",
        ("methods/test_profile.py::test_what_cannot_be_meant",),
    ),
    Mutant(
        "rivals-without-a-line-forgotten",
        _METHOD,
        "return Finding((*bounds, *rest), ",
        "return Finding(tuple(bounds), ",
        "A class without a line can overtake, too.",
        ("methods/test_profile.py::test_every_rival_is_held_off",),
    ),
    Mutant(
        "rival-and-others-exchanged",
        _METHOD,
        "np.stack([a, b, table.sum(axis=1) - a - b], axis=1)",
        "np.stack([a, table.sum(axis=1) - a - b, b], axis=1)",
        "Votes for others do not count against the lead over the rival as its own do.",
        ("methods/test_profile.py::test_votes_of_other_classes_are_neither",),
    ),
    Mutant(
        "verifier-takes-any-table",
        _VERIFIER,
        '    require(sums == wanted, "rule profile: the bins do not give back the votes")\n',
        "",
        "A table of other draws would pass.",
        (_FORGED,),
    ),
    Mutant(
        "verifier-pays-nothing-for-bins",
        _VERIFIER,
        "    require(paid >= _misplaced(line, sum(counts), len(edges)), ",
        "    require(paid > 0 and line.size > 0, ",
        "Rounding puts a draw into a wrong bin with a probability that must be paid for.",
        ("audit/reverify/test_profile.py::test_too_little_of_alpha_for_the_rounding_of_bins_is_refuted",),
    ),
    Mutant(
        "verifier-forgets-the-slope",
        _VERIFIER,
        "mean - 1 - mu * gamma - _MARGIN * (1 + mu)",
        "mean - 1",
        "The slope off the line costs mu gamma.",
        (_FORGED,),
    ),
    Mutant(
        "verifier-takes-gaps-between-sectors",
        _PLANE,
        "    return all(\n        any(",
        "    return any(\n        any(",
        "A displacement in no sector has no functional that serves it.",
        ("audit/reverify/test_profile.py::test_pieces_that_leave_a_gap_do_not_tile", _FORGED),
    ),
    Mutant(
        "verifier-takes-an-eta-along-the-line",
        _VERIFIER,
        "        require(not bool(np.any((line != 0) & (eta != 0))), ",
        "        require(bool(np.any(np.isfinite(eta))), ",
        "(R4) needs an eta at right angles to the line.",
        ("audit/reverify/test_profile.py::test_a_line_that_meets_eta_is_refuted",),
    ),
)
