"""Protocol `paper` on a trained network and at a half-space: what its certificates hold and say."""

import functools
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from doublebubble import Guarantee, SmoothedClassifier
from doublebubble.bounds import goodman
from doublebubble.certificate import Certificate, Status
from doublebubble.config import CertifyConfig, PaperSearch
from doublebubble.errors import InputError, ModelError, SettingError
from doublebubble.geometry import cohen_radius, double_bubble_radius, published_boundary_radius
from doublebubble.types import GradientKind, Method
from tests.digits import digits, digits_model
from tests.protocols.published import INSIDE, KINDS, certify, half_space, same, settings


@functools.cache
def digit_certificates(gradient: GradientKind) -> list[Certificate]:
    images, labels = digits()
    smoothed = SmoothedClassifier(digits_model(), 0.25, 10, batch_size=500)
    return [certify(smoothed, settings(gradient), images[i], i, int(labels[i])) for i in range(1500, 1508)]


# On a trained network


@pytest.mark.parametrize("gradient", KINDS)
def test_no_method_is_below_cohen_of_the_same_run(gradient: GradientKind) -> None:
    certificates = digit_certificates(gradient)
    certified = [c for c in certificates if c.status is Status.CERTIFIED]
    assert len(certified) >= 6
    for c in certified:
        assert min(c.radii.values()) == c.radii["cohen"]
        assert min(c.radii["boundary"], c.radii["double"]) >= c.radii["single"]
        assert c.radius == max(c.radii.values()) == c.radii[c.method]
    assert {c.method for c in certified} - {"cohen"}, "some search must improve on Cohen's radius"


@pytest.mark.parametrize("gradient", KINDS)
def test_every_certificate_says_that_it_is_no_guarantee(gradient: GradientKind) -> None:
    for c in digit_certificates(gradient):
        assert c.guarantee is Guarantee.NONE
        assert "not a guarantee at any level" in c.reason
        assert c.protocol == "paper"
        assert c.alpha == 0.05


@pytest.mark.parametrize("gradient", KINDS)
def test_every_radius_follows_from_the_balls_in_the_certificate(gradient: GradientKind) -> None:
    """A second computation from the stored integers: no radius is rebuilt from another, no class goes unchecked."""
    images, _ = digits()
    for c in digit_certificates(gradient):
        x, found = images[c.index].double().numpy(), []
        for ball in c.balls:
            intervals = goodman(ball.counts, 0.05)
            assert ball.counts.sum() == ball.n == 1000
            assert int(ball.counts.argmax()) == c.prediction
            others = np.delete(intervals.upper, c.prediction).max()
            r = cohen_radius(float(intervals.lower[c.prediction]), float(others), 0.25)
            assert ball.radius == r
            centre = x if ball.centre is None else ball.centre
            assert centre.shape == x.shape
            found.append((centre, r, float(np.linalg.norm(centre - x))))
        if c.status is Status.WRONG_CLASS:
            continue
        assert c.radii["cohen"] == found[0][1]
        if len(found) > 1:
            (x2, r2, d2) = found[1]
            assert 0 <= x2.min() <= x2.max() <= 1
            assert c.radii["single"] == pytest.approx(max(found[0][1], r2 - d2), abs=1e-12)
            assert c.radii["boundary"] == max(c.radii["single"], published_boundary_radius(x, x2, r2))
        if len(found) > 2:
            (x3, r3, d3) = found[2]
            joint = double_bubble_radius(r2, d2, r3, d3)
            assert c.radii["double"] == pytest.approx(max(c.radii["single"], joint), abs=1e-12)
            # x1 lies between the two centres, to the rounding of the inputs
            cosine = float(((x2 - x) * (x3 - x)).sum()) / (d2 * d3) if d3 else -1.0
            assert cosine == pytest.approx(-1, abs=1e-3)
            assert d3 <= r2 - d2 + 1e-6


