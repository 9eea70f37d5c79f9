"""`boundary`: one further ball, and the box that the adversary is confined to."""

import numpy as np

from doublebubble import registry
from doublebubble.geometry import published_boundary_radius
from doublebubble.method import BOTH, PublishedBalls, SmoothingMethod
from doublebubble.methods.cohen import fall_back
from doublebubble.methods.single import NOT_SEPARATED, SINGLE, further_balls
from doublebubble.search.lead import at_faces
from doublebubble.search.plan import Proposal
from doublebubble.search.transitive import bearings_of, blocked_shift, moved
from doublebubble.search.trials import Trials

_USUAL_GAIN = 0.015  # slopes of 0.1 to 0.3 are blocked on images with black borders: r / sqrt(1 - s^2)
_FACES = 0.1  # of the coordinates: fewer block next to nothing
_LEAST_SEEN = 100  # draws of one look: fewer show nothing of a slope
_LOOKS = 14  # two for bearings, two along the ascent, two verdicts of five


class Boundary(SmoothingMethod):
    """One ball off the faces that block an attack."""

    name = "boundary"
    uses = "one further ball, and the box"
    protocols = BOTH
    label, colour, marker, rank = "boundary", "#D55E00", "^", 20
    on_grid = True
    steered = True
    published_balls = 2

    def promising(self, trials: Trials) -> bool:
        """Whether looks can show a slope, enough of x lies at faces, and what they usually block would pay."""
        if trials.per_look < _LEAST_SEEN:
            return False
        faces = at_faces(trials.smoothed.domain, trials.x)
        usual = max(0.0, trials.at_input.radius) * _USUAL_GAIN
        return float((faces != 0).mean()) >= _FACES and usual > trials.worth(_LOOKS * trials.per_look)

    def propose(self, trials: Trials) -> Proposal:
        """A ball where the box blocks a good part of the slope, or all draws at the input."""
        bearings = bearings_of(trials)
        if not bearings.radius > 0:
            return fall_back(trials, self.name, NOT_SEPARATED)
        shift, slope = blocked_shift(bearings)
        blocks = f"the box blocks a slope of {slope:.2f}"
        if shift == 0:
            return fall_back(trials, self.name, f"{blocks}, too little to gain")
        start = (moved(trials, trials.x, shift, bearings.blocked),)
        found = further_balls(trials, self.name, bearings, boxed=True).propose(start, blocks)
        return fall_back(trials, self.name, found) if isinstance(found, str) else found

    def published(self, balls: PublishedBalls) -> float:
        """The larger of `single` and the printed boundary radius, which is not valid as printed.

        The domain is scaled to the unit box for which the formula is printed; without a box there is nothing to add.
        """
        single = SINGLE.published(balls)
        if balls.domain is None or balls.second is None:
            return single
        low, high = balls.domain
        width = high - low
        x1, x2 = ((point - low) / width for point in (balls.x1, balls.second.centre))
        return max(single, width * published_boundary_radius(np.clip(x1, 0.0, 1.0), x2, balls.second.radius / width))


registry.register(Boundary())
