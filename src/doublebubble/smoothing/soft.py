"""Soft scores: differentiable stand-ins for votes. They guide searches and certify nothing."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from doublebubble.errors import GradientError, SettingError
from doublebubble.models.calling import ModelCode
from doublebubble.smoothing.forward import Forward
from doublebubble.streams import NormalDraws, Stream
from doublebubble.tally import summing_device
from doublebubble.types import Counts

GUMBEL_SCALE = 100.0  # the logits' factor inside the Gumbel-softmax of the paper's code


@dataclass(frozen=True)
class SoftScores:
    """`counts` are the argmax votes of the scores; `gradients[j]` is the mean gradient, with respect to x, of the j-th
    weighted sum of soft scores asked for.
    """

    counts: Counts
    gradients: Tensor


def soft_scores(
    forward: Forward, sigma: float, x: Tensor, n: int, stream: Stream, directions: Tensor, gumbel: bool
) -> SoftScores:
    """The soft scores of n draws at the checked centre x, as `SmoothedClassifier.soft_scores` says."""
    classes, device, most = forward.num_classes, forward.device, forward.batch_size
    if directions.dim() != 2 or directions.shape[1] != classes:
        raise SettingError(f"directions: expected shape (rows, {classes}), got {tuple(directions.shape)}")
    centre = x.requires_grad_(len(directions) > 0)
    noise = forward.buffers(centre).noise
    source = NormalDraws(stream, centre)
    gumbel_like = torch.empty(classes, dtype=torch.float32, device=device)
    gumbel_source = NormalDraws(stream.child("gumbel"), gumbel_like)
    counts = torch.zeros(classes, dtype=torch.int64, device=device)
    gradients = torch.zeros((len(directions), *centre.shape), dtype=centre.dtype, device=device)
    normals = torch.empty((most, classes), dtype=torch.float32, device=device)
    for first in range(0, n, most):
        rows = min(most, n - first)
        source.fill(noise[:rows])
        noise[rows:] = 0
        gumbel_source.fill(normals[:rows])
        with torch.set_grad_enabled(len(directions) > 0):
            logits = forward.logits(centre + sigma * noise, rows, [stream.index])
            if gumbel:
                scores = GUMBEL_SCALE * logits[:rows] + _gumbel(normals[:rows]).to(logits.dtype).to(device)
            else:
                scores = _sharpness(logits[:rows].detach()) * logits[:rows]
            soft = scores.softmax(1).sum(0)
            sums = directions.to(soft) @ soft
        counts += torch.bincount(scores.argmax(1), minlength=classes)
        for number in range(len(directions)):
            gradients[number] += _gradient(sums[number], centre, number + 1 < len(directions), stream.index)
    return SoftScores(counts.cpu().numpy(), gradients / n)


def _gradient(value: Tensor, centre: Tensor, keep: bool, index: int) -> Tensor:
    gradient = None
    if value.requires_grad:
        with ModelCode(f"input {index}: the gradient of the model failed"):
            (gradient,) = torch.autograd.grad(value, centre, retain_graph=keep, allow_unused=True)
    if gradient is None:
        raise GradientError(
            f"input {index}: expected logits that autograd can differentiate with respect to the input, got logits "
            "without a gradient: gradient `full` and method `double` of protocol `paper` cannot use this model"
        )
    return gradient


def _gumbel(normals: Tensor) -> Tensor:
    """Standard Gumbel noise from standard normal noise: -log(-log U) with U = Phi(normal)."""
    log_u = torch.special.log_ndtr(normals.to(summing_device(normals.device)).double())
    return -torch.log(-log_u)


def _sharpness(logits: Tensor) -> float:
    """The factor that gives the margin of the leading class over all others a standard deviation of 4."""
    top = int(logits.argmax(1).mode().values)
    others = torch.cat([logits[:, :top], logits[:, top + 1 :]], 1).max(1).values
    spread = float((logits[:, top] - others).std(correction=0))
    return 4 / spread if spread > 0 and math.isfinite(4 / spread) else 1.0
