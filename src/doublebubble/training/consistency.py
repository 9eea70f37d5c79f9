"""Consistency regularisation: cross entropy, plus a price on noisy copies of one image that are named differently.

Jeong and Shin 2020. The loss is a pure function of logits, computed from logarithms of probabilities, so value and
gradient stay finite where a probability is 0 to machine precision.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, nll_loss

from doublebubble.errors import InputError
from doublebubble.streams import Stream
from doublebubble.training.gaussian import StepLoss, noisy_logits, share_right


@dataclass(frozen=True)
class ConsistencyTerms:
    """The three parts of the loss, each a mean over the batch, without their weights."""

    classification: Tensor
    divergence: Tensor
    entropy: Tensor

    def loss(self, lam: float, eta: float) -> Tensor:
        """The whole: `lam` weighs the divergence, `eta` the entropy."""
        return self.classification + lam * self.divergence + eta * self.entropy


def consistency_terms(logits: Tensor, labels: Tensor) -> ConsistencyTerms:
    """The parts of the loss of logits shaped (inputs, draws, classes).

    With p_j the softmax scores of draw j and p their mean over draws, per input: classification is the mean of
    -log p_j[label], divergence the mean of KL(p || p_j), both over draws; entropy is that of p.
    """
    if logits.ndim != 3 or labels.shape != logits.shape[:1]:
        raise InputError(f"consistency: expected logits (inputs, draws, classes) and labels, got {tuple(logits.shape)}")
    log_each = log_softmax(logits, 2)
    log_mean = torch.logsumexp(log_each, 1) - math.log(logits.shape[1])
    mean, mean_log = log_mean.exp(), log_each.mean(1)
    divergence = (mean * (log_mean - mean_log)).sum(1)
    entropy = -(mean * log_mean).sum(1)
    return ConsistencyTerms(nll_loss(mean_log, labels), divergence.mean(), entropy.mean())


def consistency_step(
    model: nn.Module,
    x: Tensor,
    labels: Tensor,
    sigma: float,
    stream: Stream,
    draws: int,
    lam: float,
    eta: float,
) -> StepLoss:
    """The loss under `draws` fresh draws of noise per image."""
    logits = noisy_logits(model, x, sigma, stream, draws)
    return StepLoss(consistency_terms(logits, labels).loss(lam, eta), share_right(logits, labels))
