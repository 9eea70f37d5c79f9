"""A denoiser for a classifier that never saw noise: mean squared error, and stability of the classifier behind it.

Salman et al. 2020. The classifier's weights stay as they are. May import models and streams.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from doublebubble.data import DatasetInfo
from doublebubble.errors import SettingError
from doublebubble.models import Denoised, is_black_box, load_classifier
from doublebubble.models.calling import bare_logits
from doublebubble.streams import Stream
from doublebubble.training.gaussian import StepLoss, noisy, share_right
from doublebubble.training.settings import TrainSettings


def frozen_classifier(settings: TrainSettings, info: DatasetInfo) -> nn.Module | None:
    """The classifier that the settings name, in evaluation mode and without gradients of its weights, if they do."""
    if settings.classifier is None:
        return None
    model = load_classifier(settings.classifier, info.shape, info.num_classes, info.mean, info.std)
    if settings.stability > 0 and is_black_box(model):
        raise SettingError(f"stability: {settings.classifier} is a black box without gradients; expected 0")
    return model.requires_grad_(requires_grad=False).to(settings.device)


def denoiser_step(
    denoiser: nn.Module,
    x: Tensor,
    labels: Tensor,
    sigma: float,
    stream: Stream,
    classifier: nn.Module | None,
    stability: float,
) -> StepLoss:
    """Mean squared error per pixel under one draw of noise per image, plus `stability` times a cross entropy.

    That is the cross entropy of the classifier behind the denoiser with the class that it names without noise, right
    or wrong, so that no labels are trained on. They are for the accuracy, which is known only where stability counts.
    """
    restored = denoiser(noisy(x, sigma, stream).contiguous(memory_format=torch.channels_last))
    error = mse_loss(restored, x)
    if classifier is None or stability == 0:
        return StepLoss(error, None)
    with torch.no_grad():
        named = bare_logits(classifier(x)).argmax(1)
    logits = bare_logits(classifier(restored))
    return StepLoss(error + stability * cross_entropy(logits, named), share_right(logits[:, None], labels))


def joined(denoiser: nn.Module, classifier: nn.Module | None) -> Denoised | None:
    """The two as one model; none without a classifier."""
    return None if classifier is None else Denoised(denoiser, classifier)
