"""Classifiers whose smoothed probabilities, radii and true robust distances are known: the truth for coverage tests."""

from doublebubble.audit.oracles.base import Oracle
from doublebubble.audit.oracles.linear import HalfSpace, LinearClassifier, Slab
from doublebubble.audit.oracles.planar import PlanarTable, Slabs
from doublebubble.audit.oracles.round import BallClassifier, Intervals1D

__all__ = ["BallClassifier", "HalfSpace", "Intervals1D", "LinearClassifier", "Oracle", "PlanarTable", "Slab", "Slabs"]
