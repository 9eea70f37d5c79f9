"""Radii from probabilities, and distances from balls: float64, no model, no randomness."""

from doublebubble.geometry.cohen import cohen_ceiling, cohen_radius

__all__ = ["cohen_ceiling", "cohen_radius"]
