"""Writes docs/reproduction.md from results/, packs what an experiment made into results/, and audits what is there.

python docs/generate_reproduction.py                    # the page, and the README's tables, from results/ alone
python docs/generate_reproduction.py figures            # draw every figure again, from results/ alone, then the page
python docs/generate_reproduction.py pack OUT           # take OUT's runs and simulations into results/
python docs/generate_reproduction.py audit              # confirm every sound record under results/; exits 1 if not
"""

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from doublebubble.audit.reverify.runs import reverify_run
from doublebubble.errors import DataError, RunError
from doublebubble.facade.auditing import inputs_of
from doublebubble.files import write_whole
from doublebubble.models.checkpoints import WEIGHTS
from doublebubble.reproduce import EXPERIMENTS, Events, Scale, chosen_scale, write
from doublebubble.reproduce.archive import Archive
from doublebubble.reproduce.claims_page import FIGURES, claims_page, image_of
from doublebubble.reproduce.evidence import Evidence, Trained
from doublebubble.reproduce.looking import read_simulation
from doublebubble.reproduce.method_gains import method_table
from doublebubble.reproduce.packed import SUFFIX, pack_runs, unpacked
from doublebubble.reproduce.summary import summary_table
from doublebubble.runs.record import Record
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import read_run
from doublebubble.training import Observer, TrainSettings
from doublebubble.training.loop import SETTINGS
from doublebubble.training.metrics import read_metrics
from doublebubble.training.settings import read_settings

ROOT = Path(__file__).parent.parent
RESULTS, PAGE, README = ROOT / "results", ROOT / "docs" / "reproduction.md", ROOT / "README.md"
SCALE, MOST_BYTES = "cpu", 30_000_000
TIMED = "interval-cost"  # its table is of the machine that made it


def evidence(results: Path = RESULTS) -> Evidence:
    """The results of scale cpu."""
    return Evidence(results, chosen_scale(SCALE))


def page(kept: Evidence) -> str:
    """The page, from the results of scale cpu."""
    return claims_page(kept)


def readme(text: str, kept: Evidence) -> str:
    """The README with its tables of MNIST and CIFAR-10 as the records give them; each is known by its first line."""
    for table in (summary_table(kept), method_table(kept)):
        head = table.splitlines()[0]
        before, found, after = text.partition(f"\n{head}\n")
        if not found:
            raise DataError(f"{README.name}: expected a table that begins {head!r}")
        text = before + "\n" + table + "\n" + after.partition("\n\n")[2]
    return text


def pack(out: Path, results: Path = RESULTS) -> int:
    """Take what is complete of an experiment's folder into results; the size of all results in bytes."""
    for model in sorted(path for path in (out / "models").glob("*") if (path / SETTINGS).exists()):
        _note_training(model, results / "models")  # first: other weights stop it
    runs = sorted(path for path in (out / "runs").glob("*") if path.is_dir())
    pack_runs([run for run in runs if not read_run(run).missing], results / "runs")
    for kept in sorted((out / "simulations").glob("*.json")):
        _copy(kept, results / "simulations" / kept.name)
    _keep_figures(out / TIMED, results)
    return sum(path.stat().st_size for path in results.rglob("*") if path.is_file())


class Told:
    """Says which runs are missing; nothing is trained or certified here."""

    def missing(self, sentence: str) -> None:
        """A run that an experiment would need."""
        sys.stderr.write(f"{sentence}\n")

    def training(self, name: str, settings: TrainSettings) -> AbstractContextManager[Observer]:
        """Never."""
        raise AssertionError(name)

    def certifying(
        self, name: str, earlier: list[Record], total: int
    ) -> AbstractContextManager[Callable[[Record], None]]:
        """Never."""
        raise AssertionError(name)


