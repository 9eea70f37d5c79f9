"""A laboratory whose runs are invented instead of certified: every experiment can be drawn from them in no time."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from doublebubble import registry
from doublebubble.config import CertifyConfig, PaperSearch
from doublebubble.data.registry import DATASETS
from doublebubble.reproduce import chosen_scale
from doublebubble.reproduce.laboratory import Laboratory, Wanted
from doublebubble.reproduce.looking import T
from doublebubble.reproduce.training_cost import TrainingCost
from doublebubble.runs.record import Record, RecordStatus
from doublebubble.runs.store import RunStore, StoredRun, read_run
from doublebubble.training import Observer, TrainSettings
from doublebubble.types import ABSTAIN, Guarantee
from tests.runs.samples import spec

SCALE = replace(
    chosen_scale("smoke", inputs=12),
    studies=(replace(chosen_scale("smoke").studies[0], inputs=12, wide=20),),
    timing_inputs=12,
)
STUDY = SCALE.studies[0]
COSTS = TrainingCost(sigma=1.0, images=100, gaussian=(1.0, 2.0, 4.0), macer=(30.0, 11.0, 10.0))
TOSSED = 0.5  # the sigma whose coins are invented too


class Silent:
    """Events that nobody watches; none of an invented laboratory's should come."""

    def training(self, name: str, settings: TrainSettings) -> AbstractContextManager[Observer]:
        raise AssertionError(f"{name} is trained")

    def certifying(
        self, name: str, earlier: list[Record], total: int
    ) -> AbstractContextManager[Callable[[Record], None]]:
        raise AssertionError(f"{name} is certified")

    def missing(self, sentence: str) -> None:
        raise AssertionError(sentence)


@dataclass
class InventedLaboratory(Laboratory):
    """Invents records for every run asked for, and writes them through the ordinary store."""

    always_wrong: bool = False

    def simulation(self, study: str, name: str, kind: type[T], make: Callable[[], T]) -> T:
        """Trains nothing to see how long it takes."""
        return super().simulation(study, name, kind, make) if kind is not TrainingCost else kind(**COSTS.model_dump())

    def run(self, wanted: Wanted) -> StoredRun:
        path = self.out / "runs" / wanted.name
        return read_run(path) if path.exists() else invent(path, wanted, self.scale.alpha, self.always_wrong)


def invent(path: Path, wanted: Wanted, alpha: float, always_wrong: bool) -> StoredRun:
    """A run with records that look like real ones: some wrong, some abstained, gains that depend on the method."""
    rng = np.random.default_rng(sum(wanted.name.encode()))
    study = wanted.study
    methods = registry.names(wanted.protocol) if wanted.methods is None else wanted.methods
    search = PaperSearch.thrifty() if wanted.thrifty else PaperSearch()
    alpha = alpha if wanted.alpha is None else wanted.alpha
    config = CertifyConfig(
        n=wanted.draws,
        alpha=alpha,
        protocol=wanted.protocol,
        methods=methods,
        gradient=wanted.gradient,
        paper=search.model_copy(update={"first_step": wanted.first_step}),
    )
    info = DATASETS[study.dataset]
    first = study.inputs if wanted.which == "other" else 0
    indices = range(first, first + wanted.inputs)
    made = spec(
        f"{indices.start}:{indices.stop}",
        size=info.sizes[1],
        dataset=study.dataset,
        sigma=wanted.sigma,
        num_classes=info.num_classes,
        config=config,
    )
    with RunStore(path, made) as store:
        for index in indices:
            store.append(_record(index, wanted, rng, alpha, methods, always_wrong))
    return read_run(path)


def _record(
    index: int, wanted: Wanted, rng: np.random.Generator, alpha: float, methods: tuple[str, ...], always_wrong: bool
) -> Record:
    label = int(rng.integers(10))
    selected = label if not always_wrong and rng.random() < 0.85 - 0.3 * wanted.sigma else (label + 1) % 10
    paper = wanted.protocol == "paper"
    cohen = wanted.sigma * max(0.0, rng.normal(1.2, 0.8)) * (1.2 if wanted.training == "macer" else 1.0)
    step = 1 / (1 + 3 * wanted.first_step) if wanted.gradient == "full" else 1 / (1 + 30 * wanted.first_step)
    scale = 0.1 * wanted.sigma * step if paper else 0.002
    single = cohen * (1 + scale * max(0.0, rng.normal(0.5, 1)))
    gains = {"cohen": cohen, "single": single}
    gains["boundary"] = single * (1 + 0.3 * scale * max(0.0, rng.normal(-0.3, 1)))
    gains["double"] = single * (1 + 0.2 * scale * max(0.0, rng.normal(-0.3, 1)))
    gains["dipole"] = cohen * (1 + 0.004 * rng.normal(0, 1))
    gains["first_order"] = cohen * (1 + 0.02 * max(-0.2, rng.normal(1, 1)))
    gains["profile"] = cohen * (1 + 0.04 * max(-0.2, rng.normal(1, 1)))
    wrong = paper and selected != label
    radii = {method: 0.0 if wrong else round(gains[method], 6) for method in methods}
    chosen = max(radii, key=lambda method: radii[method]) if paper else "dipole" if "dipole" in radii else methods[-1]
    radius = radii[chosen]
    status: RecordStatus = "wrong_class" if wrong else ("certified" if radius > 0 else "not_separated")
    return Record(
        index=index,
        label=label,
        prediction=selected if radius > 0 or wrong else ABSTAIN,
        status=status,
        radius=radius,
        radii=radii,
        guarantee=Guarantee.NONE if paper else Guarantee.EXACT,
        alpha=alpha,
        protocol=wanted.protocol,
        method=chosen,
        counts={"select": {selected: 60, (selected + 2) % 10: 40}},
        draws={"select": 100},
        seconds={"select": 0.1 * rng.random(), "search": rng.random()},
    )
