"""Certificates under exact noise: they hold as often as they say, and all of alpha is accounted for."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
import torch
from scipy import stats

import doublebubble as db
from doublebubble import registry
from doublebubble.audit.cases import boxed_cases, corridor_case
from doublebubble.audit.coverage import Case, at, count_misses, count_wrong_predictions, misses_allowed, repetitions
from doublebubble.audit.oracles import PlanarTable
from doublebubble.config import CertifyConfig
from doublebubble.errors import BudgetError, SettingError
from doublebubble.geometry import Bound, certified_radius
from doublebubble.methods.cohen import Cohen
from doublebubble.noise.law import NoiseLaw
from doublebubble.protocols import sound
from doublebubble.search import profile as design
from doublebubble.search.plan import Proposal
from doublebubble.search.trials import Trials
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import GradientKind
from tests.methods.known import least_radius, limit_of, plan_from_truth
from tests.protocols.mosaic import GRID, grid_cases
from tests.spent import shares_of_alpha

ALPHA, TIMES = 0.05, 100
cases = pytest.mark.parametrize("case", grid_cases(), ids=lambda case: case.name)


def on_grid(case: Case, grid: int = GRID) -> SmoothedClassifier:
    oracle = case.oracle
    return SmoothedClassifier(oracle, case.sigma, oracle.num_classes, case.domain, 1000, noise="lattice", grid=grid)


# Coverage


@cases
def test_votes_have_the_probabilities_of_the_truth(case: Case) -> None:
    """The truth that the other tests rest on is that of the classifier that is certified."""
    counts = on_grid(case).counts(case.x, 100_000, seed=0, index=0)
    for count, p in zip(counts, case.oracle.probabilities(case.x.numpy(), case.sigma), strict=True):
        assert stats.binomtest(int(count), 100_000, min(float(p), 1.0)).pvalue > 1e-5


@pytest.mark.parametrize(
    ("case", "gradient"),
    [*((case, "approximate") for case in grid_cases()), (grid_cases()[1], "full")],
    ids=[*(case.name for case in grid_cases()), "half-space on the grid, by autograd"],
)
def test_every_method_holds_on_the_grid(case: Case, gradient: GradientKind) -> None:
    names = registry.names("sound")
    config = CertifyConfig(n=400, n0=60, alpha=ALPHA, methods=names, gradient=gradient)
    certificates = list(repetitions(case, config, TIMES, on_grid(case)))
    misses = count_misses(case, certificates)
    assert set(misses) == set(names)
    assert max(misses.values()) <= misses_allowed(TIMES, ALPHA), misses
    g, distance = case.truth
    chosen = sum(c.radius > distance * (1 + 1e-9) or (c.radius > 0 and c.prediction != g) for c in certificates)
    assert chosen <= misses_allowed(TIMES, ALPHA)
    if "stripes" not in case.name:
        assert sum(c.radius > 0 for c in certificates) > TIMES / 3, "coverage alone is easy: abstain always"


TABLE = PlanarTable([0.375, 0.625], [0.125, 0.375, 0.875], [[0, 0, 1, 2], [0, 0, 0, 1], [2, 0, 0, 1]], 3)
"""Classes that change half-way between grid points."""


@pytest.mark.parametrize(
    "case",
    [
        *(case for case in grid_cases()[:4] if np.isfinite(case.truth[1])),
        Case("table on the grid", TABLE, at([0.25, 0.5, 0.0]), 0.25, (0.0, 1.0)),
    ],
    ids=lambda case: case.name,
)
def test_profiles_hold_on_the_grid_by_plans_of_their_own(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 400 draws votes at the input stand in for them, so here plans are made from the truth."""
    for name, fewer in (("BINS", 10), ("_RINGS", 1), ("_NEAR_ENDS", (0.0, 0.35, 0.7, 1.1, 1.7))):
        monkeypatch.setattr(design, name, fewer)  # for the sake of time
    n, times, smoothed = 2000, 40, on_grid(case)
    plan = plan_from_truth(case, n, ALPHA, tilt=0.15)
    assert plan is not None
    requests = [plan.asks(Request(case.x, n, Stream(0, index, "certify"))) for index in range(times)]
    radii = np.array([least_radius(plan, tally, ALPHA, case.sigma) for tally in smoothed.tallies(requests)])
    assert (radii > limit_of(case, plan)).sum() <= misses_allowed(times, ALPHA)
    assert np.maximum(radii, 0).mean() > 0.1 * case.truth[1], "coverage alone is easy: claim nothing"


