"""The MACER loss against the definition computed slowly in high precision, and at the edges of floating point."""

import math

import mpmath as mp
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import InputError
from doublebubble.streams import Stream
from doublebubble.training.gaussian import noisy
from doublebubble.training.macer import macer_step, macer_terms, phi_inv
from tests.training.differences import slow_with_gradient

SIGMA, LAM = 0.5, 12.0


def slow_loss(logits: list[list[list[mp.mpf]]], labels: list[int], gamma: float, beta: float) -> mp.mpf:
    """The definition, input by input, in 50 digits."""
    total = mp.mpf(0)
    for draws, label in zip(logits, labels, strict=True):
        plain, sharp = _mean_softmax(draws, 1.0), _mean_softmax(draws, beta)
        total -= mp.log(plain[label])
        order = sorted(range(len(sharp)), key=lambda k: -sharp[k])
        if order[0] == label:
            margin = _phi_inv(sharp[order[0]]) - _phi_inv(sharp[order[1]])
            total += mp.mpf(LAM) * SIGMA / 2 * max(mp.mpf(0), gamma - margin)
    return total / len(labels)


def _mean_softmax(draws: list[list[mp.mpf]], beta: float) -> list[mp.mpf]:
    columns = [[mp.exp(beta * z) for z in row] for row in draws]
    scaled = [[z / sum(row) for z in row] for row in columns]
    return [sum(row[k] for row in scaled) / len(draws) for k in range(len(draws[0]))]


