"""Certified robustness of PyTorch classifiers by randomised smoothing and geometry.

A tiny public surface; importing seeds nothing and sets nothing. Each name is imported when it is first used, so that
`import doublebubble` and `doublebubble --help` wait neither for torch nor for tables and figures.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doublebubble import bounds, geometry
    from doublebubble.audit.attack import attack
    from doublebubble.audit.reverify import reverify
    from doublebubble.certificate import Ball, Certificate, Status
    from doublebubble.certifier import Certifier
    from doublebubble.config import CertifyConfig
    from doublebubble.errors import (
        BudgetError,
        CheckpointError,
        DataError,
        DoubleBubbleError,
        DoubleBubbleWarning,
        FunctionError,
        GradientError,
        InputError,
        ModelError,
        RunError,
        SettingError,
    )
    from doublebubble.facade import Callback, Plan, Run, certify, open_run, plan
    from doublebubble.models.black_box import black_box
    from doublebubble.program import Program
    from doublebubble.runs import load_run
    from doublebubble.smoothing import SmoothedClassifier
    from doublebubble.types import ABSTAIN, Guarantee

__all__ = [
    "ABSTAIN",
    "Ball",
    "BudgetError",
    "Callback",
    "Certificate",
    "Certifier",
    "CertifyConfig",
    "CheckpointError",
    "DataError",
    "DoubleBubbleError",
    "DoubleBubbleWarning",
    "FunctionError",
    "GradientError",
    "Guarantee",
    "InputError",
    "ModelError",
    "Plan",
    "Program",
    "Run",
    "RunError",
    "SettingError",
    "SmoothedClassifier",
    "Status",
    "attack",
    "black_box",
    "bounds",
    "certify",
    "geometry",
    "load_run",
    "open_run",
    "plan",
    "reverify",
]

_HOME = {
    "attack": "doublebubble.audit.attack",
    "reverify": "doublebubble.audit.reverify",
    "Ball": "doublebubble.certificate",
    "Certificate": "doublebubble.certificate",
    "Status": "doublebubble.certificate",
    "Certifier": "doublebubble.certifier",
    "CertifyConfig": "doublebubble.config",
    "BudgetError": "doublebubble.errors",
    "CheckpointError": "doublebubble.errors",
    "DataError": "doublebubble.errors",
    "DoubleBubbleError": "doublebubble.errors",
    "DoubleBubbleWarning": "doublebubble.errors",
    "FunctionError": "doublebubble.errors",
    "GradientError": "doublebubble.errors",
    "InputError": "doublebubble.errors",
    "ModelError": "doublebubble.errors",
    "RunError": "doublebubble.errors",
    "SettingError": "doublebubble.errors",
    "Callback": "doublebubble.facade",
    "Plan": "doublebubble.facade",
    "Run": "doublebubble.facade",
    "certify": "doublebubble.facade",
    "open_run": "doublebubble.facade",
    "plan": "doublebubble.facade",
    "black_box": "doublebubble.models.black_box",
    "Program": "doublebubble.program",
    "load_run": "doublebubble.runs",
    "SmoothedClassifier": "doublebubble.smoothing",
    "ABSTAIN": "doublebubble.types",
    "Guarantee": "doublebubble.types",
}
"""The module that each public name comes from; the others are modules themselves."""


def __getattr__(name: str) -> object:
    """A public name on its first use, or the version."""
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = (
        getattr(importlib.import_module(_HOME[name]), name)
        if name in _HOME
        else importlib.import_module(f"{__name__}.{name}")
    )
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
