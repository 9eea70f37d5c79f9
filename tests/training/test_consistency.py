"""The consistency loss against its definition computed slowly in high precision, its invariances, extreme logits."""

import mpmath as mp
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import InputError
from doublebubble.streams import Stream
from doublebubble.training.consistency import consistency_step, consistency_terms
from doublebubble.training.gaussian import noisy
from tests.training.differences import slow_with_gradient

LAM, ETA = 5.0, 0.5


def slow_loss(logits: list[list[list[mp.mpf]]], labels: list[int], lam: float, eta: float) -> mp.mpf:
    """The definition, input by input and draw by draw."""
    total = mp.mpf(0)
    for draws, label in zip(logits, labels, strict=True):
        scores = [_softmax(row) for row in draws]
        classes = range(len(draws[0]))
        mean = [sum(p[k] for p in scores) / len(scores) for k in classes]
        for p in scores:
            total -= mp.log(p[label]) / len(scores)
            total += lam * sum(mean[k] * mp.log(mean[k] / p[k]) for k in classes) / len(scores)
        total -= eta * sum(mean[k] * mp.log(mean[k]) for k in classes)
    return total / len(labels)


def _softmax(row: list[mp.mpf]) -> list[mp.mpf]:
    scores = [mp.exp(z) for z in row]
    return [score / sum(scores) for score in scores]


def random_case(seed: int, scale: float, draws: int = 3) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(size=(4, draws, 3)) * scale), torch.from_numpy(rng.integers(0, 3, size=4))


@pytest.mark.parametrize(
    ("scale", "draws", "lam", "eta"), [(1.0, 2, LAM, ETA), (5.0, 3, LAM, ETA), (1.0, 2, 0.0, 2.0), (1.0, 1, LAM, 0.0)]
)
def test_value_and_gradient_equal_the_slow_definition(scale: float, draws: int, lam: float, eta: float) -> None:
    logits, labels = random_case(3, scale, draws)
    leaf = logits.clone().requires_grad_()
    loss = consistency_terms(leaf, labels).loss(lam, eta)
    torch.autograd.backward(loss)
    value, gradient = slow_with_gradient(slow_loss, logits, labels, lam, eta)
    assert leaf.grad is not None
    assert loss.item() == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(leaf.grad.numpy(), gradient, rtol=1e-9, atol=1e-12)


def test_order_of_inputs_copies_and_classes_and_a_shift_of_logits_do_not_matter() -> None:
    logits, labels = random_case(seed=7, scale=2.0)
    base = consistency_terms(logits, labels).loss(LAM, ETA)
    inputs, draws, classes = torch.tensor([3, 0, 1, 2]), torch.tensor([2, 0, 1]), torch.tensor([2, 0, 1])
    moved = logits[inputs][:, draws][:, :, classes] + torch.arange(12.0).reshape(4, 3, 1)
    torch.testing.assert_close(consistency_terms(moved, classes.argsort()[labels[inputs]]).loss(LAM, ETA), base)


def test_copies_that_agree_cost_cross_entropy_and_their_entropy_alone() -> None:
    logits, labels = random_case(seed=9, scale=1.0, draws=1)
    terms = consistency_terms(logits.expand(-1, 4, -1), labels)
    p = torch.softmax(logits[:, 0], 1)
    assert terms.divergence.item() == pytest.approx(0, abs=1e-15)
    torch.testing.assert_close(terms.classification, nn.functional.cross_entropy(logits[:, 0], labels))
    torch.testing.assert_close(terms.entropy, torch.special.entr(p).sum(1).mean())


def test_copies_that_contradict_each_other_cost_what_the_closed_form_says() -> None:
    """Two sure copies of opposite minds: p is (1/2, 1/2) up to e^-a, so KL(p || p_j) is a / 2 - log 2 up to that."""
    a = 60.0
    terms = consistency_terms(torch.tensor([[[a, 0.0], [0.0, a]]], dtype=torch.float64), torch.tensor([0]))
    assert terms.divergence.item() == pytest.approx(a / 2 - np.log(2), rel=1e-14)
    assert terms.entropy.item() == pytest.approx(np.log(2), rel=1e-14)
    assert terms.classification.item() == pytest.approx(a / 2, rel=1e-14)


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e30])
def test_extreme_logits_stay_finite(scale: float) -> None:
    logits, labels = random_case(seed=5, scale=scale)
    leaf = logits.float().requires_grad_()
    loss = consistency_terms(leaf, labels).loss(LAM, ETA)
    torch.autograd.backward(loss)
    assert leaf.grad is not None
    assert torch.isfinite(loss)
    assert torch.isfinite(leaf.grad).all()


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(InputError, match="inputs, draws, classes"):
        consistency_terms(torch.zeros(3, 4), torch.zeros(3, dtype=torch.int64))


def test_a_step_draws_fresh_noise_for_every_copy_of_an_image_and_counts_all_of_them() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    x, labels = torch.rand(6, 1, 4, 4, generator=torch.Generator().manual_seed(2)), torch.tensor([0, 1, 2, 0, 1, 2])
    stream = Stream(0, 1, "train")
    result = consistency_step(model, x, labels, 0.5, stream, 2, LAM, ETA)
    copies = noisy(torch.stack([image for image in x for _ in range(2)]), 0.5, stream)
    assert len({copy.numpy().tobytes() for copy in copies}) == 12
    logits = torch.stack([model(copy[None])[0] for copy in copies]).detach().reshape(6, 2, 3)
    value, _ = slow_with_gradient(slow_loss, logits.double(), labels, LAM, ETA)
    assert result.loss.item() == pytest.approx(value, rel=1e-4)
    right = sum(int(logits[i, j].argmax() == labels[i]) for i in range(6) for j in range(2))
    assert result.accuracy == right / 12
