"""A run as people use it: a table, certificates, numbers, a figure, a page, whether it lies on disk or in memory."""

import html
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from doublebubble.certificate import Certificate
from doublebubble.errors import RunError
from doublebubble.facade.auditing import inputs_of
from doublebubble.facade.galleries import galleries_of
from doublebubble.facade.sources import Data
from doublebubble.printable import printable
from doublebubble.report.facts import draws_asked, guarantees, level, mark, protocol_of
from doublebubble.report.radii import table_radii
from doublebubble.report.rounding import length
from doublebubble.runs import statistics
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun, read_run
from doublebubble.runs.tables import frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from torch import nn

    from doublebubble.audit.reverify import Verdict
    from doublebubble.facade.job import Indices
    from doublebubble.runs.attacks import Attacked


@dataclass(frozen=True, repr=False)
class Run(StoredRun):
    """What a certification gave: one record for each input, and what follows from them.

    `interrupted` says that Ctrl-C ended it early; `missing` names the inputs that it still lacks.
    """

    interrupted: bool = False

    @classmethod
    def of(cls, run: StoredRun, interrupted: bool = False) -> "Run":
        """What was stored, with all that can be asked of it."""
        return cls(run.path, run.spec, run.records, run.torn, run.kept, interrupted)

    @property
    def frame(self) -> pd.DataFrame:
        """A table with one row per input, as `load_run` gives it."""
        return frame(self)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificates of all inputs that did not fail, by rising index; their radii are those of the records."""
        if not isinstance(self.spec, RunSpec):
            raise RunError(f"{self.path}: was imported, and imported runs hold no certificates")
        kept = sorted((record for record in self.records if record.status != "failed"), key=lambda r: r.index)
        return tuple(record.certificate(self.spec, self.centres(record)) for record in kept)

    def certified_accuracy(self, radius: float) -> float:
        """The fraction of inputs that are predicted correctly with at least this radius; every input counts."""
        return statistics.certified_accuracy(self.frame, (radius,))[0].accuracy

    @property
    def average_radius(self) -> float:
        """The average certified radius: every input counts, those not predicted correctly with 0."""
        return statistics.average_radius(self.frame)

    def plot(self, title: str | None = None) -> "Figure":
        """The certified accuracy over the radius, one curve for each method, as a matplotlib figure."""
        from doublebubble.report.plots import run_figure

        return run_figure(self, self._name if title is None else title)

    def report(self, path: str | Path, data_dir: Path | None = None, radii: "Sequence[float] | None" = None) -> Path:
        """Write the page: one file that opens in any browser and asks the network for nothing.

        `radii` are those that certified accuracy is stated at, else those that the run decides, else round ones.
        """
        from doublebubble.report.page import write_page

        galleries, _ = galleries_of([self], data_dir)
        write_page([self], Path(path), galleries, radii)
        return Path(path)

    def reverify(self, data: Data | None = None, data_dir: Path | None = None) -> "list[Verdict]":
        """A verdict for each record: whether its radius follows from what is stored, computed again in fifty digits.

        `data` are the inputs of the run where they are not a data set that can be loaded by its name.
        """
        from doublebubble.audit.reverify import reverify_run

        return reverify_run(self, inputs_of(self.spec, data, data_dir)[0])

    def attack(
        self,
        model: "nn.Module",
        data: Data | None = None,
        *,
        data_dir: Path | None = None,
        indices: "Indices" = ":",
        **settings: Any,
    ) -> "tuple[Attacked, ...]":
        """For each certified input the nearest point found and confirmed where another class is likelier.

        With probability at least 1 - level (1e-6) over its draws a success is real: its distance is then an upper bound
        on the true robust distance, and one inside a guaranteed radius refutes the certificate. `settings` are those of
        `AttackSettings`: steps, restarts, draws, n, level, reach, gradient, seed. What is found is kept in the run's
        folder, if it has one, and shown on its page; the same call again attacks only what is left.
        """
        from doublebubble.facade.attacking import attack_run
        from doublebubble.runs.attacks import AttackSettings

        chosen = AttackSettings(**settings)
        return attack_run(self, model, chosen, data=data, data_dir=data_dir, indices=indices)

    def __repr__(self) -> str:
        return "\n".join(map(printable, self._lines()))

    def _repr_html_(self) -> str:
        first, *rest = (html.escape(line.strip()) for line in self._lines())
        return f"<div><strong>{first}</strong><br>{'<br>'.join(rest)}</div>"

    @property
    def _name(self) -> str:
        return f"{self.spec.dataset}, sigma {self.spec.sigma:g}" if isinstance(self.spec, RunSpec) else str(self.path)

    def _lines(self) -> list[str]:
        spec = self.spec
        ended = ", interrupted" if self.interrupted else ""
        lines = [f"Run {self.path}: {len(self.records)} of {len(spec.index_list)} inputs{ended}"]
        if isinstance(spec, RunSpec):
            protocol = protocol_of(spec.config)
            lines.append(f"  {self._name}, {draws_asked(spec.config)}, protocol {protocol}, alpha {level(spec)}")
        if not self.records:
            return [*lines, "  no record yet"]
        table = self.frame
        failed = f", {(table['status'] == 'failed').sum()} failed" if (table["status"] == "failed").any() else ""
        abstained = f"abstained {(table['prediction'] < 0).sum()} of {len(table)}{failed}"
        beside = f" ({mark(self)})" if mark(self) else ""
        if table["label"].isna().any():
            lines.append(
                f"  mean radius of all inputs {length(table['radius'].mean())}{beside}; {abstained}; no labels"
            )
        else:
            found = statistics.certified_accuracy(table, table_radii([self]))
            told = [point for at, point in enumerate(found) if not at or found[at - 1].certified]  # then all are 0
            points = ", ".join(f"{point.accuracy:.1%} at {point.radius:g}" for point in told)
            lines.append(
                f"  certified accuracy {points}; average radius {length(self.average_radius)}{beside}; {abstained}"
            )
        return [*lines, *(f"  each radius {guarantee.sentence}" for guarantee in guarantees(self))]


def open_run(path: str | Path) -> Run:
    """The run in a folder, as it is now, also while another process is writing it.

    >>> import tempfile, torch, doublebubble as db
    >>> model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 2)).eval()
    >>> folder = tempfile.mkdtemp() + "/run"
    >>> run = db.certify(model, torch.rand(3, 1, 2, 2), sigma=0.5, n=100, n0=10, out=folder, quiet=True)
    >>> len(db.open_run(folder).records)
    3
    """
    return Run.of(read_run(Path(path)))