@cases
def test_cohen_and_predict_hold_on_the_grid(case: Case) -> None:
    config = CertifyConfig(n=200, n0=40, alpha=ALPHA, methods=("cohen",))
    certificates = list(repetitions(case, config, 1000, on_grid(case)))
    assert count_misses(case, certificates)["cohen"] <= misses_allowed(1000, ALPHA)
    assert count_wrong_predictions(case, 500, 100, ALPHA, on_grid(case)) <= misses_allowed(500, ALPHA)


# The level


def test_the_loss_and_the_parts_of_all_balls_sum_to_at_most_alpha() -> None:
    """In exact arithmetic, for every method, and no part of alpha is forgotten."""
    seen = set()
    for case in (*grid_cases()[:3], *boxed_cases()[:2], corridor_case()):
        case = replace(case, x=(case.x * 20).round() / 20)
        for method in registry.names("sound"):
            config = CertifyConfig(n=2000, n0=100, alpha=0.001, methods=(method,))
            smoothed = on_grid(case, 20)
            for cert in db.Certifier(smoothed, config).certify_many([case.x] * 2, [3, 15]):
                parts = [cert.noise.loss, *(ball.alpha for ball in cert.balls)]
                assert sum(map(Fraction, parts)) <= Fraction(0.001)
                assert sum(map(Fraction, parts)) > Fraction(0.001) * (1 - Fraction(1, 10**12))
                assert sum(ball.n for ball in cert.balls) <= 2000
                assert cert.noise.loss == smoothed.noise.loss(2000, case.x.numel(), 0.001) > 0
                assert (cert.noise.name, cert.noise.grid) == ("lattice", 20)
                assert (cert.noise.low, cert.noise.high) == smoothed.noise.limits
                for ball in cert.balls:
                    assert all(spent <= ball.alpha * (1 + 1e-12) for spent in shares_of_alpha(ball))
                    seen.add((ball.statistic, len(cert.balls), ball.centre is None))
    assert {kind for kind, *_ in seen} >= {"binary", "first_order", "dipole"}
    assert any(not at_input for *_, at_input in seen)


@pytest.mark.not_reverified(reason="its loss is planted")
def test_a_loss_lowers_the_radius() -> None:
    case = grid_cases()[0]
    config = CertifyConfig(n=2000, n0=100, alpha=0.001, methods=("cohen",))
    plain = db.Certifier(on_grid(case), config).certify(case.x, index=1)
    with mock.patch.object(NoiseLaw, "loss", lambda self, draws, dimension, alpha: alpha / 10):
        dear = db.Certifier(on_grid(case), config).certify(case.x, index=1)
    assert dear.balls[0].counts.tolist() == plain.balls[0].counts.tolist()
    assert dear.balls[0].alpha == pytest.approx(0.0009)
    assert 0 < dear.radius < plain.radius


def test_a_loss_above_a_tenth_of_alpha_is_refused_before_any_draw() -> None:
    case = grid_cases()[0]
    smoothed = on_grid(case)
    config = CertifyConfig(n=10**12, n0=100, alpha=1e-6, methods=("cohen",))
    with (
        mock.patch.object(SmoothedClassifier, "tallies", side_effect=AssertionError("draws were made")),
        pytest.raises(BudgetError, match="at most 1/10 of alpha"),
    ):
        db.Certifier(smoothed, config).certify(case.x, index=0)


# Centres and the input


class Watching(SmoothedClassifier):
    """Keeps the centres of all certify draws."""

    centres: list[torch.Tensor]

    def tallies(self, requests: Sequence[Request]) -> list[Tally]:
        self.centres += [request.x for request in requests if request.stream.stage == "certify"]
        return super().tallies(requests)


@pytest.mark.parametrize("gradient", ["full", "approximate"])
def test_centres_of_further_balls_lie_on_the_grid_and_in_the_domain(gradient: GradientKind) -> None:
    case = boxed_cases()[0]
    smoothed = Watching(case.oracle, case.sigma, 2, case.domain, 1000, noise="lattice", grid=20)
    smoothed.centres = []
    config = CertifyConfig(n=4000, n0=200, methods=("boundary",), gradient=gradient)
    made = db.Certifier(smoothed, config).certify_many([case.x] * 4, range(4))
    further = [ball for cert in made for ball in cert.balls if ball.centre is not None]
    assert further
    for ball in further:
        assert ball.centre is not None
        steps = np.rint(ball.centre * 20)
        assert (ball.centre == [float(Fraction(int(step), 20)) for step in steps]).all()
        assert ((steps >= 0) & (steps <= 20)).all()
        assert steps.any()
        assert any(np.array_equal(ball.centre, centre.double().numpy()) for centre in smoothed.centres)


