"""How large the experiments are: as published (`paper`), for two cores and some hours (`cpu`), for a test (`smoke`).

Frozen settings only: nothing here trains or certifies.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from doublebubble.errors import SettingError

ScaleName = Literal["smoke", "cpu", "paper"]


@dataclass(frozen=True)
class Study:
    """A data set and how it is trained and certified.

    `training` holds what differs from the data set's published recipe. `sigmas` are those of the figures over sigma,
    `curves` those of the figures over radius, and a subset of them. `inputs` are spread evenly over the test split.
    """

    dataset: str
    n: int
    inputs: int
    sigmas: tuple[float, ...]
    curves: tuple[float, ...]
    training: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    batch_size: int = 256

    def __post_init__(self) -> None:
        assert set(self.curves) <= set(self.sigmas)


@dataclass(frozen=True)
class NoGain:
    """How the published search is repeated where there is nothing to gain.

    One of looks, draws and alpha is varied; the others stay at the last of `looks`, at `n` and at the scale's alpha.
    """

    p: float
    n: int
    times: int
    looks: tuple[int, ...]
    draws: tuple[int, ...]
    alphas: tuple[float, ...]


@dataclass(frozen=True)
class Scale:
    """All experiments at one size.

    `alpha` and the draws are the same for both protocols, so that what differs between them is the procedure.
    `macer` is the data set of the MACER figure with what differs from MACER's recipe; `stepped` are the data sets of
    the step-size figure, at `step_sigma`.
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

    def study(self, dataset: str) -> Study:
        """The study of a data set of this scale."""
        return next(study for study in self.studies if study.dataset == dataset)


def chosen_scale(name: str, inputs: int | None = None, epochs: int | None = None) -> Scale:
    """The scale of that name, with fewer or more inputs and epochs if they are given."""
    if name not in SCALES:
        raise SettingError(f"scale: expected one of {', '.join(SCALES)}, got {name!r}")
    scale = SCALES[name]
    studies = scale.studies
    if inputs is not None:
        studies = tuple(replace(study, inputs=inputs) for study in studies)
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
        no_gain=NoGain(p=0.9, n=100, times=20, looks=(1, 4, 10), draws=(100, 300), alphas=(0.05, 0.2)),
        interval_draws=100,
    ),
    "cpu": Scale(
        name="cpu",
        studies=(
            Study(
                "mnist",
                n=500,
                inputs=50,
                sigmas=(0.1, 0.25, 0.5, 0.75, 1.0),
                curves=(0.5, 1.0),
                training={**_CYCLE, "arch": "lenet", "epochs": 5},
            ),
            Study(
                "cifar10",
                n=500,
                inputs=25,
                sigmas=(0.25, 0.5, 1.0),
                curves=(0.5, 1.0),
                training={**_CYCLE, "arch": "resnet20", "epochs": 8, "augment": "flip-crop"},
            ),
        ),
        macer="mnist",
        macer_training={**_CYCLE, "arch": "lenet", "epochs": 3, "draws": 4, "weight_decay": 0.0, "momentum": 0.0},
        stepped=("mnist",),
        steps=_STEPS,
        step_sigma=0.5,
        timing_inputs=10,
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
