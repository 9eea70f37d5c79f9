"""Which gradients may a search use? Autograd's where the model has them, the score function's for a black box."""

import warnings
from typing import TypeVar

from torch import nn

from doublebubble.config import CertifyConfig
from doublebubble.errors import DoubleBubbleWarning, SettingError
from doublebubble.models.black_box import is_black_box
from doublebubble.runs.attacks import AttackSettings

_AUTOGRAD_ALWAYS = ("paper", "double")
"""The published search for a third ball differentiates the model whatever `gradient` says."""


_Chosen = TypeVar("_Chosen", CertifyConfig, AttackSettings)


def suited(settings: _Chosen, model: nn.Module, stacklevel: int = 3) -> _Chosen:
    """The settings, `gradient` chosen for a model without gradients; an error if what was asked for needs them.

    The choice is said in a warning at the line of the user, so many calls above; whoever asks for `approximate` gets
    none.
    """
    if not is_black_box(model):
        return settings
    _require_no_autograd(settings)
    if settings.gradient == "approximate":
        return settings
    if "gradient" in settings.model_fields_set:
        raise SettingError(
            "gradient: full differentiates the model, and this one is a black box; ask for approximate, or leave it out"
        )
    warnings.warn("the model is a black box: gradient approximate is used", DoubleBubbleWarning, stacklevel)
    return settings.model_copy(update={"gradient": "approximate"})


def _require_no_autograd(config: CertifyConfig | AttackSettings) -> None:
    protocol, method = _AUTOGRAD_ALWAYS
    if isinstance(config, CertifyConfig) and config.protocol == protocol and method in config.methods:
        others = ", ".join(name for name in config.methods if name != method) or "cohen"
        raise SettingError(
            f"methods: {method} of protocol {protocol} differentiates the model, and this one is a black box; ask for "
            f"{others}, with gradient approximate"
        )
