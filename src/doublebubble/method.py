"""What a method is: one object that says what it uses, plans, and how it looks. Each lives in a file of `methods/`."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from doublebubble.errors import SettingError
from doublebubble.search.plan import Proposal
from doublebubble.search.trials import Trials
from doublebubble.types import Floats, Method, Protocol

BOTH: frozenset[Protocol] = frozenset({"sound", "paper"})
SOUND: frozenset[Protocol] = frozenset({"sound"})


@dataclass(frozen=True)
class PublishedBall:
    """A ball that the published search measured: its centre, its radius and its distance from the input."""

    centre: Floats
    radius: float
    distance: float


@dataclass(frozen=True)
class PublishedBalls:
    """What the published search ends with at an input x1: Cohen's radius, and balls 2 and 3 as far as it found them."""

    x1: Floats
    domain: tuple[float, float] | None
    cohen: float
    second: PublishedBall | None = None
    third: PublishedBall | None = None


class SmoothingMethod(ABC):
    """One way to certify. Subclasses fill in the class variables and register one object with `registry.register`.

    `published_balls` says how many balls of the published search the method needs, for protocol `paper`. `on_grid` says
    that its proof holds with what section 11 of docs/math.md has in place of the noise, and so on a lattice.
    """

    name: ClassVar[Method]
    uses: ClassVar[str]
    protocols: ClassVar[frozenset[Protocol]]
    label: ClassVar[str]
    colour: ClassVar[str]
    marker: ClassVar[str]
    rank: ClassVar[int]
    dashes: ClassVar[str] = "solid"
    steered: ClassVar[bool] = False
    published_balls: ClassVar[int] = 1
    on_grid: ClassVar[bool] = False

    def promising(self, trials: Trials) -> bool:
        """Whether the select draws alone leave hope of a gain: `auto` spends search draws on no other method."""
        return True

    @abstractmethod
    def propose(self, trials: Trials) -> Proposal:
        """A plan for the certify draws, made from select and search draws alone, and the gain it promises."""

    def published(self, balls: PublishedBalls) -> float:
        """The radius that the publication reports: no guarantee."""
        raise SettingError(f"method {self.name}: protocol paper does not know it")