def test_the_input_stands_for_its_grid_point_however_it_was_rounded() -> None:
    """float32, float64 and a product of rounded numbers: one certificate, and one at the faces as at the ideal."""
    case = boxed_cases()[1]
    steps = (case.x * 255).round()
    ways = [steps / 255, steps * torch.tensor(1 / 255), steps.double() / 255]
    config = CertifyConfig(n=2000, n0=200, methods=registry.names("sound"))
    made = [db.Certifier(on_grid(case, 255), config).certify(x, index=2) for x in ways]
    assert made[0] == made[1] == made[2]


def test_the_select_and_search_draws_are_on_the_grid_too() -> None:
    case = grid_cases()[4]
    smoothed = on_grid(case)
    config = CertifyConfig(n=400, n0=50, methods=registry.names("sound"), gradient="approximate")
    cert = db.Certifier(smoothed, config).certify(case.x, index=0)
    again = smoothed.tally(Request(case.x, 50, Stream(0, 0, "select"))).counts
    assert cert.counts["select"].tolist() == again.tolist()


class Unproved(Cohen):
    """A method that does not say whether its proof holds on a grid."""

    name = "unproved"
    on_grid = False

    def propose(self, trials: Trials) -> Proposal:
        """A plan that promises more than any other."""
        found = super().propose(trials)
        return Proposal(replace(found.plan, method=self.name), 99.0)


@pytest.mark.not_reverified(reason="a method of its own")
def test_a_method_without_a_proof_for_the_grid_is_refused_or_left_out() -> None:
    case = grid_cases()[0]
    registry.register(Unproved())
    try:
        named = CertifyConfig(n=200, n0=50, methods=("cohen", "unproved"))
        with pytest.raises(SettingError, match="expected methods that are proved for it, got unproved"):
            db.Certifier(on_grid(case), named)
        assert db.Certifier(case.smoothed, named).certify(case.x, index=0).method == "unproved"
        automatic = CertifyConfig(n=200, n0=50)
        assert db.Certifier(on_grid(case), automatic).certify(case.x, index=0).method != "unproved"
    finally:
        registry.forget("unproved")


def test_protocol_paper_has_no_grid() -> None:
    with pytest.raises(SettingError, match="protocol paper searches between the grid points"):
        db.Certifier(on_grid(grid_cases()[0]), CertifyConfig(protocol="paper"))


@pytest.mark.parametrize("noise", ["gaussian", "gaussian64"])
def test_other_noise_takes_nothing_off_alpha(noise: db.types.NoiseName) -> None:
    case = grid_cases()[0]
    smoothed = SmoothedClassifier(case.oracle, case.sigma, 2, case.domain, 1000, noise=noise)
    cert = db.Certifier(smoothed, CertifyConfig(n=1000, n0=50)).certify(case.x, index=0)
    assert cert.noise == db.certificate.Noise(noise)
    assert cert.balls[0].alpha == 0.001


def test_gaussian64_holds_on_an_oracle() -> None:
    case = boxed_cases()[1]
    smoothed = SmoothedClassifier(case.oracle, case.sigma, 2, case.domain, 1000, noise="gaussian64")
    config = CertifyConfig(n=400, n0=60, alpha=ALPHA, methods=registry.names("sound"))
    certificates = list(repetitions(case, config, 100, smoothed))
    assert max(count_misses(case, certificates).values()) <= misses_allowed(100, ALPHA)


def test_a_plan_is_claimed_at_the_points_that_are_meant() -> None:
    """(D1) is taken at grid points in float64, and what float64 rounds off them is taken off radii."""
    case = boxed_cases()[0]
    smoothed = on_grid(case, 20)
    config = CertifyConfig(n=4000, n0=200, methods=("boundary",))
    given: list[tuple[torch.Tensor, list[torch.Tensor], list[float]]] = []

    def watched(x1: torch.Tensor, centres: list[torch.Tensor], radii: list[float], *box: float) -> Bound:
        given.append((x1, centres, radii))
        return certified_radius(x1, centres, radii, *box)

    with mock.patch.object(sound, "certified_radius", watched):
        certs = db.Certifier(smoothed, config).certify_many([case.x] * 4, range(4))
    boxed = [cert for cert in certs if cert.balls[0].centre is not None]
    assert len(boxed) == len(given) > 0
    for cert, (x1, _, radii) in zip(boxed, given, strict=True):
        assert isinstance(x1, torch.Tensor)
        assert x1.dtype == torch.float64
        assert radii[0] < cert.balls[0].radius
        assert radii[0] == pytest.approx(cert.balls[0].radius, abs=1e-12)
