"""The theorem, not the code: certificates of oracles hold at least as often as they say."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from doublebubble.audit.cases import boxed_cases, corridor_case, free_cases, tied_cases
from doublebubble.audit.coverage import Case, count_misses, count_wrong_predictions, misses_allowed, repetitions
from doublebubble.config import CertifyConfig
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import GradientKind, Method
from tests.spent import shares_of_alpha

ALPHA = 0.05
EVERY = [*free_cases(), *boxed_cases(), *tied_cases()]
SEARCHED = [*free_cases()[::2], *boxed_cases(), *tied_cases()]


def name(case: Case) -> str:
    return case.name


class Reusing(SmoothedClassifier):
    """The mistake that `sound` exists to avoid: the draws that select also certify."""

    def tallies(self, requests: Sequence[Request]) -> list[Tally]:
        return super().tallies(
            [replace(r, stream=Stream(r.stream.seed, r.stream.index, "select", r.stream.part)) for r in requests]
        )


@pytest.mark.parametrize("case", EVERY, ids=name)
def test_cohen_holds_on_every_oracle(case: Case) -> None:
    config = CertifyConfig(n=200, n0=40, alpha=ALPHA, methods=("cohen",))
    certificates = list(repetitions(case, config, 2000))
    assert count_misses(case, certificates)["cohen"] <= misses_allowed(2000, ALPHA)


@pytest.mark.parametrize("case", free_cases(), ids=name)
def test_certificates_of_oracles_are_not_empty(case: Case) -> None:
    """Coverage alone is easy: abstain always. Clear points must be certified, most of the time."""
    config = CertifyConfig(n=2000, n0=100, alpha=ALPHA)
    certified = sum(c.radius > 0 for c in repetitions(case, config, 100))
    assert certified >= (90 if "close" not in case.name else 0)


@pytest.mark.parametrize("case", EVERY, ids=name)
def test_predict_holds_on_every_oracle(case: Case) -> None:
    assert count_wrong_predictions(case, 2000, 100, ALPHA) <= misses_allowed(2000, ALPHA)


def test_at_a_tie_the_select_draws_would_not_do_to_certify() -> None:
    """The same test fails, as it should, when the fresh draws are replaced by the select draws.

    Two classes: with more, the slack of two bounds at half of alpha each hides part of the mistake.
    """
    case = tied_cases()[0]
    config = CertifyConfig(n=200, n0=200, alpha=ALPHA, methods=("cohen",))
    reusing = Reusing(case.oracle, case.sigma, case.oracle.num_classes, case.domain, batch_size=1000)
    wrong = count_misses(case, list(repetitions(case, config, 2000, reusing)))["cohen"]
    right = count_misses(case, list(repetitions(case, config, 2000)))["cohen"]
    assert right <= misses_allowed(2000, ALPHA) < wrong


def check_every_method(case: Case, gradient: GradientKind) -> None:
    config = CertifyConfig(
        n=500, n0=60, alpha=ALPHA, methods=("cohen", "single", "boundary", "double"), gradient=gradient
    )
    certificates = list(repetitions(case, config, 200))
    misses = count_misses(case, certificates)
    assert set(misses) == {"cohen", "single", "boundary", "double"}
    assert max(misses.values()) <= misses_allowed(200, ALPHA)
    g, distance = case.truth
    chosen = sum(c.radius > distance * (1 + 1e-9) or (c.radius > 0 and c.prediction != g) for c in certificates)
    assert chosen <= misses_allowed(200, ALPHA)


@pytest.mark.parametrize("case", SEARCHED, ids=name)
def test_every_method_holds_on_every_oracle(case: Case) -> None:
    check_every_method(case, "full")


@pytest.mark.parametrize("case", boxed_cases()[:2], ids=name)
def test_every_method_holds_with_the_other_gradient(case: Case) -> None:
    check_every_method(case, "approximate")


@pytest.mark.parametrize(("method", "n"), [("boundary", 2000), ("double", 20_000)])
def test_first_order_balls_away_from_the_input_hold(method: Method, n: int) -> None:
    """The search's own plans, on a classifier where they put first-order balls off the input most of the time."""
    case = corridor_case()
    config = CertifyConfig(n=n, n0=100, alpha=ALPHA, methods=(method,))
    certificates = list(repetitions(case, config, 100))
    assert count_misses(case, certificates)[method] <= misses_allowed(100, ALPHA)
    away = [b for c in certificates for b in c.balls if b.centre is not None and b.statistic == "first_order"]
    assert len(away) > 50
    for certificate in certificates:
        assert sum(ball.alpha for ball in certificate.balls) <= ALPHA
        for ball in certificate.balls:
            assert max(shares_of_alpha(ball)) <= ball.alpha
