"""Profiles at one centre: valid on oracles, larger than votes where the boundary is gradual."""

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble.audit.cases import boxed_cases, orthonormal
from doublebubble.audit.coverage import Case, count_misses, misses_allowed, repetitions
from doublebubble.audit.oracles import HalfSpace, LinearClassifier
from tests.methods.gradual import GRADUAL, D
from tests.methods.made import method, trials

pytestmark = pytest.mark.usefixtures("few_sectors")


def test_profiles_hold_from_end_to_end() -> None:
    case = boxed_cases()[2]
    config = db.CertifyConfig(n=2000, n0=100, alpha=0.2, methods=("profile",))
    misses = count_misses(case, list(repetitions(case, config, 6)))
    assert misses["profile"] <= misses_allowed(6, 0.2)


def test_a_gradual_boundary_gains() -> None:
    config = db.CertifyConfig(n=20_000, methods=("cohen", "first_order", "profile"))
    cert = db.Certifier(GRADUAL.smoothed, config).certify(GRADUAL.x, index=0)
    assert cert.radii["profile"] > 1.05 * max(cert.radii["first_order"], cert.radii["cohen"])
    assert cert.radii["profile"] < GRADUAL.truth[1]
    assert cert.forward_equivalents["search"] < 20_000


def test_nothing_is_gained_or_claimed_at_a_half_space() -> None:
    """The worst case of (S3): a profile knows that, and never exceeds the truth."""
    case = Case("half-space", HalfSpace(np.array([1.0, 0, 0, 0]), 0.3), torch.zeros(4), 0.5)
    config = db.CertifyConfig(n=20_000, methods=("cohen", "profile"))
    certs = db.Certifier(case.smoothed, config).certify_many([case.x] * 4, range(4))
    assert max(cert.radii["profile"] for cert in certs) <= 0.3
    assert min(cert.radii["profile"] / cert.radii["cohen"] for cert in certs) > 0.95


@pytest.mark.parametrize(
    ("votes", "n", "pays"),
    [([300, 150, 50], 20_000, True), ([499, 1, 0], 20_000, False), ([300, 150, 50], 2000, False)],
)
def test_auto_searches_for_profiles_only_where_they_usually_pay(votes: list[int], n: int, pays: bool) -> None:
    given = trials(Case("linear", LinearClassifier(orthonormal(3, D), [0.5, 0.1, 0.1]), torch.zeros(D), 0.5), n)
    given.selected = np.array(votes)
    assert method("profile").promising(given) is pays
