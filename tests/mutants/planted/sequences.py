"""Bets at any number of looks: (Q1), (Q2), ladders of radii, races without a chosen class."""

from tests.mutants.mutant import Mutant

_SEQUENCES, _CONTROLLED, _LEADER = (f"bounds/{name}.py" for name in ("sequences", "controlled_votes", "leader"))

MUTANTS = (
    Mutant(
        "payoffs-of-a-smaller-radius",
        _SEQUENCES,
        "above = float(Phi(-t)) * (1 - _PHI)  # 1 - p0, rounded down",
        "above = float(Phi(-t)) * 1.02  # 1 - p0, rounded down",
        "The bet would make money at the threshold itself, where the radius is not yet certified.",
        ("bounds/test_sequences.py::test_payoffs_are_rounded_down",),
    ),
    Mutant(
        "wealth-rounded-up",
        _SEQUENCES,
        "np.ascontiguousarray((growth - error).transpose(0, 2, 1))",
        "np.ascontiguousarray((growth + 1e4 * error).transpose(0, 2, 1))",
        "Rounding over many draws would add wealth that nobody won.",
        ("bounds/test_sequences.py::test_the_log_wealth_is_rounded_down_and_by_little",),
    ),
    Mutant(
        "weights-above-one",
        _SEQUENCES,
        "w = np.maximum(w / math.fsum(w), 1e-300) * (1 - 1e-12)",
        "w = np.maximum(w / w.max(), 1e-300) * (1 - 1e-12)",
        "Stakes that together exceed the wealth start with more than 1.",
        ("bounds/test_sequences.py::test_the_mean_wealth_is_one_at_the_threshold_and_less_below",),
    ),
    Mutant(
        "target-too-low",
        _SEQUENCES,
        "return -math.log(alpha) * (1 + 4 * _U)",
        "return -math.log(min(1.0, 2 * alpha))",
        "Wealth 1/(2 alpha) is reached with probability up to twice alpha.",
        ("bounds/test_sequences.py::test_target_is_not_below_the_logarithm",),
    ),
    Mutant(
        "radii-claimed-out-of-order",
        _LEADER,
        "return self.wins.index(None) if None in self.wins else len(self.wins)",
        "return sum(win is not None for win in self.wins)",
        "Only if a radius waits for all smaller ones is the smallest false one all that must be paid for.",
        ("bounds/test_leader.py::test_only_the_radii_before_the_first_that_has_not_won_are_claimed",),
    ),
    Mutant(
        "first-radius-pays-for-no-class",
        _LEADER,
        "    return (low, *((alpha - others(p, low)) * (1 - 1e-12) for p in p0[:-1]))",
        "    return tuple(alpha for _ in radii)",
        "Without a chosen class every class has a chance to be claimed wrongly.",
        ("bounds/test_leader.py::test_the_first_level_pays_for_all_classes",),
    ),
    Mutant(
        "candidate-changes-with-the-leader",
        _LEADER,
        "        hits = max(counts) if candidate is None else counts[candidate]\n",
        "        hits = max(counts)\n",
        "The radii claimed are those of the class that was claimed first.",
        ("bounds/test_leader.py::test_the_leader_becomes_the_candidate_and_stays",),
    ),
    Mutant(
        "control-variate-without-its-mean",
        _CONTROLLED,
        "np.asarray(table - c[:, None] + math.fsum(m * c) - slack, np.float64)",
        "np.asarray(table + np.abs(c)[:, None] + math.fsum(m * c) - slack, np.float64)",
        "A control variate must have mean 0 for the bet to stay fair.",
        ("bounds/test_controlled_votes.py::test_a_control_variate_never_raises_the_mean",),
    ),
)
