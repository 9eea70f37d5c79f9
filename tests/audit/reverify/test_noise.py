"""Noise, grid and loss of certificates: true ones are confirmed, forged ones are not."""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doublebubble as db
from doublebubble.audit.cases import boxed_cases
from doublebubble.audit.reverify import Confirmation, reverify
from doublebubble.audit.reverify.noise import _SINGLE, _on_grid, _variation
from doublebubble.audit.reverify.numbers import Unconfirmed
from doublebubble.certificate import Ball, Noise
from doublebubble.noise import NoiseLaw
from doublebubble.runs.record import Record
from doublebubble.runs.spec import RunSpec
from doublebubble.smoothing import SmoothedClassifier
from tests.audit.reverify.made import Sample
from tests.audit.reverify.test_runs import forged
from tests.engines.centroids import make

GRID = 20


@functools.cache
def sample(method: str) -> Sample:
    """A certificate on a grid; that of `boundary` has a centre besides the input."""
    case = boxed_cases()[0]
    smoothed = SmoothedClassifier(case.oracle, case.sigma, 2, case.domain, 1000, noise="lattice", grid=GRID)
    certifier = db.Certifier(smoothed, db.CertifyConfig(n=4000, n0=200, methods=(method,)))
    made = (certifier.certify(case.x, index=index) for index in range(1, 20))
    found = next(cert for cert in made if method != "boundary" or cert.balls[0].centre is not None)
    return Sample(found, case.x.double().numpy(), case.domain)


METHODS = ("cohen", "dipole", "first_order", "boundary")
every = pytest.mark.parametrize("method", METHODS)


def verdict(method: str, **changes: Any) -> tuple[Confirmation, str]:
    """Of a certificate with the noise changed."""
    one = sample(method)
    found = one.verdict(noise=replace(one.certificate.noise, **changes))
    return found.outcome, found.sentence


@every
def test_true_certificates_are_confirmed(method: str) -> None:
    found = sample(method).verdict()
    assert found.outcome is Confirmation.CONFIRMED, found.sentence
    assert sample(method).certificate.radius > 0


@every
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loss": 0.0}, "only 0 was taken"),
        ({"grid": 2 * GRID}, "the range of the grid is"),
        ({"grid": None}, "noise lattice with a grid of None"),
        ({"grid": True}, "noise lattice with a grid of True"),
        ({"low": None}, "the range of the grid is"),
        ({"low": -79}, "the range of the grid is"),
        ({"high": 10**6}, "the range of the grid is"),
        ({"loss": float("nan")}, "not a finite number"),
        ({"name": "gaussian"}, "noise gaussian with a loss or a grid"),
        ({"name": "gaussian64", "loss": 0.0}, "noise gaussian64 with a loss or a grid"),
    ],
    ids=str,
)
def test_other_noise_is_refuted(method: str, changes: dict[str, Any], words: str) -> None:
    outcome, sentence = verdict(method, **changes)
    assert outcome is Confirmation.REFUTED
    assert words in sentence


@every
@pytest.mark.parametrize("factor", [0.5, 1 - 1e-14, 1.001, 2.0])
def test_another_loss_is_refuted(method: str, factor: float) -> None:
    outcome, sentence = verdict(method, loss=factor * sample(method).certificate.noise.loss)
    assert outcome is Confirmation.REFUTED
    assert "the noise takes" in sentence


@every
def test_a_loss_that_was_not_taken_off_alpha_is_refuted(method: str) -> None:
    """The balls have all of alpha, as if there were no loss."""
    one = sample(method)
    balls = one.certificate.balls
    parts = [ball.alpha for ball in balls]
    whole = [part * one.certificate.alpha / sum(parts) for part in parts]
    found = one.verdict(balls=tuple(replace(ball, alpha=part) for ball, part in zip(balls, whole, strict=True)))
    assert found.outcome is Confirmation.REFUTED
    assert "the plan: its parts of alpha sum to" in found.sentence


