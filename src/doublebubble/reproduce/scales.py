"""How large the experiments are: as published (`paper`), for two cores and some hours (`cpu`), for a test (`smoke`).

Frozen settings only: nothing here trains or certifies.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from doublebubble.errors import SettingError
from doublebubble.types import TrainMethod

ScaleName = Literal["smoke", "cpu", "paper"]
Which = Literal["first", "all", "other"]
"""Of the inputs of a study: those that are given the published form first, all of them, or the other ones."""


@dataclass(frozen=True)
class SoundForm:
    """A further number of draws at which `sound` is run; no methods stand for all of them.

    `which` of the inputs of a study it is run on.
    """

    n: int
    alpha: float
    methods: tuple[str, ...] | None = None
    which: Which = "all"


@dataclass(frozen=True)
class Study:
    """A data set, a network, and how it is trained and certified.

    `training` holds what differs from the data set's published recipe. `sigmas` are those of the figures over sigma,
    `curves` those of the figures over radius, and a subset of them. `inputs` are spread evenly over the test split.
    With `wide`, so many inputs get the thrifty form of `paper` and `sound`; the first ones are some of them, and the
    other ones get the published form too if it is `published_on_all`, in runs of their own.
    `label` tells two studies of one data set apart.
    """

    dataset: str
    n: int
    inputs: int
    sigmas: tuple[float, ...]
    curves: tuple[float, ...]
    training: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    batch_size: int = 256
    label: str = ""
    wide: int = 0
    published_on_all: bool = False
    sound_forms: tuple[SoundForm, ...] = ()

    def __post_init__(self) -> None:
        assert set(self.curves) <= set(self.sigmas)
        assert self.wide == 0 or self.wide >= self.inputs

    @property
    def name(self) -> str:
        """What models, runs and figures are named by."""
        return self.label or self.dataset

    @property
    def published_parts(self) -> tuple[Which, ...]:
        """The inputs that are given the published form, each part in a run of its own."""
        return ("first", "other") if self.published_on_all and self.wide > self.inputs else ("first",)

    @property
    def has_more(self) -> bool:
        """Whether inputs are left that are not given the published form."""
        return self.wide > self.inputs and not self.published_on_all


@dataclass(frozen=True)
class NoGain:
    """How the published search is repeated where there is nothing to gain.

    One of looks, draws and alpha is varied; the others stay at the last of `looks`, at `n` and at the scale's alpha.
    `throws` is how often a network's coins are thrown: one throw more than 39 lies beyond them once in 20 times.
    """

    p: float
    n: int
    times: int
    looks: tuple[int, ...]
    draws: tuple[int, ...]
    alphas: tuple[float, ...]
    throws: int = 39


@dataclass(frozen=True)
class Scale:
    """All experiments at one size.

    `alpha` and the draws are the same for both protocols, so that what differs between them is the procedure.
    `macer` is the study of the MACER figure with what differs from MACER's recipe; `equal_time_epochs` is how long
    Gaussian training takes as much time as MACER's, 0 to leave that comparison out. `stepped` are the studies of the
    step-size figure, at `step_sigma`; `timed` those of the table of times, all if none are named.
    """

    name: ScaleName
    studies: tuple[Study, ...]
    macer: str
    macer_training: Mapping[str, object]
    stepped: tuple[str, ...]
    steps: tuple[float, ...]
    step_sigma: float
    timing_inputs: int
    timing_n: int
    timing_sigma: float
    interval_repeats: int
    no_gain: NoGain
    interval_draws: int = 1000
    alpha: float = 0.05
    equal_time_epochs: int = 0
    timed: tuple[str, ...] = ()

    def study(self, name: str) -> Study:
        """The study of that name."""
        return next(study for study in self.studies if study.name == name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all studies."""
        return tuple(study.name for study in self.studies)

    def recipe(self, study: Study, method: TrainMethod) -> dict[str, object]:
        """What differs from the published recipe where a study's network is trained by that method."""
        return {**study.training, **(self.macer_training if method == "macer" else {})}


def chosen_scale(name: str, inputs: int | None = None, epochs: int | None = None) -> Scale:
    """The scale of that name, with fewer or more inputs and epochs if they are given."""
    if name not in SCALES:
        raise SettingError(f"scale: expected one of {', '.join(SCALES)}, got {name!r}")
    scale = SCALES[name]
    studies = scale.studies
    if inputs is not None:
        studies = tuple(replace(study, inputs=inputs, wide=inputs if study.wide else 0) for study in studies)
        scale = replace(scale, timing_inputs=min(inputs, scale.timing_inputs))
    if epochs is not None:
        studies = tuple(replace(study, training={**study.training, "epochs": epochs}) for study in studies)
        scale = replace(scale, macer_training={**scale.macer_training, "epochs": epochs})
    return replace(scale, studies=studies)


