from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.stats import norm
from torch import Tensor, nn

from doublebubble.audit.oracles import BallClassifier, HalfSpace, LinearClassifier, Oracle, Slab
from doublebubble.errors import ModelError, SettingError
from doublebubble.search.gradients import (
    Cost,
    Estimator,
    GradientState,
    Look,
    RadiusGradient,
    Rivals,
    estimated_rivals,
    leading,
    radius_directions,
    radius_gradients,
    slopes,
)
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.types import Counts, Floats, NoiseName

SIGMA = 0.5
EVERY = [Estimator.APPROXIMATE, Estimator.FULL, Estimator.AUTOGRAD_ONLY]


def half_space() -> tuple[Oracle, Tensor]:
    return HalfSpace([0.6, 0.0, 0.8, 0.0], -0.2), torch.tensor([0.4, 0.1, 0.3, 0.9], dtype=torch.float64)


def linear() -> tuple[Oracle, Tensor]:
    return LinearClassifier(np.eye(4, 6), [0.1, 0.0, -0.2, 0.0]), torch.linspace(0.3, 0.1, 6, dtype=torch.float64)


def slab() -> tuple[Oracle, Tensor]:
    return Slab([0.0, 1.0, 0.0], -0.3, 0.9), torch.tensor([0.0, 0.7, 0.2], dtype=torch.float64)


def ball() -> tuple[Oracle, Tensor]:
    return BallClassifier([0.0, 0.0, 0.0], 1.1), torch.tensor([0.5, -0.4, 0.2], dtype=torch.float64)


def smooth(model: nn.Module, classes: int, batch_size: int = 4000) -> SmoothedClassifier:
    return SmoothedClassifier(model, SIGMA, classes, domain=None, batch_size=batch_size)


def stream(part: int = 0) -> Stream:
    return Stream(0, 0, "search", f"look/{part}")


def gradient_of(
    smoothed: SmoothedClassifier,
    estimator: Estimator,
    x: Tensor,
    n: int,
    named: Stream,
    read: Callable[[Counts], Rivals] = estimated_rivals,
) -> RadiusGradient:
    (found,) = radius_gradients(smoothed, [Look(estimator, x, n, named, read)])
    return found


@pytest.mark.parametrize("estimator", [Estimator.APPROXIMATE, Estimator.FULL])
@pytest.mark.parametrize("make", [half_space, linear, slab, ball])
def test_gradients_converge_to_the_closed_form_like_one_over_the_root_of_n(
    make: Callable[[], tuple[Oracle, Tensor]], estimator: Estimator
) -> None:
    oracle, x = make()
    smoothed, rows = smooth(oracle, oracle.num_classes), np.eye(oracle.num_classes)
    truth = torch.from_numpy(oracle.gradient(x.numpy(), SIGMA))
    repetitions = 60

    def estimates(n: int, first: int) -> Tensor:
        each = [slopes(smoothed, estimator, x, n, stream(first + i), rows).gradients for i in range(repetitions)]
        return torch.stack(each)

    few, many = estimates(250, 0), estimates(4000, repetitions)
    errors = [float((some - truth).square().sum((1, 2)).mean().sqrt()) for some in (few, many)]
    # sixteen times the draws, a quarter of the error; 60 repetitions of one coordinate spread the ratio by 13 %
    assert 2.5 < errors[0] / errors[1] < 6.0
    mean = many.mean(0)
    # size and direction at once: five standard errors, and half a per cent for what softening moves
    assert float((mean - truth).norm()) < 5 * errors[1] / repetitions**0.5 + 0.005 * float(truth.norm())
    for row, true in zip(mean, truth, strict=True):
        assert float(torch.cosine_similarity(row, true, dim=0)) > 0.99
        assert float(row.norm() / true.norm()) == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize("estimator", EVERY)
def test_the_radius_of_a_half_space_grows_at_rate_one_along_its_normal(estimator: Estimator) -> None:
    oracle, x = half_space()
    found = gradient_of(smooth(oracle, 2), estimator, x, 100_000, stream())
    assert found.state is GradientState.DEFINED
    normal = torch.tensor([0.6, 0.0, 0.8, 0.0], dtype=torch.float64)
    torch.testing.assert_close(found.value, normal, atol=0.05, rtol=0)


@pytest.mark.parametrize("estimator", EVERY)
def test_the_gradient_of_the_radius_equals_a_difference_quotient_of_the_closed_form(estimator: Estimator) -> None:
    oracle, x = linear()
    found = gradient_of(smooth(oracle, 4), estimator, x, 200_000, stream())
    assert (found.rivals.top, found.rivals.runner_up) == (0, 1)

    def radius(at: Floats) -> float:
        q = norm.ppf(oracle.probabilities(at, SIGMA))
        return float(SIGMA / 2 * (q[0] - q[1]))

    steps = 1e-5 * np.eye(6)
    quotient = [(radius(x.numpy() + e) - radius(x.numpy() - e)) / 2e-5 for e in steps]
    np.testing.assert_allclose(found.value.numpy(), quotient, atol=0.03)


