"""Soft scores against autograd, and against sums of themselves."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from doublebubble.errors import SettingError
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import NormalDraws, Stream
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
