"""Pairs of opposite draws at the input."""

import numpy as np
import torch

import doublebubble as db
from doublebubble.bounds import pair_mass
from doublebubble.geometry import dipole_radius
from doublebubble.methods.dipole import PairsStatistic
from doublebubble.tally import Tally
from tests.methods.slab import slab


def test_pairs_gain_on_the_slab() -> None:
    config = db.CertifyConfig(n=20_000, alpha=0.05, methods=("cohen", "dipole"))
    cert = db.Certifier(slab(10, 0.9), config).certify(torch.zeros(10), index=0)
    assert cert.radii["dipole"] > 1.2 * cert.radii["cohen"]
    assert cert.balls[0].statistic == "dipole"
    assert cert.balls[0].centre is None


def test_binary_pairs_pay_for_two_events() -> None:
    pairs = np.array([[100, 300, 600], [600, 300, 100]])
    (bound,) = PairsStatistic(1, binary=True).judged(pairs, 1000, 0.01, 0.5).bounds
    mass = pair_mass(600, 300, 1000, 0.005, 0.005)
    assert bound.alphas == (0.005, 0.005)
    assert bound.radius == dipole_radius(mass, [mass], 0.5)


def test_every_rival_has_the_whole_of_alpha_for_its_pairs() -> None:
    """Four events of a quarter each, for the rival that decides, however many rivals there are."""
    for rest in ([[5, 20, 975]], [[1, 4, 995]] * 5, [[0, 0, 1000]] * 50):
        pairs = np.array([[600, 250, 150], [50, 200, 750], [20, 100, 880], *rest])
        (bound,) = PairsStatistic(0, binary=False).judged(pairs, 1000, 0.01, 0.5).bounds
        mine = pair_mass(600, 250, 1000, 0.0025, 0.0025)
        radii = [
            dipole_radius(mine, [pair_mass(never, once, 1000, 0.0025, 0.0025)], 0.5) for _, once, never in pairs[1:]
        ]
        assert bound.alphas == (0.0025,) * 4
        assert bound.radius == min(radii)


def test_pairs_are_counted_as_pairs_and_not_as_draws() -> None:
    """2 n draws are n independent pairs: twice the count would be a bound that does not hold."""
    pairs = np.array([[100, 300, 600], [600, 300, 100]])
    tally = Tally(np.array([500, 1500]), 2000, (2000, 0), None, pairs)
    statistic = PairsStatistic(1, binary=True)
    assert statistic.finding(tally, 0.01, 0.5).radius == statistic.judged(pairs, 1000, 0.01, 0.5).radius
    kept = statistic.finding(tally, 0.01, 0.5).evidence["pairs"]
    assert kept == {"0": [100, 300, 600], "1": [600, 300, 100]}
