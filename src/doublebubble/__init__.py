"""Certified robustness by randomised smoothing and geometry."""