_TENTHS = tuple(round(0.1 * k, 1) for k in range(1, 11))
_STEPS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
_LOOKS, _DRAWS, _ALPHAS = (1, 2, 5, 10, 20, 50), (150, 500, 1500, 5000), (0.001, 0.01, 0.05, 0.2, 0.5)
_CYCLE = {"schedule": "one-cycle", "optimiser": "adam", "lr": 0.002, "batch_size": 128}
_SHORT = {"schedule": "one-cycle", "lr": 0.004}

_MOST = (("cohen", "first_order", "profile"), ("auto",))  # what most draws are spent on
_INPUTS: tuple[Which, ...] = ("first", "other")
_SOUND_FORMS = (
    SoundForm(10_000, 0.001),
    *(SoundForm(100_000, 0.001, methods, which) for which in _INPUTS for methods in _MOST),
)

SCALES: dict[str, Scale] = {
    "smoke": Scale(
        name="smoke",
        studies=(
            Study(
                "digits",
                n=100,
                inputs=6,
                sigmas=(0.25, 0.5, 1.0),
                curves=(0.5, 1.0),
                training={**_SHORT, "epochs": 6},
                batch_size=100,
            ),
        ),
        macer="digits",
        # With the published lambda of 12 so short a training ends at one class for every input.
        macer_training={**_SHORT, "draws": 4, "lam": 1.0, "epochs": 8, "optimiser": "adam"},
        stepped=("digits",),
        steps=(0.001, 0.01, 0.5),
        step_sigma=0.5,
        timing_inputs=2,
        timing_n=100,
        timing_sigma=0.5,
        interval_repeats=1,
        no_gain=NoGain(p=0.9, n=100, times=20, looks=(1, 4, 10), draws=(100, 300), alphas=(0.05, 0.2), throws=3),
        interval_draws=100,
    ),
    "cpu": Scale(
        name="cpu",
        studies=(
            Study(
                "mnist",
                n=1500,
                inputs=40,
                sigmas=(0.25, 0.5, 0.75, 1.0),
                curves=(0.5, 1.0),
                training={**_CYCLE, "arch": "lenet", "epochs": 5},
                label="mnist-lenet",
                wide=200,
                published_on_all=True,
                sound_forms=_SOUND_FORMS,
            ),
            Study(
                "cifar10",
                n=1500,
                inputs=15,
                sigmas=(0.5, 1.0),
                curves=(0.5, 1.0),
                training={**_CYCLE, "arch": "resnet18", "epochs": 12, "augment": "flip-crop"},
                label="cifar10-resnet18",
                wide=40,
                published_on_all=True,
                sound_forms=_SOUND_FORMS,
            ),
            Study(
                "mnist",
                n=1500,
                inputs=12,
                sigmas=(0.5, 1.0),
                curves=(0.5, 1.0),
                training={**_CYCLE, "arch": "resnet18", "epochs": 3},
                label="mnist-resnet18",
                wide=40,
                published_on_all=True,
                sound_forms=_SOUND_FORMS,
            ),
        ),
        macer="mnist-lenet",
        macer_training={**_CYCLE, "arch": "lenet", "epochs": 5, "draws": 16, "weight_decay": 0.0, "momentum": 0.0},
        equal_time_epochs=70,  # an epoch with 16 draws of each image takes about 14 times as long
        timed=("mnist-lenet", "cifar10-resnet18"),
        stepped=("mnist-lenet",),
        steps=_STEPS,
        step_sigma=0.5,
        timing_inputs=4,
        timing_n=1000,
        timing_sigma=0.5,
        interval_repeats=5,
        no_gain=NoGain(0.9, 1500, 200, _LOOKS, _DRAWS, _ALPHAS),
    ),
    "paper": Scale(
        name="paper",
        studies=(
            Study("mnist", n=1500, inputs=500, sigmas=_TENTHS, curves=(0.5, 1.0)),
            Study("cifar10", n=1500, inputs=500, sigmas=_TENTHS, curves=(0.5, 1.0)),
            Study("tiny-imagenet", n=1000, inputs=500, sigmas=_TENTHS, curves=(0.5, 1.0)),
        ),
        macer="cifar10",
        macer_training={},
        stepped=("cifar10", "tiny-imagenet"),
        steps=_STEPS,
        step_sigma=0.5,
        timing_inputs=100,
        timing_n=1000,
        timing_sigma=0.5,
        interval_repeats=10,
        no_gain=NoGain(0.9, 1500, 2000, _LOOKS, _DRAWS, _ALPHAS),
    ),
}
