"""How pairs of opposite draws show an event, bounded from below by counts: what (F6) needs. No torch."""

from doublebubble.bounds.binomial import clopper_pearson
from doublebubble.geometry.dipole import PairMass


def pair_mass(both: int, one: int, pairs: int, alpha_both: float, alpha_one: float) -> PairMass:
    """With probability at least 1 - alpha_both - alpha_one over the pairs, both masses hold for the event counted.

    `both` of the pairs showed the event twice, `one` of them once.
    """
    single = clopper_pearson(one, pairs, alpha_one, "lower") / 2
    return PairMass(clopper_pearson(both, pairs, alpha_both, "lower"), single)
