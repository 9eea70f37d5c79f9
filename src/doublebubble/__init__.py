"""Certified robustness of PyTorch classifiers by randomised smoothing and geometry.

A tiny public surface; importing seeds nothing and sets nothing.
"""

from doublebubble import bounds, geometry
from doublebubble.program import Program
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.types import ABSTAIN, Guarantee

__all__ = ["ABSTAIN", "Guarantee", "Program", "SmoothedClassifier", "bounds", "geometry"]
