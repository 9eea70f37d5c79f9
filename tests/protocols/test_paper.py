import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from doublebubble import ABSTAIN, Guarantee, SmoothedClassifier
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds import goodman
from doublebubble.certificate import Certificate, Status
from doublebubble.config import CertifyConfig, PaperSearch
from doublebubble.errors import InputError, ModelError, SettingError
from doublebubble.geometry import cohen_radius, double_bubble_radius, published_boundary_radius
from doublebubble.protocols import paper
from doublebubble.smoothing import Input
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from doublebubble.types import GradientKind, Method
from tests.digits import digits, digits_model

ALL: tuple[Method, ...] = ("cohen", "single", "boundary", "double")
SHORT = PaperSearch(iterations=5, line_iterations=3)
KINDS: tuple[GradientKind, ...] = ("approximate", "full")


def settings(gradient: GradientKind = "approximate", n: int = 1000, **changes: object) -> CertifyConfig:
    values = {"protocol": "paper", "n": n, "methods": ALL, "gradient": gradient, **changes}
    return CertifyConfig.model_validate(values)


def half_space(domain: tuple[float, float] | None = None, sigma: float = 0.5) -> SmoothedClassifier:
    return SmoothedClassifier(HalfSpace([0.6, 0.8, 0.0], -0.7), sigma, 2, domain=domain, batch_size=500)


INSIDE = torch.tensor([0.7, 0.8, 0.3])  # class 1 of the half-space, 0.36 from its boundary


def certify(
    smoothed: SmoothedClassifier, config: CertifyConfig, x: Tensor, index: int, label: int | None
) -> Certificate:
    return paper.certify(smoothed, config, Input(index, x, label))


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


def same(one: Certificate, other: Certificate) -> bool:
    """Whether two certificates agree in everything but the time they took."""
    left, right = (dataclasses.asdict(dataclasses.replace(c, seconds={})) for c in (one, other))
    return repr(left) == repr(right)


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


# Stated outcomes


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


# Options that the publication suggests


def test_fewer_draws_search_and_all_draws_measure() -> None:
    config = settings(paper=PaperSearch(draws=100))
    c = certify(half_space((0.0, 1.0)), config, INSIDE, 0, 1)
    looks = (c.draws["search"] + c.draws["line"]) // 100
    assert looks * 100 == c.draws["search"] + c.draws["line"]
    assert [ball.n for ball in c.balls] == [1000] * len(c.balls)
    assert c.draws["certify"] == 1000 * (len(c.balls) - 1) > 0


@pytest.mark.parametrize("gradient", KINDS)
def test_the_thrifty_form_says_so_and_is_confirmed_by_fresh_draws(
    gradient: GradientKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No stream of a look measures a ball: with one, the search would choose the draws that confirm it."""
    used: list[tuple[str, str]] = []
    tally, soft_scores = SmoothedClassifier.tally, SmoothedClassifier.soft_scores

    def watched_tally(self: SmoothedClassifier, request: Request) -> Tally:
        used.append((request.stream.stage, request.stream.part))
        return tally(self, request)

    def watched_scores(self: SmoothedClassifier, x: Tensor, n: int, stream: Stream, *rest: Any, **more: Any) -> Any:
        used.append((stream.stage, stream.part))
        return soft_scores(self, x, n, stream, *rest, **more)

    monkeypatch.setattr(SmoothedClassifier, "tally", watched_tally)
    monkeypatch.setattr(SmoothedClassifier, "soft_scores", watched_scores)
    c = certify(half_space((0.0, 1.0)), settings(gradient, paper=PaperSearch.thrifty()), INSIDE, 0, 1)
    assert len(c.balls) == 3
    assert [ball.n for ball in c.balls] == [1000] * 3
    assert [one for one in used if one[0] != "search"] == [
        ("select", "input"),
        ("certify", "second"),
        ("certify", "third"),
    ]
    assert {one for one in used if one[0] == "search"} == {("search", "second/0"), ("search", "third/0")}
    assert c.draws["certify"] == 2000
    assert "by the thrifty form of the published search (looks of 256 fixed draws" in c.reason
    assert "each find confirmed by 1000 draws of its own); it is not a guarantee at any level" in c.reason
    assert "as published" not in c.reason
    assert c.guarantee is Guarantee.NONE
    published = certify(half_space((0.0, 1.0)), settings(gradient), INSIDE, 0, 1)
    assert "as published" in published.reason
    assert "thrifty" not in published.reason


class Recorder(nn.Module):
    """A half-space that keeps the first row of every batch it was fed."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.seen = HalfSpace([0.6, 0.8, 0.0], -0.7), list[Tensor]()

    def forward(self, batch: Tensor) -> Tensor:
        self.seen.append(batch[:2].detach().clone())
        logits: Tensor = self.inner(batch)
        return logits


@pytest.mark.parametrize("fixed", [False, True])
def test_no_two_looks_share_noise_unless_the_draws_are_fixed(fixed: bool) -> None:
    recorder = Recorder().eval()
    smoothed = SmoothedClassifier(recorder, 0.5, 2, batch_size=200)
    config = settings(n=200, methods=("single",), paper=PaperSearch(fixed_draws=fixed, iterations=6))
    smoothed.counts(INSIDE, 1, seed=0, index=0)  # the first look at the rows comes once, before the first draws
    recorder.seen.clear()
    c = certify(smoothed, config, INSIDE, 0, 1)
    noise = {tuple((rows[0] - rows[1]).mul(1e3).round().tolist()) for rows in recorder.seen}
    looks = c.draws["search"] // 200
    assert looks >= 3
    assert len(noise) == (2 if fixed else 1 + looks)


def test_momentum_and_calibrated_noise_change_the_path() -> None:
    plain, heavy, noisy = (
        certify(
            half_space((0.0, 1.0)), settings(methods=("single",), paper=PaperSearch.model_validate(extra)), INSIDE, 0, 1
        )
        for extra in ({}, {"momentum": 0.5}, {"calibrated_noise": 0.5})
    )
    assert not same(plain, heavy)
    assert not same(plain, noisy)


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
