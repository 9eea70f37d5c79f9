"""The settings of a certification: validated once, frozen, and written into every run."""

import math
from itertools import pairwise
from typing import Annotated, Self, get_args

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from doublebubble import registry
from doublebubble.errors import SettingError
from doublebubble.types import GradientKind, Method, Protocol

_QUESTION = ("radii", "precision", "max_draws", "beta")


def first_problem(error: ValidationError) -> str:
    """What is wrong first, in one sentence: where, what was expected, what came."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or error.title
    return f"{where}: {first['msg']}, got {first['input']!r:.200}"


class Settings(BaseModel):
    """Base of all settings: frozen, no unknown fields, one-sentence errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **values: object) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise SettingError(first_problem(error)) from error


def checked_domain(domain: object) -> tuple[float, float] | None:
    """(low, high) as two finite numbers of which the first is smaller, or None for all of space; else an error."""
    if domain is None:
        return None
    ends = list(domain) if isinstance(domain, tuple | list | np.ndarray) else []
    numbers = [_number(end) for end in ends]
    if len(numbers) != 2 or not -math.inf < numbers[0] < numbers[1] < math.inf:
        raise SettingError(f"domain: expected (low, high), two numbers with low < high, or None, got {domain!r:.200}")
    return numbers[0], numbers[1]


def _number(value: object) -> float:
    """A number as a float; NaN for what is none, or too large."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


class PaperSearch(Settings):
    """The published constants of Algorithms 1 and 2.

    `draws` is how many draws one look of a search makes, all n if it is not said. With fewer, each ball that was found
    is measured once more, by n draws of its own. `fixed_draws` uses the same noise in every look of a search.
    """

    iterations: Annotated[int, Field(ge=1)] = 50
    first_step: Annotated[float, Field(gt=0)] = 0.01
    start_noise: Annotated[float, Field(ge=0)] = 1e-6
    smallest_step: Annotated[float, Field(ge=0)] = 1e-7
    line_iterations: Annotated[int, Field(ge=1)] = 30
    line_start: Annotated[float, Field(ge=0, le=1)] = 0.9
    line_first_step: Annotated[float, Field(gt=0)] = 0.025
    line_smallest_step: Annotated[float, Field(ge=0)] = 1e-3
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0
    calibrated_noise: Annotated[float, Field(ge=0)] = 0.0
    fixed_draws: bool = False
    draws: Annotated[int, Field(ge=1)] | None = None

    @classmethod
    def thrifty(cls) -> Self:
        """What the publication proposes to save time: fewer draws in the search, fixed ones, one confirmation.

        Not the published search, and no guarantee either.

        >>> PaperSearch.thrifty().fixed_draws
        True
        """
        return cls(draws=256, fixed_draws=True, iterations=12, line_iterations=10)


class SoundSearch(Settings):
    """How much the search before a sound certificate may spend: draws of one look at a slope (None: n / 68), steps."""

    draws: Annotated[int, Field(ge=1)] | None = None
    iterations: Annotated[int, Field(ge=0)] = 1
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0


class CertifyConfig(Settings):
    """What is certified and how surely.

    `n` is the whole certify budget of one input and method; `n0` draws select the class and the statistics. `alpha`
    defaults to 0.001 under `sound` and to 0.05, as published, under `paper`. `methods` are names, or `auto`: the method
    that the select and search draws expect most of, chosen per input; or `all`: each of them. Protocol `paper` reports
    the largest radius of all its methods under either. `target_radius` only warns when n and alpha cannot reach it.

    With `radii` or `precision` votes are counted only until the question is decided, in place of n and n0 draws: which
    of the radii are certified, or the radius to that part of itself; at most `max_draws` for each input. `beta` is the
    probability of giving up on a radius that further draws would have certified.
    """

    n: Annotated[int, Field(ge=1)] = 10_000
    n0: Annotated[int, Field(ge=1)] = 500
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.001
    protocol: Protocol = "sound"
    methods: Annotated[tuple[Method, ...], Field(min_length=1)] = (registry.AUTO,)
    gradient: GradientKind = "full"
    seed: Annotated[int, Field(ge=0)] = 0
    target_radius: Annotated[float, Field(gt=0)] | None = None
    sound: SoundSearch = SoundSearch()
    paper: PaperSearch = PaperSearch()
    radii: Annotated[tuple[Annotated[float, Field(gt=0)], ...], Field(min_length=1)] | None = None
    precision: Annotated[float, Field(gt=0, lt=1)] | None = None
    max_draws: Annotated[int, Field(ge=1, le=10**9)] = 100_000
    beta: Annotated[float, Field(gt=0, lt=1)] = 0.05

    @property
    def sequential(self) -> bool:
        """Whether sampling stops when the question is decided."""
        return self.radii is not None or self.precision is not None

    @property
    def thrifty(self) -> bool:
        """Whether the search is a thrifty form of the published one: fewer draws in a look, or the same in each."""
        return self.protocol == "paper" and (self.paper.draws is not None or self.paper.fixed_draws)

    @model_serializer(mode="wrap")
    def _without_missing_question(self, whole: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Settings with a fixed number of draws are written and hashed as before there could be another."""
        content: dict[str, object] = whole(self)
        return content if self.sequential else {name: value for name, value in content.items() if name not in _QUESTION}

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, values: object) -> object:
        if not isinstance(values, dict):
            return values
        protocol, methods = values.get("protocol", "sound"), values.get("methods", registry.AUTO)
        published = {"alpha": 0.05} if protocol == "paper" else {}
        if isinstance(methods, str):
            methods = tuple(methods.replace(",", " ").split())
        every = ("all",) if protocol == "sound" else ("all", registry.AUTO)
        if len(methods) == 1 and methods[0] in every and protocol in get_args(Protocol):
            methods = registry.names(protocol)
        return {**published, **values, "methods": methods}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.methods)) != len(self.methods):
            raise ValueError("each method may be asked for once")
        self._require_sequential_form()
        if self.methods == (registry.AUTO,):
            return self
        for name in self.methods:
            if self.protocol not in registry.card(name).protocols:
                known = ", ".join(registry.names(self.protocol))
                raise ValueError(f"protocol {self.protocol} knows the methods {known}")
        return self

    def _require_sequential_form(self) -> None:
        if not self.sequential:
            if self.model_fields_set & {"max_draws", "beta"}:
                raise ValueError("max_draws and beta belong to radii or to precision, and neither is given")
            return
        if self.radii is not None and self.precision is not None:
            raise ValueError("radii and precision are two questions: ask one of them")
        if self.radii is not None and any(a >= b for a, b in pairwise(self.radii)):
            raise ValueError("expected rising radii")
        if self.radii is not None and any(round(radius, 6) != radius for radius in self.radii):
            raise ValueError("expected radii of at most 6 decimals: records keep no more")
        if self.protocol != "sound":
            raise ValueError("radii and precision need protocol sound: the publication's search has no sequential form")
        if self.methods not in ((registry.AUTO,), ("cohen",)):
            raise ValueError("of the methods only cohen has a sequential form: with radii or precision use it, or auto")
