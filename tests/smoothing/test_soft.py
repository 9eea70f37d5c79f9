"""Soft scores against autograd, and against sums of themselves."""

import contextlib
import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from doublebubble.errors import ModelError, SettingError
from doublebubble.smoothing import SmoothedClassifier, soft
from doublebubble.streams import NormalDraws, Stream
from doublebubble.types import Counts
from tests.smoothing.subjects import SHAPE, image, small_net, smoothed


def test_soft_scores_equal_autograd_on_all_draws_at_once() -> None:
    net, x, stream = small_net(), image(2), Stream(0, 0, "search", "look/4")
    scores = smoothed(batch_size=50).soft_scores(x, 120, stream, torch.eye(4)[[1, 2]])
    noise, normals = torch.empty((120, *SHAPE)), torch.empty((120, 4))
    NormalDraws(stream, x).fill(noise)
    NormalDraws(Stream(0, 0, "search", "look/4/gumbel"), normals[0]).fill(normals)
    gumbel = torch.from_numpy(-np.log(-stats.norm.logcdf(normals.double().numpy()))).float()
    leaf = x.clone().requires_grad_(True)
    perturbed = 100 * net(leaf + 0.5 * noise) + gumbel
    for number, label in enumerate((1, 2)):
        (gradient,) = torch.autograd.grad(perturbed.softmax(1)[:, label].mean(), leaf, retain_graph=True)
        torch.testing.assert_close(scores.gradients[number], gradient, rtol=1e-3, atol=1e-5)
    assert scores.counts.tolist() == torch.bincount(perturbed.argmax(1), minlength=4).tolist()


def test_soft_scores_of_sums_are_sums_and_without_sums_only_votes_are_counted() -> None:
    stream, weights = Stream(0, 0, "search"), torch.tensor([[1.0, -2.0, 0.0, 0.5]])
    singly = smoothed(batch_size=50).soft_scores(image(2), 120, stream, torch.eye(4))
    summed = smoothed(batch_size=50).soft_scores(image(2), 120, stream, weights)
    torch.testing.assert_close(summed.gradients, torch.einsum("jk,k...->j...", weights, singly.gradients))
    counted = smoothed(batch_size=50).soft_scores(image(2), 120, stream, torch.empty(0, 4))
    assert counted.gradients.shape == (0, *SHAPE)
    assert counted.counts.tolist() == singly.counts.tolist()
    for wrong in (torch.eye(3), torch.ones(4)):
        with pytest.raises(SettingError, match=r"directions: expected shape \(rows, 4\)"):
            smoothed().soft_scores(image(), 10, stream, wrong)


def test_directions_chosen_by_the_votes_take_one_pass_and_equal_known_ones_to_the_bit() -> None:
    stream, weights = Stream(0, 0, "search"), torch.tensor([[1.0, -2.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0]])
    known = smoothed(batch_size=50).soft_scores(image(2), 120, stream, weights)
    seen: list[list[int]] = []

    def choose(counts: Counts) -> Tensor:
        seen.append(counts.tolist())
        return weights

    chosen = smoothed(batch_size=50).soft_scores(image(2), 120, stream, choose)
    assert seen == [known.counts.tolist()] == [chosen.counts.tolist()]
    assert torch.equal(chosen.gradients, known.gradients)
    assert chosen.passes == known.passes == 1


def test_graphs_that_take_too_much_memory_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, weights = Stream(0, 0, "search"), torch.tensor([[1.0, -2.0, 0.0, 0.5]])
    kept = smoothed(batch_size=50).soft_scores(image(2), 120, stream, lambda counts: weights)
    monkeypatch.setattr(soft, "GRAPH_BYTES", 1)
    again = smoothed(batch_size=50).soft_scores(image(2), 120, stream, lambda counts: weights)
    assert (kept.passes, again.passes) == (1, 2)
    assert torch.equal(kept.gradients, again.gradients)
    assert kept.counts.tolist() == again.counts.tolist()
    nothing = smoothed(batch_size=50).soft_scores(image(2), 120, stream, lambda counts: weights[:0])
    assert (nothing.passes, len(nothing.gradients)) == (1, 0)


def test_the_weight_of_the_graphs_is_that_of_all_micro_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three micro-batches fit where each takes a third of the room, and no longer where it takes more."""
    stream, weights = Stream(0, 0, "search"), torch.tensor([[1.0, 0.0, 0.0, 0.0]])

    def passes(n: int, room: int) -> int:
        monkeypatch.setattr(soft, "GRAPH_BYTES", room)
        return smoothed(batch_size=50).soft_scores(image(2), n, stream, lambda counts: weights).passes

    one = next(room for room in range(0, 1 << 20, 400) if passes(50, room) == 1)  # within 400 bytes
    assert one > 50 * 4 * 4, "the scores of a micro-batch at least are kept"
    assert passes(150, 3 * one) == 1
    assert passes(150, 3 * (one - 800)) == 2


@pytest.mark.parametrize("fails", [False, True])
def test_weights_want_no_gradient_meanwhile_and_are_left_as_they_were(fails: bool) -> None:
    class Watched(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.wanted = small_net(), list[bool]()

        def forward(self, batch: Tensor) -> Tensor:
            self.wanted += [parameter.requires_grad for parameter in self.parameters()]
            if fails:
                raise ValueError("no")
            logits: Tensor = self.inner(batch)
            return logits

    net = Watched().eval()
    frozen = next(net.parameters()).requires_grad_(False)
    before = [parameter.requires_grad for parameter in net.parameters()]
    classifier = SmoothedClassifier(net, 0.5, 4, batch_size=50)
    with pytest.raises(ModelError, match="ValueError: no") if fails else contextlib.nullcontext():
        classifier.soft_scores(image(2), 120, Stream(0, 0, "search"), lambda counts: torch.eye(4)[:1])
    assert net.wanted
    assert not any(net.wanted)
    assert [parameter.requires_grad for parameter in net.parameters()] == before
    assert not frozen.requires_grad
    assert sum(before) == len(before) - 1
    assert torch.is_grad_enabled()


def test_plain_votes_are_those_of_the_logits() -> None:
    stream = Stream(0, 0, "search")
    plain = smoothed(batch_size=50).soft_scores(image(2), 120, stream, torch.eye(4), plain_votes=True)
    gumbel = smoothed(batch_size=50).soft_scores(image(2), 120, stream, torch.eye(4))
    counted = smoothed(batch_size=50).counts(image(2), 120, seed=0, index=0, stage="search")
    assert plain.counts.tolist() == counted.tolist()
    assert torch.equal(plain.gradients, gumbel.gradients)


def test_gumbel_votes_follow_the_softmax_of_the_scaled_logits() -> None:
    class Constant(nn.Module):
        def forward(self, batch: Tensor) -> Tensor:
            return torch.tensor([0.0, 0.01]).expand(len(batch), 2) + 0 * batch.flatten(1)[:, :1]

    counts = (
        SmoothedClassifier(Constant().eval(), 1.0, 2)
        .soft_scores(image(), 4000, Stream(0, 0, "search"), torch.eye(2))
        .counts
    )
    assert stats.binomtest(int(counts[1]), 4000, math.e / (1 + math.e)).pvalue > 1e-4