def test_the_loss_counts_all_draws_and_coordinates() -> None:
    """A certificate of fewer draws or coordinates than its balls and its shape have."""
    one = sample("cohen").certificate
    law = NoiseLaw.of("lattice", one.sigma, GRID, (0.0, 1.0))
    n = one.balls[0].n
    for draws, dimension in ((n - 1, 6), (n, 5), (n // 2, 6)):
        outcome, sentence = verdict("cohen", loss=law.loss(draws, dimension, one.alpha))
        assert outcome is Confirmation.REFUTED
        assert "only" in sentence


def test_more_than_a_tenth_of_alpha_is_refuted() -> None:
    one = sample("cohen")
    made = one.certificate
    tiny = made.noise.loss * 5
    found = one.verdict(alpha=tiny)
    assert found.outcome is Confirmation.REFUTED
    assert "more than a tenth" in found.sentence


def moved(ball: Ball, by: float) -> Ball:
    assert ball.centre is not None
    centre = ball.centre.copy()
    centre.reshape(-1)[0] += by
    return replace(ball, centre=centre)


def test_points_off_the_grid_are_refuted() -> None:
    one = sample("boundary")
    ball = one.certificate.balls[0]
    found = one.verdict(balls=(moved(ball, 0.3 / GRID),))
    assert (found.outcome, found.sentence) == (
        Confirmation.REFUTED,
        f"a centre does not lie on the grid of step 1/{GRID}",
    )
    x = one.x.copy()
    x[0] = 0.01
    found = reverify(one.certificate, x, one.domain)
    assert (found.outcome, found.sentence) == (
        Confirmation.REFUTED,
        f"the input does not lie on the grid of step 1/{GRID}",
    )


def test_far_from_zero_the_verifier_wants_points_near_the_grid() -> None:
    _on_grid(np.array([4_000_000 / 255]), 255, _SINGLE, "the input")
    with pytest.raises(Unconfirmed, match="the input does not lie on the grid"):
        _on_grid(np.array([4_000_000.4 / 255]), 255, _SINGLE, "the input")


def test_the_domain_must_be_at_hand_and_end_on_the_grid() -> None:
    one = sample("cohen")
    assert reverify(one.certificate, one.x, None).outcome is Confirmation.UNKNOWN
    found = reverify(one.certificate, one.x, (0.0, 1.01))
    assert found.outcome is Confirmation.REFUTED
    assert "does not end on the grid" in found.sentence


def test_an_unknown_noise_is_not_confirmed() -> None:
    outcome, sentence = verdict("cohen", name="uniform")
    assert (outcome, sentence) == (Confirmation.UNKNOWN, "no verifier for noise uniform")


@pytest.mark.parametrize(("grid", "sigma"), [(255, 0.5), (255, 0.12), (16, 0.25), (4, 0.5), (1, 0.5)])
def test_two_computations_of_the_distance_from_the_law_agree(grid: int, sigma: float) -> None:
    law = NoiseLaw.of("lattice", sigma, grid, (0.0, 1.0))
    assert law.limits is not None
    mine, theirs = law.loss(10**6, 1, 0.9), 10**6 * _variation(grid, sigma, law.limits[1] - law.limits[0])
    assert float(theirs) == pytest.approx(mine, rel=1e-15, abs=0)


# Whole runs


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "run"
    settings: dict[str, Any] = {"n": 1000, "n0": 100, "methods": "all", "quiet": True, "noise": "lattice", "grid": 16}
    db.certify(make(), "digits", 0.5, indices="0:3", out=path, **settings)
    return path


def test_an_honest_run_on_the_grid_is_confirmed(honest: Path, tmp_path: Path) -> None:
    assert forged(honest, tmp_path / "copy", lambda one: one) == [Confirmation.CONFIRMED] * 3
    losses = [record.noise.loss for record in db.open_run(honest).records]
    assert min(losses) > 0


def with_noise(**changes: Any) -> Callable[[Record], Record]:
    def change(one: Record) -> Record:
        return one.model_copy(update={"noise": replace(one.noise, **changes)})

    return change


@pytest.mark.parametrize("changes", [{"name": "gaussian"}, {"loss": 0.0}, {"loss": 1e-13}, {"grid": 32}, {"low": -63}])
def test_a_changed_noise_in_a_record_is_refuted(honest: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    assert forged(honest, tmp_path / "f", with_noise(**changes)) == [Confirmation.REFUTED] * 3


def test_records_of_other_noise_than_their_run_are_refuted(honest: Path, tmp_path: Path) -> None:
    def bare(one: Record) -> Record:
        return one.model_copy(update={"noise": Noise()})

    assert forged(honest, tmp_path / "f", bare) == [Confirmation.REFUTED] * 3

    def gaussian(spec: RunSpec) -> RunSpec:
        return spec.model_copy(update={"noise": "gaussian", "grid": None})

    assert forged(honest, tmp_path / "g", lambda one: one, gaussian) == [Confirmation.REFUTED] * 3


def test_a_certificate_of_the_paper_has_no_grid(honest: Path) -> None:
    case = boxed_cases()[0]
    config = db.CertifyConfig(n=200, n0=50, protocol="paper", methods=("cohen",))
    made = db.Certifier(case.smoothed, config).certify(case.x, index=0)
    x = np.asarray(case.x, np.float64)
    assert reverify(made, x, case.domain).outcome is Confirmation.PUBLISHED
    for noise in (Noise("lattice"), Noise("gaussian", loss=0.1), Noise("gaussian", grid=255)):
        assert reverify(replace(made, noise=noise), x, case.domain).outcome is Confirmation.REFUTED
