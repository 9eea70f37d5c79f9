"""The learning rate of a step, as a pure function of the settings. May import only the settings."""

import math

from doublebubble.training.settings import TrainSettings

_WARM_UP = 0.2
_START = 0.04


def learning_rate(settings: TrainSettings, step: int, steps_per_epoch: int) -> float:
    """The rate of step number `step`, counted from 0 over the whole training.

    `steps` divides by 10 after each milestone's epoch. `one-cycle` rises linearly to `lr` over the first fifth, then
    falls along a half cosine towards 0.
    """
    if settings.schedule == "constant":
        return settings.lr
    if settings.schedule == "steps":
        passed = sum(step >= milestone * steps_per_epoch for milestone in settings.milestones)
        return settings.lr * 0.1**passed
    at = step / (settings.epochs * steps_per_epoch)
    if at < _WARM_UP:
        return settings.lr * (_START + (1 - _START) * at / _WARM_UP)
    return settings.lr * 0.5 * (1 + math.cos(math.pi * (at - _WARM_UP) / (1 - _WARM_UP)))
