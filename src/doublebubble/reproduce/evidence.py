"""What committed results hold: packed runs by the wish that they answer, simulations, and how models were trained."""

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from doublebubble.config import Settings
from doublebubble.reproduce.interval_cost import KEPT, IntervalCost
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Looked, read_simulation
from doublebubble.reproduce.packed import SUFFIX, read_packed
from doublebubble.reproduce.scales import Scale, SoundForm, Study
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
    _frames: dict[str, pd.DataFrame | None] = field(default_factory=dict)

    def frame(self, wanted: Wanted) -> pd.DataFrame | None:
        """The table of a run."""
        if wanted.name not in self._frames:
            file = self.folder / "runs" / f"{wanted.name}{SUFFIX}"
            self._frames[wanted.name] = frame(read_packed(file)) if file.exists() else None
        return self._frames[wanted.name]

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

    def simulations(self) -> list[Looked]:
        """The published search where there is nothing to gain."""
        folder = self.folder / "simulations"
        wanted = ("half-space-", "coins-p", "slab-")
        paths = sorted(folder.glob("*.json")) if folder.exists() else []
        return [read_simulation(path, Looked) for path in paths if path.name.startswith(wanted)]

    def figure(self, name: str) -> Path:
        """Where the picture of a figure of `no-gain` lies, if it was drawn."""
        return self.folder / "figures" / "no-gain" / f"{name}.png"

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
