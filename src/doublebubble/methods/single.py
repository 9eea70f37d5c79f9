"""`single`: one further ball in free space. With exact probabilities it can never gain (Fact L)."""

from doublebubble import registry
from doublebubble.geometry import transitive_radius
from doublebubble.method import BOTH, PublishedBalls, SmoothingMethod
from doublebubble.methods.cohen import fall_back
from doublebubble.methods.first_order import judging_tests, statistic_at
from doublebubble.search.plan import Proposal
from doublebubble.search.transitive import Bearings, FurtherBalls, bearings_of, moved
from doublebubble.search.trials import Trials

NOT_SEPARATED = "the select draws do not separate the leading class"


def further_balls(trials: Trials, method: str, bearings: Bearings, boxed: bool) -> FurtherBalls:
    """A search for further balls, each of which may use votes or first-order statistics."""
    tests = judging_tests(trials)
    rows, split = tuple(asked.weights for asked in tests), tests[0].test.n1 if tests else None
    return FurtherBalls(trials, method, bearings, boxed, rows, split, statistic_at)


class Single(SmoothingMethod):
    """One further ball in free space, where the radius grows by more than 1 per unit distance."""

    name = "single"
    uses = "one further ball, free space"
    protocols = BOTH
    label, colour, marker, rank = "single", "#E69F00", "s", 10
    on_grid = True
    dashes = "dotted"
    steered = True
    published_balls = 2

    def promising(self, trials: Trials) -> bool:
        """Fact L leaves no hope: what a look shows above slope 1 is mostly noise."""
        return False

    def propose(self, trials: Trials) -> Proposal:
        """A ball uphill, or all draws at the input."""
        bearings = bearings_of(trials)
        r, s = bearings.radius, bearings.slope
        if not r > 0:
            return fall_back(trials, self.name, NOT_SEPARATED)
        grows = f"the radius grows by {s:.2f} per unit distance"
        if s <= 1:  # Fact L
            return fall_back(trials, self.name, f"{grows}, and one ball in free space gains only above 1")
        start = (moved(trials, trials.x, r / 4, bearings.blocked + bearings.free),)
        found = further_balls(trials, self.name, bearings, boxed=False).propose(start, grows)
        return fall_back(trials, self.name, found) if isinstance(found, str) else found

    def published(self, balls: PublishedBalls) -> float:
        """The larger of Cohen's radius and (D2)."""
        if balls.second is None:
            return balls.cohen
        return max(balls.cohen, transitive_radius(balls.second.radius, balls.second.distance))


SINGLE = registry.register(Single())
