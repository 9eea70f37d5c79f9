"""Trains what an experiment needs and certifies through the ordinary runs, each thing once: what is on disk is reused.

Models lie in MODELS/NAME, runs in OUT/runs/NAME; a name says everything in which two of them differ. Prints nothing:
what happens is told to the events.
"""

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from torch import nn

from doublebubble import registry
from doublebubble.config import CertifyConfig, PaperSearch
from doublebubble.data import Dataset, Split, load_dataset
from doublebubble.errors import CheckpointError, DataError
from doublebubble.facade.job import make_job
from doublebubble.facade.loop import perform
from doublebubble.models import ModelCard, load_model
from doublebubble.models.checkpoints import CARD
from doublebubble.program import Program
from doublebubble.report.facts import protocol_name
from doublebubble.reproduce.looking import T, keep, read_simulation
from doublebubble.reproduce.results import Results
from doublebubble.reproduce.scales import Scale, SoundForm, Study, Which
from doublebubble.runs.indices import format_indices
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, StoredRun
from doublebubble.training import Observer, TrainSettings, preset, train
from doublebubble.training.loop import SETTINGS
from doublebubble.training.metrics import read_metrics
from doublebubble.training.settings import read_settings
from doublebubble.types import GradientKind, Method, TrainMethod
from doublebubble.types import Protocol as Procedure

GRADIENTS: tuple[GradientKind, ...] = ("approximate", "full")
PUBLISHED_STEP = PaperSearch().first_step
PROGRAM = Program(fold_batch_norm=True, channels_last=True)  # up to twice as fast as the model as given


class Events(Protocol):
    """What is told while an experiment goes on."""

    def training(self, name: str, settings: TrainSettings) -> AbstractContextManager[Observer]:
        """A model is about to be trained."""

    def certifying(
        self, name: str, earlier: list[Record], total: int
    ) -> AbstractContextManager[Callable[[Record], None]]:
        """A run is about to go on with the inputs that it lacks; never told for a run that is complete."""

    def missing(self, sentence: str) -> None:
        """Data that an experiment needs are not there; it goes on without them."""


@dataclass(frozen=True)
class Wanted:
    """A run that an experiment asks for; what is left at its default is what most figures share."""

    study: Study
    sigma: float
    protocol: Procedure
    gradient: GradientKind
    training: TrainMethod = "gaussian"
    methods: tuple[Method, ...] | None = None
    first_step: float = PUBLISHED_STEP
    n: int | None = None
    alpha: float | None = None
    which: Which = "first"
    thrifty: bool = False

    @classmethod
    def of_form(cls, study: Study, sigma: float, form: SoundForm) -> "Wanted":
        """`sound` at a further number of draws, full gradients."""
        return cls(study, sigma, "sound", "full", methods=form.methods, n=form.n, alpha=form.alpha, which=form.which)

    @property
    def draws(self) -> int:
        """The draws of one input."""
        return self.study.n if self.n is None else self.n

    @property
    def inputs(self) -> int:
        """How many inputs are certified."""
        first = self.study.inputs
        every = self.study.wide or first
        return {"first": first, "all": every, "other": every - first}[self.which]

    @property
    def parts(self) -> tuple["Wanted", ...]:
        """The runs that are of all inputs given the published form, if this is of the first ones; else this alone."""
        if self.which != "first":
            return (self,)
        return tuple(replace(self, which=part) for part in self.study.published_parts)

    @property
    def name(self) -> str:
        """The folder of the run: equal exactly for equal wishes."""
        study = self.study
        parts = [study.name, self.training, f"{self.sigma:g}", self.protocol, self.gradient]
        parts += [f"n{self.draws}", f"{self.inputs}{'others' if self.which == 'other' else 'inputs'}"]
        parts += [] if self.alpha is None else [f"alpha{self.alpha:g}"]
        parts += ["thrifty"] if self.thrifty else []
        parts += [] if self.methods is None else ["+".join(self.methods)]
        parts += [] if self.first_step == PUBLISHED_STEP else [f"step{self.first_step:g}"]
        return "-".join(parts)

    def __str__(self) -> str:
        more = "" if self.methods is None else f", {' '.join(self.methods)}"
        more += "" if self.first_step == PUBLISHED_STEP else f", first step {self.first_step:g}"
        return (
            f"{self.study.name}, {self.training} training, sigma {self.sigma:g}, gradient {self.gradient}{more}, "
            f"n {self.draws}, protocol {protocol_name(self.protocol, self.thrifty)}"
        )


