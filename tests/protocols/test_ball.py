"""First-order and paired statistics at one centre: valid, close to the closed form, and cheap in alpha."""

import math

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble.audit.coverage import Case, count_misses, misses_allowed, repetitions
from doublebubble.audit.oracles import HalfSpace, Slab
from doublebubble.geometry import Rival, first_order_radius
from tests.protocols.cases import boxed_cases, free_cases, tied_cases
from tests.spent import shares_of_alpha

ALPHA = 0.05


def slab(d: int, p: float, sigma: float = 0.5) -> db.SmoothedClassifier:
    w = np.zeros(d)
    w[0] = 1.0
    from scipy.stats import norm

    half = sigma * float(norm.ppf((1 + p) / 2))
    return db.SmoothedClassifier(Slab(w, -half, half), sigma, 2, domain=None, batch_size=1000)


def name(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", [*free_cases(), *boxed_cases(), *tied_cases()], ids=name)
def test_first_order_and_pairs_hold_on_every_oracle(case: Case) -> None:
    config = db.CertifyConfig(n=2000, n0=100, alpha=ALPHA, methods=("first_order", "dipole"))
    misses = count_misses(case, list(repetitions(case, config, 200)))
    assert max(misses.values()) <= misses_allowed(200, ALPHA)


@pytest.mark.parametrize(("d", "n", "within"), [(10, 1_000_000, 0.02), (784, 100_000, 0.06)])
def test_the_slab_comes_close_to_its_closed_form(d: int, n: int, within: float) -> None:
    exact = first_order_radius(0.9, [Rival(0.1, 0.0)], 0.5)
    config = db.CertifyConfig(n=n, alpha=ALPHA, methods=("first_order",))
    cert = db.Certifier(slab(d, 0.9), config).certify(torch.zeros(d), index=0)
    assert cert.balls[0].statistic == "first_order"
    assert exact * (1 - within) <= cert.radius


def test_pairs_gain_on_the_slab() -> None:
    config = db.CertifyConfig(n=20_000, alpha=ALPHA, methods=("cohen", "dipole"))
    cert = db.Certifier(slab(10, 0.9), config).certify(torch.zeros(10), index=0)
    assert cert.radii["dipole"] > 1.2 * cert.radii["cohen"]
    assert cert.balls[0].statistic == "dipole"
    assert cert.balls[0].centre is None


def test_the_half_space_is_the_worst_case() -> None:
    """No gain there: certificates stay below the truth, and lose little to the search for a gain."""
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0, 0, 0, 0]), 0.5), 0.5, 2, None, batch_size=1000)
    config = db.CertifyConfig(n=50_000, alpha=0.001, methods=("cohen", "first_order", "dipole"))
    certs = db.Certifier(smoothed, config).certify_many([torch.zeros(4)] * 10, range(10))
    for method in ("first_order", "dipole"):
        radii = [cert.radii[method] for cert in certs]
        assert max(radii) <= 0.5
        assert np.mean(radii) > 0.97 * np.mean([cert.radii["cohen"] for cert in certs])


def test_the_box_helps_first_order_at_a_corner() -> None:
    """Half-space, x at a corner with the gradient pointing inwards: no feasible direction lowers the class at all."""
    d = 8
    w = np.ones(d) / math.sqrt(d)
    smoothed = db.SmoothedClassifier(HalfSpace(w, 0.3), 0.5, 2, (0.0, 1.0), batch_size=1000)
    config = db.CertifyConfig(n=200_000, methods=("cohen", "first_order"))
    cert = db.Certifier(smoothed, config).certify(torch.zeros(d), index=0)
    assert cert.balls[0].statistic == "first_order"
    assert cert.radii["first_order"] > 1.2 * cert.radii["cohen"]


def test_in_a_box_only_directions_of_the_box_are_helped() -> None:
    """At one face, the blocked part of the gradient is taken off and no more: the truth in the box is not exceeded."""
    d = 4
    w = np.array([0.6, 0.8, 0.0, 0.0])
    x = torch.tensor([0.0, 0.5, 0.5, 0.5])
    case = Case("face", HalfSpace(w, 0.2 - 0.4), x, 0.5, (0.0, 1.0))
    assert len(x) == d
    _, distance = case.truth
    config = db.CertifyConfig(n=100_000, alpha=ALPHA, methods=("cohen", "first_order"))
    certs = list(repetitions(case, config, 20))
    assert max(cert.radii["first_order"] for cert in certs) <= distance * (1 + 1e-9)
    assert np.mean([cert.radii["first_order"] for cert in certs]) > np.mean([cert.radii["cohen"] for cert in certs])


def test_all_parts_of_alpha_are_accounted_for() -> None:
    config = db.CertifyConfig(n=50_000, methods=("first_order", "dipole"))
    cert = db.Certifier(slab(5, 0.8), config).certify(torch.zeros(5), index=0)
    for ball in cert.balls:
        assert sum(shares_of_alpha(ball)) <= cert.alpha
