"""First-order statistics at one centre: valid, close to the closed form, and cheap in alpha."""

import math

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble.audit.cases import boxed_cases, free_cases, tied_cases
from doublebubble.audit.coverage import Case, count_misses, misses_allowed, repetitions
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds import (
    AlphaBudget,
    GradientTest,
    HalfMoments,
    VoteBounds,
    VotesRule,
    clopper_pearson,
    lead_gradient_bound,
    votes_bound,
)
from doublebubble.errors import SettingError
from doublebubble.geometry import Rival, cohen_radius, first_order_radius
from doublebubble.methods.first_order import FirstOrderStatistic, GuessedGradient, Outset, RivalTest
from doublebubble.search.forecast import expected_counts
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from tests.methods.slab import slab
from tests.spent import shares_of_alpha

ALPHA = 0.05


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
        assert max(shares_of_alpha(ball)) <= cert.alpha


# The statistic itself, from numbers


def test_each_rival_pays_for_its_own_events() -> None:
    """Three parts of alpha for a rival with a gradient, two for the rest, however many rivals there are."""
    counts = np.array([5000, 2000, 1900, 600, 500])
    test = GradientTest(5000, 5000, 0.5, 40.0)
    moments = [HalfMoments(0.1, 0.4, 0.4), HalfMoments(0.08, 0.35, 0.35)]
    statistic = FirstOrderStatistic(0, 5, (RivalTest(1, test, 0.25), RivalTest(2, test, 0.1)))
    found = statistic.judged(counts, moments, 0.001, 0.5)
    assert [bound.rivals for bound in found.bounds] == [(1,), (2,), None]
    for bound, share, hits, moment in zip(found.bounds, (0.25, 0.1), (2000, 1900), moments, strict=False):
        level = share * 0.001
        budget = AlphaBudget(0.001)
        budget.take(level, "gradient")
        each = budget.take_equal(["a", "b"])[0]
        assert bound.alphas == (level, each, each)
        assert sum(bound.alphas) <= 0.001
        low = clopper_pearson(5000, 10_000, each, "lower")
        q = clopper_pearson(hits, 10_000, each, "upper")
        gamma = lead_gradient_bound(moment, test, level, VoteBounds(math.nextafter(1 - low, 2.0), q))
        assert bound.radius == first_order_radius(low, [Rival(q, gamma)], 0.5)
    rest = found.bounds[2]
    lower, upper = clopper_pearson(5000, 10_000, 0.0005, "lower"), clopper_pearson(600, 10_000, 0.0005, "upper")
    assert rest.radius == cohen_radius(lower, upper, 0.5)
    assert found.radius == min(bound.radius for bound in found.bounds)


def test_tests_that_would_leave_a_rival_out_are_refused() -> None:
    test = GradientTest(500, 500, 0.5, 20.0)
    for rivals in ((), (None, 2), (1, 1), (0, 2)):
        with pytest.raises(SettingError, match="distinct rivals"):
            FirstOrderStatistic(0, 3, tuple(RivalTest(rival, test, 0.5) for rival in rivals))


def test_all_others_at_once_need_no_further_bound() -> None:
    test = GradientTest(500, 500, 0.5, 20.0)
    statistic = FirstOrderStatistic(1, 3, (RivalTest(None, test, 0.5),))
    (bound,) = statistic.judged(np.array([100, 800, 100]), [HalfMoments(0.1, 0.4, 0.4)], 0.01, 1.0).bounds
    assert bound.rivals is None
    assert bound.alphas == (0.005, 0.005)
    assert bound.numbers["q"] == pytest.approx(1 - bound.numbers["lower_a"], abs=1e-15)


