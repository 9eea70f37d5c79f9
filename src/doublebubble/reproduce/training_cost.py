"""How many times as long as Gaussian training MACER's takes: processor time of equally many images, by turns."""

import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from doublebubble.config import Settings
from doublebubble.data import Dataset
from doublebubble.reproduce.laboratory import Laboratory
from doublebubble.reproduce.scales import Study
from doublebubble.training import TrainSettings, preset, train
from doublebubble.training.metrics import EpochMetrics
from doublebubble.types import TrainMethod

KEPT = "training-cost"
"""The stem of the file of times, among the simulations."""
_METHODS: tuple[TrainMethod, ...] = ("gaussian", "macer")
_IMAGES, _ROUNDS = 3200, 3


class TrainingCost(Settings):
    """Processor seconds for so many images at one sigma, of every round, by both ways of training."""

    sigma: float
    images: int
    gaussian: tuple[float, ...]
    macer: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """How many times as long MACER takes, by the medians."""
        return median(self.macer) / median(self.gaussian)


def training_cost(lab: Laboratory, study: Study) -> TrainingCost:
    """What is on disk, or measured now on the study's first images."""
    return lab.simulation(study.name, KEPT, TrainingCost, lambda: _measured(lab, study))


def _measured(lab: Laboratory, study: Study) -> TrainingCost:
    sigma, data = study.curves[-1], lab.training_images(study)
    some = replace(data, pixels=data.pixels[:_IMAGES], labels=data.labels[:_IMAGES])
    took: dict[TrainMethod, list[float]] = {method: [] for method in _METHODS}
    for _ in range(_ROUNDS):
        for method in _METHODS:
            recipe = {**lab.scale.recipe(study, method), "epochs": 1, "holdout": 0}
            took[method].append(_seconds(preset(study.dataset, method, sigma, **recipe, device=lab.device), some))
    return TrainingCost(sigma=sigma, images=len(some), gaussian=tuple(took["gaussian"]), macer=tuple(took["macer"]))


@dataclass
class _Clock:
    """Reads the processor's time after each step."""

    read: list[float] = field(default_factory=list)

    def started(self, epochs_done: int, steps_per_epoch: int) -> None:
        """Nothing is timed yet."""

    def stepped(self, epoch: int, loss: float) -> None:
        """One step is done."""
        self.read.append(time.process_time())

    def finished_epoch(self, metrics: EpochMetrics) -> None:
        """Nothing is timed any more."""


def _seconds(settings: TrainSettings, data: Dataset) -> float:
    """The time of an epoch without its first step, which also warms up."""
    clock = _Clock()
    with tempfile.TemporaryDirectory() as folder:
        train(settings, data, Path(folder), clock)
    return clock.read[-1] - clock.read[0]