@dataclass
class Laboratory:
    """Where experiments get their runs from, at one scale."""

    scale: Scale
    out: Path
    models: Path
    events: Events
    device: str = "cpu"
    data_dir: Path | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    _excluded: set[str] = field(default_factory=set)
    _data: dict[tuple[str, Split], Dataset] = field(default_factory=dict)
    _trained: dict[str, nn.Module] = field(default_factory=dict)

    def perform(self, experiment: "Callable[[Laboratory], Results]") -> Results:
        """The results of an experiment; a data set that turns out to lack training images on the way is left out."""
        self._excluded.clear()
        while True:
            before = len(self._excluded)
            try:
                return experiment(self)
            except DataError:
                if len(self._excluded) == before:
                    raise

    def available(self, names: tuple[str, ...]) -> list[Study]:
        """The studies whose data are there; each that is not is told once, in a sentence, and remembered.

        If none is there, the first one's error is raised.
        """
        there = []
        for study in map(self.scale.study, names):
            try:
                self._dataset(study.dataset, "test")
            except DataError as error:
                self._leave_out(study.dataset, error)
            if study.dataset not in self._excluded:
                there.append(study)
        if not there:
            raise DataError(self.left_out[self.scale.study(names[0]).dataset])
        return there

    def _leave_out(self, dataset: str, error: DataError) -> None:
        if dataset not in self.left_out:
            self.events.missing(str(error))
        self.left_out[dataset] = str(error)
        self._excluded.add(dataset)

    def images(self, study: Study) -> Dataset:
        """The test split that a study certifies."""
        return self._dataset(study.dataset, "test")

    def training_images(self, study: Study) -> Dataset:
        """The split that a study's networks are trained on; a study that lacks it is left out."""
        try:
            return self._dataset(study.dataset, "train")
        except DataError as error:
            self._leave_out(study.dataset, error)
            raise

    def run(self, wanted: Wanted) -> StoredRun:
        """The finished run, certified now as far as it is not on disk."""
        study = wanted.study
        data = self._dataset(study.dataset, "test")
        job = make_job(
            self._model(study, wanted.training, wanted.sigma),
            data,
            wanted.sigma,
            self._config(wanted),
            indices=format_indices(chosen_inputs(len(data), study, wanted.which)),
            batch_size=study.batch_size,
            device=self.device,
            program=PROGRAM,
        )
        store = RunStore(self.out / "runs" / wanted.name, job.spec)
        perform(job, store, functools.partial(self.events.certifying, str(wanted)))
        return store.run()

    def joined(self, wanted: Wanted) -> StoredRun:
        """The run on all inputs that are given the published form: its parts, put together in memory."""
        runs = [self.run(part) for part in wanted.parts]
        records = sorted((record for run in runs for record in run.records), key=lambda record: record.index)
        every = format_indices([record.index for record in records])
        return replace(runs[0], spec=runs[0].spec.model_copy(update={"indices": every}), records=tuple(records))

    def simulation(self, study: str, name: str, kind: type[T], make: Callable[[], T]) -> T:
        """What the file of that name holds, made now if there is none; of that study, or of none if it is empty.

        Each is a small file of its own, so that a stopped command loses one at most.
        """
        file = self.out / "simulations" / f"{name}.json"
        if file.exists():
            return read_simulation(file, kind)
        self._require_making(study, name)
        found = make()
        keep(file, found)
        return found

    def _require_making(self, study: str, name: str) -> None:
        """Raise where nothing may be made."""

    def _config(self, wanted: Wanted) -> CertifyConfig:
        search = PaperSearch.thrifty() if wanted.thrifty else PaperSearch()
        return CertifyConfig(
            n=wanted.draws,
            n0=min(500, wanted.draws),
            alpha=self.scale.alpha if wanted.alpha is None else wanted.alpha,
            protocol=wanted.protocol,
            methods=registry.names(wanted.protocol) if wanted.methods is None else wanted.methods,
            gradient=wanted.gradient,
            paper=search.model_copy(update={"first_step": wanted.first_step}),
        )

    def _model(self, study: Study, method: TrainMethod, sigma: float) -> nn.Module:
        """The trained model; a folder that holds a model and no training run is taken as it is, if it fits."""
        name = model_name(study, method, sigma)
        folder = self.models / name
        if name not in self._trained:
            recipe = self.scale.recipe(study, method)
            settings = preset(study.dataset, method, sigma, **recipe, device=self.device)
            if not _finished(folder, settings):
                images = self.training_images(study)
                with self.events.training(name, settings) as observer:
                    train(settings, images, folder, observer)
            model, card = load_model(folder)
            _require_fit(card, folder, settings)
            self._trained[name] = model
        return self._trained[name]

    def _dataset(self, name: str, split: Split) -> Dataset:
        if (name, split) not in self._data:
            self._data[name, split] = load_dataset(name, split, self.data_dir)
        return self._data[name, split]


def model_name(study: Study, method: TrainMethod, sigma: float) -> str:
    """The folder of a trained model."""
    return f"{study.name}-{method}-{sigma:g}"


def spread_inputs(size: int, inputs: int) -> list[int]:
    """So many inputs, evenly spread over a split of that size: data sets are not always in a random order."""
    chosen = min(inputs, size)
    return [number * size // chosen for number in range(chosen)]


def chosen_inputs(size: int, study: Study, which: Which) -> list[int]:
    """The inputs of a study: all of them, the first ones, evenly spread among them, or the other ones."""
    every = spread_inputs(size, study.wide or study.inputs)
    first = [every[k] for k in spread_inputs(len(every), study.inputs)]
    other = sorted(set(every).difference(first))
    return {"first": first, "all": every, "other": other}[which]


def _finished(folder: Path, settings: TrainSettings) -> bool:
    """Whether the folder holds a model that needs no further training: brought along, or trained here to the end.

    On which device it was trained does not matter any more.
    """
    if not (folder / SETTINGS).exists():
        return (folder / CARD).exists()
    begun = read_settings(folder / SETTINGS).model_copy(update={"device": settings.device})
    return begun == settings and any(metrics.epoch == settings.epochs for metrics in read_metrics(folder))


def _require_fit(card: ModelCard, folder: Path, settings: TrainSettings) -> None:
    if (card.dataset, card.method, card.sigma) != (settings.dataset, settings.method, settings.sigma):
        raise CheckpointError(
            f"{folder}: expected a model of {settings.dataset}, {settings.method} training, sigma {settings.sigma:g}, "
            f"got one of {card.dataset}, {card.method}, sigma {card.sigma:g}"
        )