def _phi_inv(p: mp.mpf) -> mp.mpf:
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def random_case(seed: int, scale: float, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(seed)
    labels = torch.from_numpy(rng.integers(0, 3, size=5))
    logits = torch.from_numpy(rng.normal(size=(5, 4, 3)) * scale)
    logits[:3].scatter_add_(
        2, labels[:3, None, None].expand(-1, 4, 1), torch.full((3, 4, 1), scale, dtype=torch.float64)
    )
    return logits.to(dtype), labels


@pytest.mark.parametrize(("scale", "gamma"), [(0.05, 8.0), (0.2, 8.0), (0.2, 0.5), (1.0, 8.0)])
def test_value_and_gradient_equal_the_slow_definition(scale: float, gamma: float) -> None:
    logits, labels = random_case(seed=3, scale=scale)
    leaf = logits.clone().requires_grad_()
    terms = macer_terms(leaf, labels, SIGMA, LAM, gamma, 16.0)
    loss = terms.classification + terms.robustness
    torch.autograd.backward(loss)
    value, gradient = slow_with_gradient(slow_loss, logits, labels, gamma, 16.0)
    assert leaf.grad is not None
    assert loss.item() == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(leaf.grad.numpy(), gradient, rtol=1e-9, atol=1e-12)


def test_the_cases_above_include_hinges_active_and_inactive_and_wrong_inputs() -> None:
    logits, labels = random_case(seed=3, scale=0.2)
    terms = macer_terms(logits, labels, SIGMA, LAM, 0.5, 16.0)
    assert terms.right.any()
    assert not terms.right.all()
    assert (terms.margin[terms.right] > 0.5).any()
    assert (terms.margin[terms.right] < 8.0).any()


def test_an_inactive_hinge_and_a_wrong_input_carry_no_gradient_of_the_radius() -> None:
    labels = torch.tensor([0, 1])
    logits = torch.tensor([[[5.0, 0.0, 0.0]], [[5.0, 0.0, 0.0]]], requires_grad=True)
    robustness = macer_terms(logits, labels, SIGMA, LAM, 8.0, 16.0).robustness
    torch.autograd.backward(robustness)
    assert logits.grad is not None
    assert robustness.item() == 0
    assert torch.equal(logits.grad, torch.zeros_like(logits))


@pytest.mark.parametrize("scale", [1e1, 1e3, 1e6])
@pytest.mark.parametrize("gamma", [8.0, 1e4])
def test_saturated_probabilities_stay_finite(scale: float, gamma: float) -> None:
    logits, labels = random_case(seed=5, scale=scale, dtype=torch.float32)
    leaf = logits.clone().requires_grad_()
    terms = macer_terms(leaf, labels, SIGMA, LAM, gamma, 16.0)
    torch.autograd.backward(terms.classification + terms.robustness)
    assert leaf.grad is not None
    assert math.isfinite(terms.classification.item())
    assert math.isfinite(terms.robustness.item())
    assert torch.isfinite(leaf.grad).all()
    assert torch.isfinite(terms.margin).all()


def test_a_saturated_margin_equals_the_slow_one() -> None:
    """p is 1 to machine precision (1 - p is about 1e-84): float64 probabilities would give an infinite quantile."""
    logits = torch.tensor([[[12.0, 0.0, -1.0]]], dtype=torch.float64)
    margin = macer_terms(logits, torch.tensor([0]), SIGMA, LAM, 8.0, 16.0).margin.item()
    with mp.workdps(120):
        p = _mean_softmax([[mp.mpf(12), mp.mpf(0), mp.mpf(-1)]], 16.0)
        expected = float(_phi_inv(p[0]) - _phi_inv(p[1]))
    assert margin == pytest.approx(expected, rel=1e-12)


def test_phi_inv_is_odd_and_its_gradient_is_that_of_the_quantile() -> None:
    p = torch.tensor([1e-300, 1e-12, 0.1, 0.5, 0.9], dtype=torch.float64)
    log_p = torch.log(p).requires_grad_()
    z = phi_inv(log_p, torch.log1p(-p))
    assert torch.equal(phi_inv(torch.log1p(-p), torch.log(p)), -z)
    torch.autograd.backward(z.sum())
    assert log_p.grad is not None
    with mp.workdps(400):
        for value, at, slope in zip(p.tolist(), z.tolist(), log_p.grad.tolist(), strict=True):
            exact = _phi_inv(mp.mpf(value))
            assert at == pytest.approx(float(exact), rel=1e-12, abs=1e-15)
            if value < 0.5:
                assert slope == pytest.approx(float(mp.mpf(value) / mp.npdf(exact)), rel=1e-11)


def test_order_of_inputs_draws_and_other_classes_does_not_matter() -> None:
    logits, labels = random_case(seed=7, scale=0.2)
    base = macer_terms(logits, labels, SIGMA, LAM, 8.0, 16.0)
    inputs, draws, classes = torch.tensor([3, 0, 4, 1, 2]), torch.tensor([2, 3, 0, 1]), torch.tensor([2, 0, 1])
    moved = macer_terms(
        logits[inputs][:, draws][:, :, classes], classes.argsort()[labels[inputs]], SIGMA, LAM, 8.0, 16.0
    )
    torch.testing.assert_close(moved.classification, base.classification)
    torch.testing.assert_close(moved.robustness, base.robustness)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(InputError, match="inputs, draws, classes"):
        macer_terms(torch.zeros(3, 4), torch.zeros(3, dtype=torch.int64), SIGMA, LAM, 8.0, 16.0)


def test_a_step_draws_fresh_noise_for_every_copy_of_an_image_and_counts_all_of_them() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    x, labels = torch.rand(6, 1, 4, 4, generator=torch.Generator().manual_seed(2)), torch.tensor([0, 1, 2, 0, 1, 2])
    stream = Stream(0, 1, "train")
    result = macer_step(model, x, labels, SIGMA, stream, 5, LAM, 8.0, 16.0)
    copies = noisy(torch.stack([image for image in x for _ in range(5)]), SIGMA, stream)
    assert len({copy.numpy().tobytes() for copy in copies}) == 30
    logits = torch.stack([model(copy[None])[0] for copy in copies]).detach().reshape(6, 5, 3)
    value, _ = slow_with_gradient(slow_loss, logits.double(), labels, 8.0, 16.0)
    assert result.loss.item() == pytest.approx(value, rel=1e-4)
    right = sum(int(logits[i, j].argmax() == labels[i]) for i in range(6) for j in range(5))
    assert result.accuracy == right / 30