@pytest.mark.parametrize("estimator", EVERY)
def test_directions_chosen_after_counting_are_as_good_as_known_ones(estimator: Estimator) -> None:
    oracle, x = linear()
    smoothed = smooth(oracle, 4, batch_size=70)
    rows = np.array([[1.0, -0.5, 0.0, 2.0], [0.0, 1.0, 0.0, 0.0]])
    seen: list[list[int]] = []

    def choose(counts: Counts) -> Floats:
        seen.append(counts.tolist())
        return rows

    fixed = slopes(smoothed, estimator, x, 200, stream(), rows)
    chosen = slopes(smoothed, estimator, x, 200, stream(), choose)
    assert seen == [fixed.counts.tolist()] == [chosen.counts.tolist()]
    torch.testing.assert_close(fixed.gradients, chosen.gradients)
    one_by_one = slopes(smoothed, estimator, x, 200, stream(), np.eye(4)).gradients
    torch.testing.assert_close(fixed.gradients, torch.from_numpy(rows) @ one_by_one)


def test_votes_of_full_are_those_of_the_perturbed_logits_and_the_others_are_plain() -> None:
    oracle = LinearClassifier(
        np.eye(4, 6), [0.1, 0.0, -0.2, 0.0], scale=0.001
    )  # logits so small that Gumbel noise rules
    x = torch.linspace(0.9, 0.1, 6)
    smoothed, rows = smooth(oracle, 4), np.eye(4)
    plain = smoothed.counts(x, 3000, seed=0, index=0, stage="search", part="look/0")
    votes = {e: slopes(smoothed, e, x, 3000, stream(), rows).counts for e in EVERY}
    assert votes[Estimator.APPROXIMATE].tolist() == votes[Estimator.AUTOGRAD_ONLY].tolist() == plain.tolist()
    assert np.abs(votes[Estimator.FULL] - 750).max() < 150 < np.abs(plain - 750).max()


