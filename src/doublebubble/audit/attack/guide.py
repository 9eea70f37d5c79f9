"""Where not to look: the balls of a certificate's plan, whose every point has the certified class.

Beyond the certified radius a search for another class is moved out of them. Inside it the certificate itself is on
trial, and nothing is left out.
"""

from dataclasses import dataclass

import numpy as np

from doublebubble.certificate import Certificate
from doublebubble.geometry import certified_radius, nearest_point
from doublebubble.types import Floats


@dataclass(frozen=True, eq=False)
class Guide:
    """An input, the balls of its plan that lie around other points, and the domain."""

    x: Floats
    centres: tuple[Floats, ...]
    radii: tuple[float, ...]
    domain: tuple[float, float] | None

    @classmethod
    def of(cls, certificate: Certificate, x: Floats, domain: tuple[float, float] | None) -> "Guide":
        """What the plan of the certificate says."""
        around = [(ball.centre, ball.radius) for ball in certificate.balls if ball.centre is not None and ball.radius]
        return cls(x, tuple(c.reshape(x.shape) for c, _ in around), tuple(r for _, r in around), domain)

    def weakest(self) -> Floats | None:
        """The direction from the input to the nearest point that no ball covers; None where the balls show none."""
        if not self.centres:
            return None
        low, high = (None, None) if self.domain is None else self.domain
        bound = certified_radius(self.x, self.centres, self.radii, low, high)
        if not bound.multipliers.any():
            return None
        way = nearest_point(bound.multipliers, self.x, self.centres, self.radii, low, high) - self.x
        return way if way.any() else None

    def outside(self, y: Floats) -> Floats:
        """y moved out of each ball that it lies in, ball by ball, straight away from its centre."""
        for centre, radius in zip(self.centres, self.radii, strict=True):
            away = y - centre
            length = float(np.linalg.norm(away))
            if 0 < length < radius:
                y = centre + away * (radius / length)
        return y
