"""What a search may say: where to put the balls and which statistics to use. A plan holds no radius, by design.

Everything in a plan is fixed before the certify draws, so that choosing it costs none of alpha.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from doublebubble.bounds import ClassPlan, GradientTest, vote_weights
from doublebubble.search.gradients import Cost
from doublebubble.types import Floats, Method

CENTRE = 0
"""The part of the certify stream that belongs to the input itself."""


@dataclass(frozen=True)
class GradientPlan:
    """Bounds on the gradient of the lead over the first rivals: a test each, and the part of the ball's alpha it costs.

    `eta`, if there is one, belongs to the first test: a vector, zero except at faces of the box and pointing inwards
    there, that is added to its half means (docs/math.md, section 6).
    """

    tests: tuple[GradientTest, ...]
    share: float
    eta: Floats | None = None


@dataclass(frozen=True)
class BallPlan:
    """One ball to be certified: its centre, its share of the draws, its stream's part, its statistics.

    `gradient` asks for a first-order radius, `antithetic` for one from pairs of opposite draws.
    """

    part: int
    centre: Tensor
    n: int
    classes: ClassPlan
    gradient: GradientPlan | None = None
    antithetic: bool = False

    @property
    def at_input(self) -> bool:
        """Whether the centre is the input itself; pairs are drawn nowhere else."""
        return self.part == CENTRE or self.antithetic

    @property
    def rivals(self) -> tuple[tuple[int, ...], ...]:
        """The classes that could overtake, as the statistics watch them: by name, or as one group."""
        return rivals_of(self.classes)

    @property
    def moments(self) -> tuple[tuple[float, ...], ...]:
        """The weights of the votes in the sums of noise that the gradient's tests need."""
        if self.gradient is None:
            return ()
        top, classes = self.classes.partition.top, self.classes.partition.num_classes
        pairs = zip(self.gradient.tests, self.rivals, strict=False)
        return tuple(tuple(vote_weights(classes, top, rival, test.offset).tolist()) for test, rival in pairs)


def rivals_of(classes: ClassPlan) -> tuple[tuple[int, ...], ...]:
    """All others as one group under the binary rule, else each named class and the group of the rest, if any."""
    partition = classes.partition
    named = () if classes.binary else partition.named
    rest = tuple(k for k in range(partition.num_classes) if k != partition.top and k not in named)
    return (*((k,) for k in named), *((rest,) if rest else ()))


@dataclass(frozen=True)
class Plan:
    """The balls of one method, and whether the domain's box may be used to place the adversary."""

    method: Method
    balls: tuple[BallPlan, ...]
    boxed: bool
    reason: str


@dataclass(frozen=True)
class Proposal:
    """A plan for each method asked for, the one chosen among them, and what finding them cost."""

    plans: Mapping[Method, Plan]
    chosen: Method
    cost: Cost


def cohen_plan(x: Tensor, classes: ClassPlan, n: int, method: Method = "cohen", reason: str = "") -> Plan:
    """All draws at the input: what every method falls back to when it predicts no gain."""
    return Plan(method, (BallPlan(CENTRE, x, n, classes),), boxed=False, reason=reason)
