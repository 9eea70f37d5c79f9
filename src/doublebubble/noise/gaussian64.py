"""Normal noise in float64 with the right tail: for inputs off the grid, to be cast once.

May import streams, types and random words only.
"""

import numpy as np
import torch

from doublebubble.noise.words import FineUniforms
from doublebubble.streams import Stream
from doublebubble.types import Floats


class Gaussian64Draws:
    """Standard normal numbers of one stream, read in order, in pieces of any size.

    Each is within 2^-48 (1 + |Z|) of a number Z that has exactly the normal law, but with probability 2^-63 (N7): the
    tail, down to 2^-64, beyond 9 standard deviations, is drawn as finely as the middle.
    """

    def __init__(self, stream: Stream) -> None:
        self._uniforms = FineUniforms(stream, "gaussian64")

    def fill(self, out: Floats) -> None:
        """Write the next values into a flat array."""
        uniforms, minus = self._uniforms.read(len(out))
        size = -torch.special.ndtri(torch.from_numpy(uniforms / 2)).numpy()
        np.copyto(out, np.where(minus, -size, size))
