"""What committed results hold: packed runs by the wish that they answer, simulations, and how models were trained."""

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from doublebubble.config import Settings
from doublebubble.reproduce.coin_votes import Coined, kept_as, voted
from doublebubble.reproduce.interval_cost import KEPT, IntervalCost
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Looked, read_simulation
from doublebubble.reproduce.packed import SUFFIX, unpacked
from doublebubble.reproduce.scales import Scale, SoundForm, Study
from doublebubble.runs.attacks import Attacked, nearest, stored_attacks
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


@dataclass
class Evidence:
    """Results under a folder, of one scale; what is not there is None, and the page says that it was not run."""

    folder: Path
    scale: Scale
    _held: dict[str, tuple[pd.DataFrame, list[Attacked]]] = field(default_factory=dict)

    def frame(self, wanted: Wanted) -> pd.DataFrame | None:
        """The table of a run."""
        return self._run(wanted.name)[0] if self._file(wanted.name).exists() else None

    def _file(self, name: str) -> Path:
        return self.folder / "runs" / f"{name}{SUFFIX}"

    def _run(self, name: str) -> tuple[pd.DataFrame, list[Attacked]]:
        """The table of a run, and the nearest success on each input that was attacked."""
        if name not in self._held:
            with unpacked(self._file(name)) as folder:
                run = read_run(folder)
                self._held[name] = frame(run), [nearest(attacks) for attacks in stored_attacks(run).values()]
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
        files = sorted((self.folder / "runs").glob(f"*-sound-*{SUFFIX}"))
        found = {name: self._run(name)[1] for name in (file.name.removesuffix(SUFFIX) for file in files)}
        return {name: attacks for name, attacks in found.items() if attacks}

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

    def trained(self, name: str) -> Trained | None:
        """How a model was trained."""
        file = self.folder / "models" / f"{name}.json"
        return read_simulation(file, Trained) if file.exists() else None
