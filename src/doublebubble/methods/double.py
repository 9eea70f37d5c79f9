"""`double`: two further balls, the paper's double bubble, in the box if there is one."""

from doublebubble import registry
from doublebubble.geometry import double_bubble_radius
from doublebubble.method import BOTH, PublishedBalls, SmoothingMethod
from doublebubble.methods.cohen import fall_back
from doublebubble.methods.single import NOT_SEPARATED, SINGLE, further_balls
from doublebubble.search.plan import Proposal
from doublebubble.search.transitive import bearings_of, blocked_shift, moved
from doublebubble.search.trials import Trials


class Double(SmoothingMethod):
    """A pair of balls along the free gradient, moved off the faces that block an attack."""

    name = "double"
    uses = "two further balls"
    protocols = BOTH
    label, colour, marker, rank = "double", "#009E73", "D", 30
    on_grid = True
    dashes = "dashed"
    steered = True
    published_balls = 3

    def promising(self, trials: Trials) -> bool:
        """A pair divides draws and alpha, and gains only where (r^2)'' > 2 along a line: rarer than it pays to look."""
        return False

    def propose(self, trials: Trials) -> Proposal:
        """A pair of balls, or all draws at the input."""
        bearings = bearings_of(trials)
        if not bearings.radius > 0:
            return fall_back(trials, self.name, NOT_SEPARATED)
        if not bearings.free.any():
            return fall_back(trials, self.name, "no draw shows a free direction to put a pair of balls along")
        shift, _ = blocked_shift(bearings)
        base = moved(trials, trials.x, shift, bearings.blocked)
        start = tuple(moved(trials, base, sign * bearings.radius / 4, bearings.free) for sign in (1.0, -1.0))
        reason = "a pair of balls along the free gradient was tried"
        found = further_balls(trials, self.name, bearings, boxed=True).propose(start, reason)
        return fall_back(trials, self.name, found) if isinstance(found, str) else found

    def published(self, balls: PublishedBalls) -> float:
        """The larger of `single` and (D3)."""
        single = SINGLE.published(balls)
        if balls.second is None or balls.third is None:
            return single
        two, three = balls.second, balls.third
        return max(single, double_bubble_radius(two.radius, two.distance, three.radius, three.distance))


registry.register(Double())
