"""The published search where there is nothing to gain, repeated many times: settings, simulation, and its file."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

import numpy as np
import torch
from pydantic import Field, ValidationError
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv
from torch import Tensor, nn

from doublebubble.audit.oracles import HalfSpace, Slab
from doublebubble.certificate import Certificate
from doublebubble.certifier import Certifier
from doublebubble.config import CertifyConfig, PaperSearch, Settings, first_problem
from doublebubble.errors import RunError
from doublebubble.files import read_plain, write_whole
from doublebubble.reproduce.coins import Coins
from doublebubble.smoothing import SmoothedClassifier

Subject = Literal["half-space", "slab", "coins"]
SIGMA, DIMENSION = 0.5, 10
_FAR = 1.5  # the slab's further face: it moves the truth a little beyond Cohen's radius
_BATCH = 5000
T = TypeVar("T", bound=Settings)


class Reported(Settings):
    """What so many searches reported: Cohen's radius at the input, the largest kept, and the looks that were made."""

    cohen: tuple[float, ...]
    largest: tuple[float, ...]
    looks: tuple[int, ...]

    @classmethod
    def of(cls, certificates: Iterable[Certificate]) -> Self:
        """Radii to 6 decimals: they are compared, not promised."""
        found = list(certificates)
        return cls(
            cohen=tuple(round(one.radii["cohen"], 6) for one in found),
            largest=tuple(round(one.radii["single"], 6) for one in found),
            looks=tuple(one.draws["search"] // one.balls[0].n for one in found),
        )

    @property
    def gain(self) -> float:
        """What the largest has over Cohen's radius on average, as a part of the latter."""
        return float(np.mean(self.largest) / np.mean(self.cohen) - 1)

    @property
    def error(self) -> float:
        """The standard error of the gain, by the delta method for a ratio of means."""
        base = float(np.mean(self.cohen))
        rest = np.array(self.largest) - (1 + self.gain) * np.array(self.cohen)
        return float(rest.std(ddof=1) / np.sqrt(len(rest)) / base) if len(rest) > 1 else float("inf")

    @property
    def improved(self) -> float:
        """The part of searches whose largest radius is above Cohen's."""
        return sum(a < b for a, b in zip(self.cohen, self.largest, strict=True)) / len(self.cohen)

    def above(self, truth: float) -> int:
        """How many of the largest radii are above the truth."""
        return sum(radius > truth for radius in self.largest)


class Looking(Settings):
    """So many published searches on a classifier with no gain to be had.

    `p` is the probability of the class under test at the input, `looks` the most that a search may take. With
    `published_stop` a search ends at the published smallest step, else it makes all its looks.
    """

    subject: Subject
    p: Annotated[float, Field(gt=0.5, lt=1)]
    n: Annotated[int, Field(ge=1)]
    looks: Annotated[int, Field(ge=1)]
    alpha: Annotated[float, Field(gt=0, lt=1)]
    times: Annotated[int, Field(ge=1)]
    published_stop: bool = False

    @property
    def name(self) -> str:
        """The stem of the file: equal exactly for equal settings."""
        words = [self.subject, f"p{self.p:g}", f"n{self.n}", f"looks{self.looks}", f"alpha{self.alpha:g}"]
        return "-".join([*words, f"times{self.times}", *(["published-stop"] if self.published_stop else [])])

    @property
    def margin(self) -> float:
        """How far the input is from the nearer face of half-space or slab."""
        return SIGMA * float(Phi_inv(self.p if self.subject != "slab" else self.p + Phi(-_FAR / SIGMA)))

    @property
    def truth(self) -> float:
        """What no honest radius exceeds: the distance to another class; on coins the exact radius of Cohen."""
        if self.subject == "coins":
            return self.margin
        model = self.model
        assert isinstance(model, HalfSpace | Slab)
        return model.robust_distance(np.zeros(DIMENSION), SIGMA)

    @property
    def model(self) -> nn.Module:
        """The classifier."""
        normal = np.eye(DIMENSION)[0]
        if self.subject == "half-space":
            return HalfSpace(normal, self.margin, scale=100.0)
        return Coins([1 - self.p, self.p]) if self.subject == "coins" else Slab(normal, -self.margin, _FAR, scale=100.0)


class Looked(Settings):
    """A simulation and what it found."""

    looking: Looking
    reported: Reported


def simulated(looking: Looking) -> Looked:
    """What the searches report; each has randomness of its own."""
    smoothed = SmoothedClassifier(looking.model, SIGMA, 2, None, batch_size=min(_BATCH, looking.n))
    reports = searches(smoothed, settings(looking), [torch.zeros(DIMENSION)] * looking.times, range(looking.times))
    return Looked(looking=looking, reported=reports)


def settings(looking: Looking) -> CertifyConfig:
    """The published protocol with so many looks."""
    smallest = PaperSearch().smallest_step if looking.published_stop else 0.0
    return CertifyConfig(
        n=looking.n,
        alpha=looking.alpha,
        protocol="paper",
        methods=("cohen", "single"),
        gradient="approximate",
        paper=PaperSearch(iterations=looking.looks, smallest_step=smallest),
    )


def searches(
    smoothed: SmoothedClassifier, config: CertifyConfig, inputs: Sequence[Tensor], indices: Iterable[int]
) -> Reported:
    """The published search about each input."""
    certifier = Certifier(smoothed, config)
    return Reported.of(certifier.certify(x, index=index) for x, index in zip(inputs, indices, strict=True))


def keep(path: Path, found: Settings) -> None:
    """Write a simulation's file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, (found.model_dump_json() + "\n").encode())


def read_simulation(path: Path, kind: type[T]) -> T:
    """The simulation that a file holds; anything else in it is an error that names the file."""
    try:
        return kind.model_validate_json(read_plain(path))
    except ValidationError as error:
        raise RunError(f"{path}: is not a simulation ({first_problem(error)})") from error