@pytest.mark.parametrize("gradient", KINDS)
def test_draws_and_costs_of_every_stage_are_in_the_certificate(gradient: GradientKind) -> None:
    for c in digit_certificates(gradient):
        assert set(c.draws) == set(c.forward_equivalents) == set(c.seconds) == {"select", "search", "line", "certify"}
        assert c.draws["select"] == c.forward_equivalents["select"] == 1000
        assert c.draws["certify"] == 0
        assert c.draws["search"] <= 50 * 1000
        assert c.draws["line"] <= 30 * 1000
        factor = 1 if gradient == "approximate" else 4
        assert c.forward_equivalents["search"] <= factor * c.draws["search"]
        assert c.draws["line"] <= c.forward_equivalents["line"] <= 4 * c.draws["line"]
        assert all(value >= 0 for value in c.seconds.values())
        if c.status is Status.WRONG_CLASS:
            assert c.draws["search"] == c.draws["line"] == 0


@pytest.mark.parametrize("gradient", KINDS)
def test_the_same_certificate_again(gradient: GradientKind) -> None:
    def once(seed: int) -> Certificate:
        smoothed = SmoothedClassifier(digits_model(), 0.25, 10, batch_size=200)
        images, labels = digits()
        return certify(smoothed, settings(gradient, 200, seed=seed), images[1507], 1507, int(labels[1507]))

    assert same(once(0), once(0))
    assert not same(once(0), once(1))


# Against the truth of a half-space


@pytest.mark.parametrize("gradient", KINDS)
def test_the_miss_rate_of_the_half_space_is_reported(
    gradient: GradientKind, record_property: Callable[[str, object], None]
) -> None:
    """Reported and not asserted: this protocol promises nothing. `cohen` alone has its asymptotic level."""
    methods: tuple[Method, ...] = ("cohen", "single")
    config = settings(gradient, 200, methods=methods, paper=PaperSearch(iterations=20))
    truth, smoothed = 0.36, half_space()
    radii = [certify(smoothed, config, INSIDE, i, 1).radii for i in range(25)]
    for method in methods:
        misses = sum(r[method] > truth for r in radii)
        record_property(f"misses of {method} in {len(radii)}", misses)
    assert all(math.isfinite(r[method]) for r in radii for method in methods)


@pytest.mark.parametrize("gradient", KINDS)
def test_the_best_of_many_looks_is_larger_than_one_look(gradient: GradientKind) -> None:
    """Where nothing can truly be gained the search still reports gains: why the protocol is no guarantee."""
    smoothed = half_space()
    certificates = [certify(smoothed, settings(gradient, methods=("cohen", "single")), INSIDE, i, 1) for i in range(12)]
    assert all(c.radii["single"] >= c.radii["cohen"] for c in certificates)
    assert sum(c.radii["single"] > c.radii["cohen"] for c in certificates) >= 4


# Refusals


def test_malformed_use_is_refused() -> None:
    with pytest.raises(SettingError, match="expected settings for paper"):
        certify(half_space(), CertifyConfig(), INSIDE, 0, 1)
    with pytest.raises(InputError, match="input 7: expected a label from 0 to 1, got 2"):
        certify(half_space(), settings(), INSIDE, 7, 2)
    with pytest.raises(InputError, match="input 7: expected values in"):
        certify(half_space((0.0, 0.5)), settings(), INSIDE, 7, 1)


def test_a_black_box_has_every_method_but_double() -> None:
    class BlackBox(nn.Module):
        def forward(self, batch: Tensor) -> Tensor:
            side = (batch.detach().sum(1) > 1.2).float()
            return torch.stack([1 - side, side], 1)

    smoothed = SmoothedClassifier(BlackBox().eval(), 0.5, 2, batch_size=500)
    c = certify(smoothed, settings(methods=("cohen", "single", "boundary")), INSIDE, 0, 1)
    assert c.status is Status.CERTIFIED
    with pytest.raises(ModelError, match="method `double` of protocol `paper` cannot use this model"):
        certify(smoothed, settings(), INSIDE, 0, 1)
