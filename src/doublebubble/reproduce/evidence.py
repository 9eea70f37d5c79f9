"""What committed results hold: packed runs by the wish that they answer, simulations, and how models were trained."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from doublebubble.config import Settings
from doublebubble.errors import RunError
from doublebubble.reproduce.coin_votes import Coined, kept_as, voted
from doublebubble.reproduce.curves import PROTOCOLS
from doublebubble.reproduce.interval_cost import KEPT, IntervalCost
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Looked, read_simulation
from doublebubble.reproduce.packed import SUFFIX, packed_as, unpacked
from doublebubble.reproduce.scales import Scale, SoundForm, Study
from doublebubble.reproduce.training_cost import KEPT as COST
from doublebubble.reproduce.training_cost import TrainingCost
from doublebubble.runs.attacks import Attacked, nearest, stored_attacks
from doublebubble.runs.spec import RunSpec, Spec
from doublebubble.runs.store import StoredRun, read_run
from doublebubble.runs.tables import frame
from doublebubble.types import GradientKind


class Trained(Settings):
    """How a model was trained, since its weights are not kept: settings, digest of the weights, seconds in all."""

    arch: str
    epochs: int
    seconds: float
    noisy_accuracy: float | None
    weights_sha256: str


@dataclass(frozen=True)
class Held:
    """What the page needs of a run: its specification, its table, the nearest success on each input attacked."""

    spec: Spec
    table: pd.DataFrame
    attacks: list[Attacked]


def _held(run: StoredRun) -> Held:
    return Held(run.spec, frame(run), [nearest(attacks) for attacks in stored_attacks(run).values()])


@dataclass
class Evidence:
    """Results under a folder, of one scale; what is not there is None, and the page says that it was not run."""

    folder: Path
    scale: Scale
    _held: dict[str, dict[str, Held]] = field(default_factory=dict)

    def frame(self, wanted: Wanted) -> pd.DataFrame | None:
        """The table of a run."""
        held = self._file(packed_as(wanted.name)).get(wanted.name)
        return None if held is None else held.table

    def _file(self, packed: str) -> dict[str, Held]:
        """The runs of a file by name; none if there is no such file."""
        path = self.folder / "runs" / packed
        if packed not in self._held and path.exists():
            with unpacked(path) as folder:
                self._held[packed] = {run.name: _held(read_run(run)) for run in sorted(folder.iterdir())}
        return self._held.get(packed, {})

    def published(self, study: Study, sigma: float, gradient: GradientKind) -> pd.DataFrame | None:
        """The published form, on the inputs that were given it."""
        return self._joined(Wanted(study, sigma, "paper", gradient))

    def thrifty(self, study: Study, sigma: float, gradient: GradientKind) -> pd.DataFrame | None:
        """The thrifty form of the same, on all inputs of the study."""
        return self.frame(Wanted(study, sigma, "paper", gradient, which="all", thrifty=True))

    def sound(self, study: Study, sigma: float, form: SoundForm | None = None) -> pd.DataFrame | None:
        """`sound`, full gradients: with the same draws and alpha on all inputs of the study, or in another form."""
        if form is None or form.n == study.n:
            return self.frame(Wanted(study, sigma, "sound", "full", which="all"))
        return self._joined(Wanted.of_form(study, sigma, form))

    def sound_on_all(self, study: Study, sigma: float, form: SoundForm) -> pd.DataFrame | None:
        """The same draws, level and methods on all inputs of the study, as if all were given the published form."""
        return self.sound(replace(study, published_on_all=True), sigma, form)

    def _joined(self, wanted: Wanted) -> pd.DataFrame | None:
        """The table of a run, on all inputs that are given the published form: of all its parts, or of none."""
        tables = [self.frame(part) for part in wanted.parts]
        there = [table for table in tables if table is not None]
        return pd.concat(there).sort_values("index", ignore_index=True) if len(there) == len(tables) else None

    def attacks(self) -> dict[str, list[Attacked]]:
        """The nearest success on each input that was attacked, by the name of the run."""
        return {name: held.attacks for name, held in self._runs("*-sound-*") if held.attacks}

    def _runs(self, pattern: str) -> list[tuple[str, Held]]:
        """The runs of all files whose names are like that, by name."""
        files = sorted((self.folder / "runs").glob(f"{pattern}{SUFFIX}"))
        return [one for file in files for one in self._file(file.name).items()]

    def certified_with(self, model: str) -> tuple[str, list[str]] | None:
        """The digest of a model in all its runs, and their kinds of device; None if there is none."""
        runs = [held for protocol in PROTOCOLS for _, held in self._runs(f"{model}-{protocol}-*")]
        specs = [held.spec for held in runs if isinstance(held.spec, RunSpec)]
        found = sorted({spec.model_digest for spec in specs})
        if len(found) > 1:
            raise RunError(f"{model}: expected runs of one model, got those of {', '.join(found)}")
        return (found[0], sorted({spec.device for spec in specs})) if found else None

    def simulations(self) -> list[Looked]:
        """The published search where there is nothing to gain."""
        folder = self.folder / "simulations"
        wanted = ("half-space-", "coins-p", "slab-")
        paths = sorted(folder.glob("*.json")) if folder.exists() else []
        return [read_simulation(path, Looked) for path in paths if path.name.startswith(wanted)]

    def coined(self, study: Study, sigma: float) -> Coined | None:
        """The published search on coins that vote with the network's probabilities."""
        file = self.folder / "simulations" / f"{kept_as(voted(study, sigma), self.scale.no_gain.throws)}.json"
        return read_simulation(file, Coined) if file.exists() else None

    def figure(self, name: str) -> Path:
        """Where the picture of a figure, EXPERIMENT/NAME, lies if it was drawn."""
        return self.folder / "figures" / f"{name}.png"

    def has_figure(self, name: str) -> bool:
        """Whether it was."""
        return self.figure(name).exists()

    def interval_cost(self) -> IntervalCost | None:
        """The times of intervals."""
        file = self.folder / "simulations" / f"{KEPT}.json"
        return read_simulation(file, IntervalCost) if file.exists() else None

    def training_cost(self) -> TrainingCost | None:
        """How much longer MACER trains."""
        file = self.folder / "simulations" / f"{COST}.json"
        return read_simulation(file, TrainingCost) if file.exists() else None

    def trained(self, name: str) -> Trained | None:
        """How a model was trained."""
        file = self.folder / "models" / f"{name}.json"
        return read_simulation(file, Trained) if file.exists() else None
