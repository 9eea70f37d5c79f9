"""Protocol `paper` where something is unusual: classes, votes, shapes and models; every outcome is stated."""

import dataclasses
import math

import pytest
import torch
from torch import Tensor, nn

from doublebubble import ABSTAIN, SmoothedClassifier
from doublebubble.audit.oracles import HalfSpace
from doublebubble.certificate import Status
from doublebubble.config import PaperSearch
from doublebubble.types import GradientKind, Method
from tests.protocols.published import ALL, INSIDE, KINDS, SHORT, certify, half_space, same, settings


@pytest.mark.parametrize("gradient", KINDS)
def test_a_wrong_class_is_stated(gradient: GradientKind) -> None:
    c = certify(half_space(), settings(gradient), INSIDE, 3, 0)
    assert c.status is Status.WRONG_CLASS
    assert (c.prediction, c.radius, c.correct) == (1, 0.0, False)
    assert c.radii == dict.fromkeys(ALL, 0.0)
    assert "class 1 leads at the input, class 0 was tested" in c.reason


def test_without_a_label_the_leading_class_is_tested() -> None:
    c = certify(half_space(), settings(), INSIDE, 3, None)
    assert (c.prediction, c.status, c.correct) == (1, Status.CERTIFIED, None)
    assert same(dataclasses.replace(c, label=1), certify(half_space(), settings(), INSIDE, 3, 1))


@pytest.mark.parametrize("gradient", KINDS)
def test_in_free_space_boundary_is_single(gradient: GradientKind) -> None:
    c = certify(half_space(None), settings(gradient), INSIDE * 5 - 2.5, 0, None)
    assert c.radii["boundary"] == c.radii["single"]


def test_another_box_is_the_unit_box_scaled() -> None:
    """x -> 4 x - 1 maps [0, 1] to [-1, 3]; with sigma and steps scaled too, so is every radius of ball 2."""

    def search(scale: float) -> PaperSearch:
        return PaperSearch(start_noise=0, first_step=scale / 64, smallest_step=scale * 1e-7)

    methods: tuple[Method, ...] = ("cohen", "single", "boundary")
    unit = certify(half_space((0.0, 1.0)), settings(methods=methods, paper=search(1)), INSIDE, 4, 1)
    stretched = SmoothedClassifier(HalfSpace([0.15, 0.2, 0.0], -0.35), 2.0, 2, domain=(-1.0, 3.0), batch_size=500)
    c = certify(stretched, settings(methods=methods, paper=search(4)), 4 * INSIDE - 1, 4, 1)
    assert unit.radii["boundary"] > unit.radii["single"] > unit.radii["cohen"]
    for method in methods:
        assert c.radii[method] == pytest.approx(4 * unit.radii[method], rel=1e-5)


@pytest.mark.parametrize("gradient", KINDS)
@pytest.mark.parametrize("domain", [None, (0.0, 1.0)])
def test_unanimous_votes(gradient: GradientKind, domain: tuple[float, float] | None) -> None:
    far = SmoothedClassifier(HalfSpace([1.0, 0.0, 0.0], 0.5), 0.02, 2, domain=domain, batch_size=500)
    c = certify(far, settings(gradient), torch.full((3,), 0.5), 0, None)
    assert c.counts["select"].tolist() == [0, 1000]
    assert c.radii["single"] == c.radii["cohen"] == pytest.approx(c.balls[0].radius)
    assert all(math.isfinite(r) for r in c.radii.values())
    assert c.draws["search"] <= 10_000, "nothing to climb but the way back"


@pytest.mark.parametrize("gradient", KINDS)
@pytest.mark.parametrize("n", [1, 3, 10, 40])
def test_a_tie_or_too_few_draws_abstain_or_are_finite(gradient: GradientKind, n: int) -> None:
    on_the_boundary = torch.tensor([0.5, 0.5, 0.5])
    for index in range(5):
        c = certify(half_space((0.0, 1.0)), settings(gradient, n), on_the_boundary, index, None)
        assert all(math.isfinite(r) and r >= 0 for r in c.radii.values())
        assert all(math.isfinite(ball.radius) for ball in c.balls)
        if c.radius == 0:
            assert (c.status, c.prediction) == (Status.NOT_SEPARATED, ABSTAIN)


class Gumbelled(nn.Module):
    """The same logits everywhere: no gradient, and under `full` some votes for either class."""

    def forward(self, batch: Tensor) -> Tensor:
        return torch.tensor([0.02, 0.0]).to(batch) + 0 * batch.flatten(1)[:, :1]


def test_a_vanishing_gradient_ends_the_search_with_that_reason() -> None:
    flat = SmoothedClassifier(Gumbelled().eval(), 0.5, 2, batch_size=500)
    c = certify(flat, settings("full", paper=PaperSearch(start_noise=0)), torch.full((4,), 0.5), 0, None)
    assert "best of 1 looks, ended because the gradient vanished" in c.reason
    assert "no line to search: ball 2 is centred at the input" in c.reason
    assert c.status is Status.CERTIFIED
    assert 0 < c.counts["select"][1] < 1000


@pytest.mark.parametrize("gradient", KINDS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 1, 1)])
def test_any_dtype_and_shape(gradient: GradientKind, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = INSIDE.to(dtype).reshape(shape)
    config = settings(gradient, 200, paper=SHORT)
    c = certify(half_space((0.0, 1.0)), config, x, 0, 1)
    assert c.shape == shape
    assert all(math.isfinite(r) for r in c.radii.values())
    if dtype in (torch.float16, torch.bfloat16):
        assert c.radii == certify(half_space((0.0, 1.0)), config, x.float(), 0, 1).radii


@pytest.mark.parametrize("gradient", KINDS)
def test_a_thousand_classes(gradient: GradientKind) -> None:
    model = nn.Linear(6, 1000)
    with torch.no_grad():
        model.weight.copy_(torch.randn((1000, 6), generator=torch.Generator().manual_seed(1)))
    smoothed = SmoothedClassifier(model.eval(), 0.25, 1000, batch_size=500)
    c = certify(smoothed, settings(gradient, 500, paper=SHORT), torch.ones(6), 0, None)
    assert all(math.isfinite(r) for r in c.radii.values())


class Island(nn.Module):
    """Class 0 in a small ball around the middle of the box, class 1 elsewhere."""

    def forward(self, batch: Tensor) -> Tensor:
        inside = 0.3 - (batch.flatten(1) - 0.5).norm(dim=1)
        return torch.stack([inside, torch.zeros_like(inside)], 1)


@pytest.mark.parametrize("gradient", KINDS)
def test_a_search_that_leaves_the_class_records_nothing_there(gradient: GradientKind) -> None:
    smoothed = SmoothedClassifier(Island().eval(), 0.05, 2, batch_size=500)
    config = settings(gradient, 300, paper=PaperSearch(first_step=0.6, iterations=10))
    x = torch.tensor([0.5, 0.5, 0.62])
    for index in range(4):
        c = certify(smoothed, config, x, index, 0)
        assert all(int(ball.counts.argmax()) == 0 for ball in c.balls)
        assert c.radii["single"] < 0.3
