"""Bets at any number of looks: (Q1), (Q2), ladders of radii, races without a chosen class."""

from tests.mutants.mutant import Mutant

_SEQUENCES, _LADDER, _RIVALS, _LEADER = (f"bounds/{name}.py" for name in ("sequences", "ladder", "rivals", "leader"))

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
        "draws-counted-again-after-a-change",
        _LADDER,
        "        start(new),\n        draws=progress.draws,",
        "        progress,\n        draws=progress.draws,",
        "New bets, fixed from draws already seen, would be applied to those same draws.",
        ("bounds/test_ladder.py::test_a_change_keeps_wealth_and_claims",),
    ),
    Mutant(
        "radii-claimed-out-of-order",
        _LADDER,
        "return won.index(False) if False in won else len(won)",
        "return sum(won)",
        "Only if a radius waits for all smaller ones is the smallest false one all that must be paid for.",
        ("bounds/test_ladder.py::test_claims_are_made_in_order",),
    ),
    Mutant(
        "one-rival-is-enough",
        _LADDER,
        "won = [all(row) for row in self.reached]",
        "won = [any(row) for row in self.reached]",
        "Every rival must be shown to be behind.",
        ("bounds/test_ladder.py::test_every_rival_must_lose",),
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
        "price-of-one-class-only",
        _RIVALS,
        "tau = 1 + price_loss(price_a, t) + price_loss(price_b, t)",
        "tau = 1 + price_loss(price_a, t)",
        "The price on the rival loses at a distance as that on the class does.",
        ("bounds/test_rivals.py::test_any_prices_lose_money_where_the_rival_is_not_behind",),
    ),
    Mutant(
        "control-variate-without-its-mean",
        _RIVALS,
        "np.asarray(table - c[:, None] + math.fsum(m * c) - slack, np.float64)",
        "np.asarray(table + np.abs(c)[:, None] + math.fsum(m * c) - slack, np.float64)",
        "A control variate must have mean 0 for the bet to stay fair.",
        ("bounds/test_rivals.py::test_a_control_variate_never_raises_the_mean",),
    ),
)