def test_an_eta_is_added_to_both_half_means_and_kept() -> None:
    eta = np.array([0.2, 0.0, 0.0])
    test = GradientTest(50, 50, 0.5, 5.0)
    plain, moved = (FirstOrderStatistic(1, 2, (RivalTest(None, test, 0.5, e),)) for e in (None, eta))
    request = moved.asks(db_request())
    assert request.moments == plain.asks(db_request()).moments
    assert request.split == 50
    sums = np.random.default_rng(0).normal(size=(2, 1, 3))
    tally = Tally(np.array([20, 80]), 100, (50, 50), sums, None, moments=request.moments)
    g1, g2 = (sums[half, 0] / 50 + eta for half in (0, 1))
    found = moved.finding(tally, 0.1, 1.0)
    assert found.bounds[0].numbers["dot"] == pytest.approx(float(g1 @ g2))
    assert found.bounds[0].numbers["norm1"] == pytest.approx(float(np.linalg.norm(g1)))
    assert found.bounds[0].numbers["norm2"] == pytest.approx(float(np.linalg.norm(g2)))
    assert found.bounds[0].numbers["shift"] >= 0.2
    seen = HalfMoments(*(found.bounds[0].numbers[name] for name in ("dot", "norm1", "norm2")))
    low = clopper_pearson(80, 100, 0.05, "lower")
    votes = VoteBounds(math.nextafter(1 - low, 2.0), math.nextafter(1 - low, 2.0))
    gamma = lead_gradient_bound(seen, test, 0.05, votes, shift=0.2)
    assert found.bounds[0].numbers["gamma"] == pytest.approx(gamma, rel=1e-9)
    assert gamma != pytest.approx(lead_gradient_bound(seen, test, 0.05, votes), rel=1e-3)
    assert {name: vector.tolist() for name, vector in found.vectors.items()} == {"eta/others": eta.tolist()}
    assert plain.finding(tally, 0.1, 1.0).vectors == {}


def db_request() -> Request:
    return Request(torch.zeros(3), 100, Stream(0, 0, "certify"))


# The design


def outset(counts: list[int], n: int, dim: int = 3072) -> Outset:
    return Outset(np.array(counts), 0, n, dim, 0.001, 0.5)


def usual(stand: Outset, times: float = 1.0) -> dict[int | None, GuessedGradient]:
    return {asked.rival: GuessedGradient(times * asked.usual) for asked in stand.lead_tests(1000)}


def test_gradients_pay_for_a_usual_network() -> None:
    gains = []
    for n in (10_000, 100_000):
        stand = outset([6000, 2000, 1900, 100], n)
        design = stand.design(usual(stand))
        plain = min(
            bound.radius
            for bound in votes_bound(expected_counts(stand.counts, 0, n), VotesRule(0, binary=False), 0.001, 0.5)
        )
        gains.append(design.radius / plain)
    assert 1.03 < gains[0] < gains[1]
    assert [test.rival for test in design.statistic.tests] == [1, 2]  # the second is as near as the first


def test_rivals_that_never_decide_get_no_gradient() -> None:
    stand = outset([6000, 3000, 30, 20, 10], 100_000)
    assert stand.near() == [1]


def test_no_gain_is_forecast_where_there_is_none() -> None:
    stand = outset([7000, 3000], 10_000)
    design = stand.design(usual(stand, 1 / 0.8))
    assert design.radius < min(
        b.radius for b in votes_bound(expected_counts(stand.counts, 0, 10_000), VotesRule(0, binary=True), 0.001, 0.5)
    )


def test_the_forecast_of_a_slab_is_what_certification_gives() -> None:
    """Slab of mass 0.9 in R^784, n = 1e5, alpha = 0.05: forecast, certified, and within 6 % of the closed form."""
    config = db.CertifyConfig(n=100_000, n0=5000, alpha=ALPHA, methods=("first_order",))
    certs = [db.Certifier(slab(784, 0.9), config).certify(torch.zeros(784), index=index) for index in range(3)]
    stand = Outset(np.array([500, 4500]), 1, 100_000, 784, ALPHA, 0.5)
    design = stand.design({None: GuessedGradient(0.0)})
    exact = first_order_radius(0.9, [Rival(0.1, 0.0)], 0.5)
    assert np.mean([cert.radius for cert in certs]) == pytest.approx(design.radius, rel=0.02)
    assert all(0.94 * exact < cert.radius < exact for cert in certs)


def test_no_probe_where_gradients_cannot_pay() -> None:
    assert outset([0, 500], 5000).lead_tests(100) == []
    assert outset([400, 100], 3).lead_tests(100) == []
    assert outset([400, 100], 5000).lead_tests(3) == []
