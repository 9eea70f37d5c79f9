"""What committed results hold: packed runs by the wish that they answer, simulations, and how models were trained."""

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from doublebubble.config import Settings
from doublebubble.errors import RunError
from doublebubble.reproduce.coin_votes import Coined, kept_as, voted
from doublebubble.reproduce.curves import PROTOCOLS
from doublebubble.reproduce.interval_cost import KEPT, IntervalCost
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Looked, read_simulation
from doublebubble.reproduce.packed import SUFFIX, unpacked
from doublebubble.reproduce.scales import Scale, SoundForm, Study
from doublebubble.reproduce.training_cost import KEPT as COST
from doublebubble.reproduce.training_cost import TrainingCost
from doublebubble.runs.attacks import Attacked, nearest, stored_attacks
from doublebubble.runs.spec import RunSpec, Spec
from doublebubble.runs.store import read_run
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


@dataclass
class Evidence:
    """Results under a folder, of one scale; what is not there is None, and the page says that it was not run."""

    folder: Path
    scale: Scale
    _held: dict[str, Held] = field(default_factory=dict)

    def frame(self, wanted: Wanted) -> pd.DataFrame | None:
        """The table of a run."""
        return self._run(wanted.name).table if self._file(wanted.name).exists() else None

    def _file(self, name: str) -> Path:
        return self.folder / "runs" / f"{name}{SUFFIX}"

    def _run(self, name: str) -> Held:
        if name not in self._held:
            with unpacked(self._file(name)) as folder:
                run = read_run(folder)
                attacks = [nearest(attacks) for attacks in stored_attacks(run).values()]
                self._held[name] = Held(run.spec, frame(run), attacks)
        return self._held[name]

    def published(self, study: Study, sigma: float, gradient: GradientKind) -> pd.DataFrame | None:
        """The published form, on the inputs that were given it."""
        return self.frame(Wanted(study, sigma, "paper", gradient))

    def thrifty(self, study: Study, sigma: float, gradient: GradientKind) -> pd.DataFrame | None:
        """The thrifty form of the same, on all inputs of the study."""
        return self.frame(Wanted(study, sigma, "paper", gradient, wide=True, thrifty=True))

    def sound(self, study: Study, sigma: float, form: SoundForm | None = None) -> pd.DataFrame | None:
        """`sound`, full gradients: with the same draws and alpha on all inputs of the study, or in another form."""
        if form is None or form.n == study.n:
            return self.frame(Wanted(study, sigma, "sound", "full", wide=True))
        return self.frame(Wanted.of_form(study, sigma, form))

    def attacks(self) -> dict[str, list[Attacked]]:
        """The nearest success on each input that was attacked, by the name of the run."""
        found = {name: self._run(name).attacks for name in self._names("*-sound-*")}
        return {name: attacks for name, attacks in found.items() if attacks}

    def _names(self, pattern: str) -> list[str]:
        return [file.name.removesuffix(SUFFIX) for file in sorted((self.folder / "runs").glob(f"{pattern}{SUFFIX}"))]

    def certified_with(self, model: str) -> tuple[str, str] | None:
        """The digest of a model, and the kind of device, in all its runs; None if there is none."""
        names = [name for protocol in PROTOCOLS for name in self._names(f"{model}-{protocol}-*")]
        specs = [spec for name in names if isinstance(spec := self._run(name).spec, RunSpec)]
        found = sorted({(spec.model_digest, spec.device) for spec in specs})
        if len(found) > 1:
            raise RunError(f"{model}: expected runs of one model on one kind of device, got {found}")
        return found[0] if found else None

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
