"""MACER: cross entropy of the smoothed scores, plus a hinge that widens the certified radius of what is already right.

Zhai et al. 2020. The loss is a pure function of logits. Quantiles are taken from logarithms of probabilities, in
float64 and from the nearer tail, so value and gradient stay finite where a probability is 0 or 1 to machine precision.
"""

import math
from dataclasses import dataclass

import torch
from scipy.special import ndtri_exp
from torch import Tensor, nn
from torch.nn.functional import log_softmax, nll_loss

from doublebubble.errors import InputError
from doublebubble.streams import Stream
from doublebubble.training.gaussian import StepLoss, noisy_logits, share_right


@dataclass(frozen=True)
class MacerTerms:
    """The two parts of the loss, each a mean over the batch, and the radius of each input in units of sigma / 2."""

    classification: Tensor
    robustness: Tensor
    margin: Tensor
    right: Tensor


def phi_inv(log_p: Tensor, log_q: Tensor) -> Tensor:
    """Phi^-1(p) from log p and log(1 - p), both float64: computed from the smaller of the two."""
    upper = log_p > log_q
    log_tail = torch.where(upper, log_q, log_p)
    z = torch.from_numpy(ndtri_exp(log_tail.detach().cpu().numpy())).to(log_tail.device)
    slope = torch.exp(
        log_tail.detach() + 0.5 * z * z + 0.5 * math.log(2 * math.pi)
    )  # d Phi^-1(e^l) / dl = e^l / phi(z)
    z = z + slope * (log_tail - log_tail.detach())  # adds exactly 0, and carries the gradient
    return torch.where(upper, -z, z)


def macer_terms(logits: Tensor, labels: Tensor, sigma: float, lam: float, gamma: float, beta: float) -> MacerTerms:
    """The loss of logits shaped (inputs, draws, classes); its value is `classification + robustness`.

    classification: mean of -log of the label's softmax score, averaged over draws. robustness: mean of
    lam * sigma / 2 * max(0, gamma - margin) over inputs whose largest score at inverse temperature beta is the label's,
    margin = Phi^-1(largest) - Phi^-1(second), (S3) in units of sigma / 2.
    """
    if logits.ndim != 3 or labels.shape != logits.shape[:1] or logits.shape[2] < 2:
        raise InputError(f"MACER: expected logits (inputs, draws, classes) and labels, got {tuple(logits.shape)}")
    wide = logits.double()
    classification = nll_loss(_log_mean(log_softmax(wide, 2)), labels)
    log_p = _log_mean(log_softmax(beta * wide, 2))
    log_q = _log_others(log_p)
    top = log_p.detach().topk(2, dim=1).indices
    z = phi_inv(log_p.gather(1, top), log_q.gather(1, top))
    margin = z[:, 0] - z[:, 1]
    right = top[:, 0] == labels
    hinge = torch.where(right, torch.relu(gamma - margin), torch.zeros_like(margin))
    return MacerTerms(classification, lam * sigma / 2 * hinge.mean(), margin.detach(), right)


def _log_mean(log_scores: Tensor) -> Tensor:
    return torch.logsumexp(log_scores, 1) - math.log(log_scores.shape[1])


def _log_others(log_p: Tensor) -> Tensor:
    """log of the sum of all other classes' probabilities: log(1 - p) without the cancellation."""
    classes = log_p.shape[1]
    alone = torch.eye(classes, dtype=torch.bool, device=log_p.device)
    return torch.logsumexp(log_p[:, None, :].expand(-1, classes, -1).masked_fill(alone, -math.inf), 2)


def macer_step(
    model: nn.Module,
    x: Tensor,
    labels: Tensor,
    sigma: float,
    stream: Stream,
    draws: int,
    lam: float,
    gamma: float,
    beta: float,
) -> StepLoss:
    """The loss under `draws` fresh draws of noise per image."""
    logits = noisy_logits(model, x, sigma, stream, draws)
    there = "cpu" if logits.device.type == "mps" else logits.device  # MPS has no float64, which the terms are made in
    terms = macer_terms(logits.to(there), labels.to(there), sigma, lam, gamma, beta)
    return StepLoss(terms.classification + terms.robustness, share_right(logits, labels))
