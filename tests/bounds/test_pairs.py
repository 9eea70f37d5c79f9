"""Masses of pairs: coverage by summing over every outcome."""

import numpy as np
import pytest
from scipy.stats import multinomial

from doublebubble.bounds.binomial import clopper_pearson
from doublebubble.bounds.pairs import pair_mass


@pytest.mark.parametrize(("both", "one"), [(0.5, 0.3), (0.9, 0.05), (0.1, 0.1), (0.0, 1.0)])
def test_both_masses_hold_as_often_as_promised(both: float, one: float) -> None:
    """`single` is the probability of a draw whose opposite does not show the event: half of the pairs that show one."""
    pairs, parts = 30, (0.03, 0.02)
    wrong = 0.0
    for k in range(pairs + 1):
        for j in range(pairs + 1 - k):
            found = pair_mass(k, j, pairs, *parts)
            if found.both > both or found.single > one / 2:
                wrong += float(multinomial.pmf([k, j, pairs - k - j], pairs, [both, one, 1 - both - one]))
    assert wrong <= sum(parts)


def test_each_mass_spends_its_own_part_of_alpha() -> None:
    found = pair_mass(60, 20, 100, 0.01, 0.002)
    assert found.both == clopper_pearson(60, 100, 0.01, "lower")
    assert found.single == clopper_pearson(20, 100, 0.002, "lower") / 2
    assert np.isclose(found.both, 0.47936, atol=2e-3)