class Meter(nn.Module):
    """Counts how many rows are run forwards and backwards through a model."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.forwards, self.backwards = inner, 0, 0
        inner.register_full_backward_hook(self._back)

    def forward(self, batch: Tensor) -> Tensor:
        self.forwards += len(batch)
        logits: Tensor = self.inner(batch)
        return logits

    def _back(self, module: nn.Module, into: object, out: tuple[Tensor, ...] | Tensor) -> None:
        self.backwards += len(out[0])


@pytest.mark.parametrize("estimator", EVERY)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_cost_is_what_the_model_was_run(estimator: Estimator, known: bool, number: int) -> None:
    oracle, x = linear()
    meter = Meter(oracle).eval()
    rows = np.eye(4)[:number]
    smoothed = smooth(meter, 4, batch_size=50)
    smoothed.counts(x, 1, seed=0, index=0, stage="audit")  # so that the model's rows are tried out
    meter.forwards = 0
    found = slopes(smoothed, estimator, x, 200, stream(), rows if known else lambda counts: rows)
    assert found.cost == Cost(200, meter.forwards + 2 * meter.backwards)
    assert found.gradients.shape == (number, 6)
    assert Cost(1, 2) + Cost(3, 4) == Cost(4, 6)


# Stated outcomes


class Fixed(nn.Module):
    """The same logits everywhere, formally differentiable."""

    def __init__(self, logits: list[float]) -> None:
        super().__init__()
        self.logits = torch.tensor(logits)

    def forward(self, batch: Tensor) -> Tensor:
        return self.logits.to(batch) + 0 * batch.flatten(1)[:, :1]


@pytest.mark.parametrize("estimator", EVERY)
def test_unanimous_votes_show_no_direction(estimator: Estimator) -> None:
    found = gradient_of(smooth(Fixed([1.0, 0.0, 0.0]).eval(), 3), estimator, torch.ones(2, 2), 100, stream())
    assert found.state is GradientState.UNANIMOUS
    assert found.counts.tolist() == [100, 0, 0]
    assert torch.equal(found.value, torch.zeros(2, 2, dtype=torch.float64))
    assert found.cost == Cost(100, 100), "no backward pass is spent"


@pytest.mark.parametrize("estimator", EVERY)
@pytest.mark.parametrize(("p_a", "p_b"), [(1.0, 0.2), (0.0, 0.2), (0.8, 0.0), (0.8, 1.0), (1.0, 0.0)])
def test_a_probability_of_nought_or_one_is_singular(estimator: Estimator, p_a: float, p_b: float) -> None:
    oracle, x = linear()
    found = gradient_of(smooth(oracle, 4), estimator, x, 100, stream(), lambda counts: Rivals(0, 1, p_a, p_b))
    assert found.state is GradientState.SINGULAR
    assert not found.value.any()


def test_a_gradient_that_vanishes_is_said_to() -> None:
    flat = smooth(Fixed([0.0, 0.0]).eval(), 2)
    found = gradient_of(flat, Estimator.FULL, torch.ones(3), 100, stream())
    assert 0 < found.counts[0] < 100
    assert found.state is GradientState.VANISHED
    assert not found.value.any()


class BlackBox(nn.Module):
    """A half-space that autograd cannot see through, with or without parameters."""

    def __init__(self, with_parameters: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2)) if with_parameters else torch.ones(2)

    def forward(self, batch: Tensor) -> Tensor:
        side = torch.from_numpy((batch.detach().flatten(1).sum(1).numpy() > 0).astype(np.float32))
        return torch.stack([side, 1 - side], 1) * self.weight


@pytest.mark.parametrize("with_parameters", [True, False])
def test_a_black_box_has_a_score_function_and_no_autograd(with_parameters: bool) -> None:
    smoothed, x = smooth(BlackBox(with_parameters).eval(), 2), torch.tensor([0.2, 0.0])
    found = gradient_of(smoothed, Estimator.APPROXIMATE, x, 20_000, stream())
    torch.testing.assert_close(found.value, torch.full((2,), 0.5**0.5, dtype=torch.float64), atol=0.05, rtol=0)
    for estimator in (Estimator.FULL, Estimator.AUTOGRAD_ONLY):
        with pytest.raises(ModelError, match="input 0: expected logits that autograd can differentiate"):
            gradient_of(smoothed, estimator, x, 100, stream())


@pytest.mark.parametrize("estimator", EVERY)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_any_floating_dtype_and_shape(estimator: Estimator, dtype: torch.dtype) -> None:
    oracle = HalfSpace([1.0] * 12, -6.0)
    found = gradient_of(smooth(oracle, 2), estimator, torch.full((3, 2, 2), 0.55, dtype=dtype), 500, stream())
    assert found.value.shape == (3, 2, 2)
    assert found.value.dtype == torch.float64
    assert found.value.isfinite().all()
    assert found.state is GradientState.DEFINED


@pytest.mark.parametrize("estimator", EVERY)
def test_a_thousand_classes(estimator: Estimator) -> None:
    model = nn.Linear(6, 1000)
    with torch.no_grad():
        model.weight.copy_(torch.randn((1000, 6), generator=torch.Generator().manual_seed(1)))
    found = gradient_of(smooth(model.eval(), 1000, 200), estimator, torch.ones(6), 400, stream())
    assert found.state is GradientState.DEFINED
    assert found.value.isfinite().all()


def test_ties_go_to_the_lower_class() -> None:
    assert leading(np.array([3, 5, 5, 3])) == (1, 2)
    assert leading(np.array([5, 2, 2])) == (0, 1)
    assert estimated_rivals(np.array([2, 6, 2])) == Rivals(1, 0, 0.6, 0.2)


def test_radius_directions_are_the_derivatives_of_the_radius() -> None:
    def radius(p: Floats) -> float:
        return float(0.7 / 2 * (norm.ppf(p[2]) - norm.ppf(p[0])))

    p, steps = np.array([0.2, 0.1, 0.7]), 1e-6 * np.eye(3)
    quotient = [(radius(p + e) - radius(p - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(radius_directions(Rivals(2, 0, 0.7, 0.2), 0.7, 3), [quotient], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("rows", [np.eye(3), np.ones(4), np.full((1, 4), np.nan)])
def test_malformed_directions_are_refused(rows: Floats) -> None:
    oracle, x = linear()
    with pytest.raises(SettingError, match="directions"):
        slopes(smooth(oracle, 4), Estimator.FULL, x, 10, stream(), rows)


@pytest.mark.parametrize("noise", ["gaussian", "gaussian64"])
def test_looks_together_are_each_as_if_alone(noise: NoiseName) -> None:
    """All estimators, sizes and shapes of answer in one call, against the same looks one by one, to the bit."""
    oracle, x = linear()
    made = [SmoothedClassifier(oracle, SIGMA, 4, domain=None, batch_size=64, noise=noise) for _ in range(2)]
    looks = [
        Look(estimator, x + 0.01 * number, 70 + 9 * number, stream(number), climbing=number % 4 != 3)
        for number, estimator in enumerate([*EVERY, Estimator.SOFT] * 3)
    ]
    together = radius_gradients(made[0], looks)
    alone = [radius_gradients(made[1], [look])[0] for look in looks]
    for one, other in zip(together, alone, strict=True):
        assert one.counts.tolist() == other.counts.tolist()
        assert torch.equal(one.value, other.value)
        assert (one.rivals, one.state, one.cost) == (other.rivals, other.state, other.cost)
    assert {one.state for one in together} == {GradientState.DEFINED, GradientState.UNASKED}


def test_no_gradient_is_taken_where_none_is_asked_for() -> None:
    oracle, x = linear()
    for estimator in EVERY:
        (found,) = radius_gradients(smooth(oracle, 4), [Look(estimator, x, 100, stream(), climbing=False)])
        assert found.state is GradientState.UNASKED
        assert found.cost == Cost(100, 100)
        assert not found.value.any()
        assert found.rivals == estimated_rivals(found.counts)
