"""Noise with a known law: exact on a grid, in float64 with the right tail, or as fast as it comes."""

from doublebubble.noise.cells import Cells, rounded_normal
from doublebubble.noise.gaussian64 import Gaussian64Draws
from doublebubble.noise.lattice import Lattice, LatticeDraws
from doublebubble.noise.law import NoiseLaw
from doublebubble.noise.remainder import Remainders, edge_loss, line_coordinates, line_error
from doublebubble.noise.source import NoiseSource, noise_source

__all__ = [
    "Cells",
    "Gaussian64Draws",
    "Lattice",
    "LatticeDraws",
    "NoiseLaw",
    "NoiseSource",
    "Remainders",
    "edge_loss",
    "line_coordinates",
    "line_error",
    "noise_source",
    "rounded_normal",
]
