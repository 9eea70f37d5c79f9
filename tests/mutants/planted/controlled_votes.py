"""Votes that go on with a control variate: bugs that would let it see its own draws, or bet on what is not fair."""

from tests.mutants.mutant import Mutant

_CONTROLLED, _LEADER, _PROTOCOL, _STREAM, _VERIFIER = (
    "bounds/controlled_votes.py",
    "bounds/leader.py",
    "protocols/control.py",
    "smoothing/votes.py",
    "audit/reverify/changed.py",
)

MUTANTS = (
    Mutant(
        "control-without-its-masses",
        _CONTROLLED,
        "table = controlled_payoffs(vote_payoffs(t), self.values, self.masses.tolist())",
        "table = controlled_payoffs(vote_payoffs(t), self.values, [1 / len(self.values)] * len(self.values))",
        "The mean of the control variate is taken over the law of z, not over the bins.",
        ("bounds/test_controlled_votes.py::test_the_mean_payoff_is_that_of_counting_and_no_factor_is_negative",),
    ),
    Mutant(
        "wealth-starts-anew-at-a-change",
        _CONTROLLED,
        "earned=ladder.log_wealth(counts)[list(places), 0],",
        "earned=np.maximum(ladder.log_wealth(counts)[list(places), 0], 0.0),",
        "What counting lost before the change would be forgiven: the larger of two wealths.",
        ("bounds/test_controlled_votes.py::test_the_wealth_goes_on_from_where_counting_brought_it",),
    ),
    Mutant(
        "majority-shown-at-beta",
        _CONTROLLED,
        "    level = MAJORITY * alpha\n",
        "    level = alpha\n",
        "A class with half of the probability would be changed to far more often than was set aside for.",
        ("bounds/test_controlled_votes.py::test_a_majority_is_shown_at_the_level_set_aside",),
    ),
    Mutant(
        "change-not-paid-for",
        _LEADER,
        "    alpha = (alpha - reserve) * (1 - 1e-12) if reserve else alpha\n",
        "",
        "A class that is no majority and draws in a wrong bin would be paid for by nobody.",
        ("bounds/test_leader.py::test_a_change_is_paid_for",),
    ),
    Mutant(
        "leader-just-above-half-forgotten",
        _LEADER,
        "    least = 0.5 if reserve else p0[0]",
        "    least = p0[0]",
        "After a change a class between 1/2 and the threshold is claimed with the whole of its level.",
        ("bounds/test_leader.py::test_a_change_is_paid_for",),
    ),
    Mutant(
        "another-class-after-a-change",
        _LEADER,
        "            table[place, int(vote != top)] += 1\n",
        "            table[place, int(vote != max(range(len(counts)), key=counts.__getitem__))] += 1\n",
        "Votes of whichever class leads now would count for the class of the change.",
        ("bounds/test_leader.py::test_after_a_change_only_its_class_is_counted",),
    ),
    Mutant(
        "control-made-from-later-draws",
        _PROTOCOL,
        "        np.add.at(pilot, (bins[used:draws], np.where(hits[used:draws], 0, 1)), 1)\n",
        "        hits = self._votes.past_votes(self._votes.drawn).numpy() == top\n"
        "        np.add.at(pilot, (bins[used:], np.where(hits[used:], 0, 1)), 1)\n",
        "The control variate and the stakes would have seen draws that they are applied to.",
        ("protocols/test_control.py::test_nothing_after_the_look_of_the_change_is_seen",),
    ),
    Mutant(
        "direction-and-control-from-the-same-draws",
        _PROTOCOL,
        "        return self._past_slope(used, top), cost, used\n",
        "        return self._past_slope(used, top), cost, 0\n",
        "Draws that showed the direction lie along it by more than chance: c would be far too steep.",
        ("protocols/test_control.py::test_a_black_box_goes_on_by_its_past_votes",),
    ),
    Mutant(
        "bins-of-other-draws",
        _STREAM,
        "            del self._bins[: first - self._first]\n",
        "            del self._bins[: max(0, first - self._first - 1)]\n",
        "Votes would be paired with the bins of other draws, as if z told nothing of them.",
        ("smoothing/test_votes.py::test_a_line_that_is_followed_late_knows_the_bins_of_all_draws",),
    ),
    Mutant(
        "verifier-takes-any-control",
        _VERIFIER,
        "            require(abs(stored - fitted) <= _FIT, ",
        "            require(abs(stored - fitted) <= 1, ",
        "A control variate fitted to the draws it serves would be confirmed.",
        ("audit/reverify/test_changed.py::test_another_control_variate_is_refuted",),
    ),
    Mutant(
        "verifier-takes-any-places",
        _VERIFIER,
        "            require(likely, ",
        "            require(True, ",
        "A table with draws where the control variate is small would prove any radius.",
        ("audit/reverify/test_changed.py::test_a_radius_that_was_given_up_cannot_be_claimed",),
    ),
    Mutant(
        "open-radii-inherit-the-wealth-of-smaller-ones",
        _CONTROLLED,
        "earned=ladder.log_wealth(counts)[list(places), 0]",
        "earned=ladder.log_wealth(counts)[: len(places), 0]",
        "A smaller radius is easier to win, so its wealth would claim a larger one too early.",
        ("bounds/test_controlled_votes.py::test_a_change_is_about_its_own_radii_in_units_of_sigma",),
    ),
    Mutant(
        "change-forgets-sigma",
        _CONTROLLED,
        "ladder.radii[place] / sigma * (1 + 1e-15) for place in places",
        "ladder.radii[place] * (1 + 1e-15) for place in places",
        "For sigma below 1 the threshold would be that of a smaller radius.",
        ("bounds/test_controlled_votes.py::test_a_change_is_about_its_own_radii_in_units_of_sigma",),
    ),
)
