"""Certified robustness of PyTorch classifiers by randomised smoothing and geometry.

A tiny public surface; importing seeds nothing and sets nothing.
"""

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
    InputError,
    ModelError,
    RunError,
    SettingError,
)
from doublebubble.facade import Plan, Run, certify, open_run, plan
from doublebubble.models.black_box import black_box
from doublebubble.program import Program
from doublebubble.runs import load_run
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.types import ABSTAIN, Guarantee

__all__ = [
    "ABSTAIN",
    "Ball",
    "BudgetError",
    "Certificate",
    "Certifier",
    "CertifyConfig",
    "CheckpointError",
    "DataError",
    "DoubleBubbleError",
    "DoubleBubbleWarning",
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