def draw(
    results: Path = RESULTS,
    scale: Scale | None = None,
    events: Events | None = None,
    names: Iterable[str] = EXPERIMENTS,
) -> list[str]:
    """Draw experiments from what results hold; those that cannot be drawn yet."""
    lab = Archive(scale or chosen_scale(SCALE), results, results / "models", events or Told())
    undrawn = []
    for name in names:
        if name == TIMED:
            continue
        try:
            found = lab.perform(EXPERIMENTS[name])
        except DataError:
            undrawn.append(name)
            continue
        with tempfile.TemporaryDirectory() as folder:
            write(found, Path(folder) / name, name, lab.scale.name)
            shutil.rmtree(results / "figures" / name, ignore_errors=True)  # what was drawn of fewer runs
            _keep_figures(Path(folder) / name, results)
    return undrawn


def _keep_figures(made: Path, results: Path) -> None:
    for path in sorted(path for path in made.glob("*") if path.suffix in (".png", ".pdf", ".md")):
        _copy(path, results / "figures" / made.name / path.name)


def audit(results: Path = RESULTS) -> list[str]:
    """What of the sound records is not confirmed, or refuted by a kept attack, one sentence each."""
    problems = [
        f"{name}: index={one.index} was attacked inside its radius"
        for name, attacks in evidence(results).attacks().items()
        for one in attacks
        if one.inside
    ]
    for file in sorted((results / "runs").glob(f"*{SUFFIX}")):
        with unpacked(file) as folder:
            problems += [problem for run in sorted(folder.iterdir()) for problem in _unconfirmed(run)]
    return problems


def _unconfirmed(folder: Path) -> list[str]:
    """What of a run under `sound` is not confirmed."""
    run = read_run(folder)
    if not isinstance(run.spec, RunSpec) or run.spec.config.protocol != "sound":
        return []
    inputs, _ = inputs_of(run.spec)  # those under DOUBLEBUBBLE_DATA
    return [f"{folder.name}: {verdict}" for verdict in reverify_run(run, inputs) if not verdict.confirmed]


def _note_training(model: Path, folder: Path) -> None:
    settings, metrics = read_settings(model / SETTINGS), read_metrics(model)
    if len(metrics) < settings.epochs:
        return  # its training goes on
    note = Trained(
        arch=settings.arch,
        epochs=len(metrics),
        seconds=sum(one.seconds for one in metrics),
        noisy_accuracy=metrics[-1].noisy_accuracy if metrics else None,
        weights_sha256=hashlib.sha256((model / WEIGHTS).read_bytes()).hexdigest(),
    )
    file = folder / f"{model.name}.json"
    if file.exists():
        if read_simulation(file, Trained).weights_sha256 != note.weights_sha256:
            raise RunError(f"{model}: other weights than those behind the runs that are packed already")
        return  # trained again to go on: the first note tells the time
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(file, (note.model_dump_json() + "\n").encode())


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def main(words: list[str]) -> int:
    """Do what the words say; the exit code."""
    if words[:1] == ["pack"] and len(words) == 2:
        size = pack(Path(words[1]))
        sys.stdout.write(f"results: {size / 1e6:.1f} MB\n")
        if size > MOST_BYTES:
            sys.stderr.write(f"results: expected at most {MOST_BYTES / 1e6:.0f} MB in a repository\n")
            return 1
    elif words == ["figures"]:
        undrawn = draw()
        sys.stdout.write(f"not drawn, for want of runs: {', '.join(undrawn) or 'none'}\n")
    elif words == ["audit"]:
        problems = audit()
        sys.stdout.write("\n".join([*problems, f"{len(problems)} sound records are not confirmed"]) + "\n")
        return 1 if problems else 0
    elif words:
        sys.stderr.write("expected nothing, figures, pack OUT, or audit\n")
        return 2
    kept = evidence()
    PAGE.write_text(page(kept))
    README.write_text(readme(README.read_text(), kept))
    for name in filter(kept.has_figure, FIGURES):
        _copy(kept.figure(name), PAGE.parent / image_of(name))
    sys.stdout.write(f"wrote {PAGE.name} and the tables of {README.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
