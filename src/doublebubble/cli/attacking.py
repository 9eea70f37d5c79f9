"""What `doublebubble audit --attack` runs and prints."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from doublebubble.cli.model_options import chosen_device, load_for, spoken_warnings
from doublebubble.errors import RunError
from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doublebubble.runs.attacks import Attacked, AttackSettings
    from doublebubble.runs.record import Record
    from doublebubble.runs.store import StoredRun


def attack_with(
    console: Terminal,
    run: "StoredRun",
    settings: "AttackSettings",
    *,
    model: str,
    weights: Path | None,
    arch: str | None,
    device: str,
    data_dir: Path | None,
    indices: str,
    quiet: bool,
) -> "tuple[Attacked, ...]":
    """Attack a run with its own model and data, with progress; an interruption says that the same command resumes."""
    from doublebubble.cli.progress_bars import points_progress
    from doublebubble.data import Split, load_dataset
    from doublebubble.facade.attacking import attack_run
    from doublebubble.runs.attacks import stored_attacks
    from doublebubble.runs.spec import RunSpec

    if not isinstance(run.spec, RunSpec):
        raise RunError(f"{run.path}: was imported, so there is neither a model nor data to attack it with")
    split: Split = "train" if run.spec.split == "train" else "test"
    data = load_dataset(run.spec.dataset, split, data_dir, classes=run.spec.classes)
    classifier = load_for(model, weights, data, arch).to(chosen_device(device))
    shown = Terminal(stderr=True) if quiet else console
    try:
        with spoken_warnings(), points_progress(shown, "attacking", "inputs") as seen:
            return attack_run(run, classifier, settings, data=data, indices=indices, seen=seen)
    except KeyboardInterrupt:
        Terminal(stderr=True).print(
            f"interrupted: {run.path} holds attacks on {len(stored_attacks(run))} inputs; the same command resumes",
        )
        raise typer.Exit(1) from None


def show_attacks(console: Terminal, run: "StoredRun", attacks: "Sequence[Attacked]") -> None:
    """A row for each input attacked, a sentence for each success inside the radius, and all in one sentence."""
    from doublebubble.report.attacks import attack_sentence, attack_summary
    from doublebubble.report.facts import mark
    from doublebubble.runs.record import radius_text

    beside = f" ({mark(run)})" if mark(run) else ""
    table = Table("input", "class", f"certified radius{beside}", "attacked at", "rival", "gap", "times the radius")
    for one in attacks:
        found = ("-", "-", "-", "-")
        if one.distance is not None and one.gap is not None:
            found = (f"{one.distance:.6f}", str(one.rival), f"{one.gap:.4f}", f"{one.distance / one.radius:.2f}")
        table.add_row(str(one.index), str(one.prediction), radius_text(one.radius), *found)
    console.print(table)
    records = by_index(run)
    for one in attacks:
        if one.inside:
            console.print(f"input {one.index}: {attack_sentence(one, records[one.index])}")
    console.print(attack_summary(attacks))


def attacks_json(run: "StoredRun", attacks: "Sequence[Attacked]") -> list[dict[str, object]]:
    """What `show_attacks` shows, for programs."""
    from doublebubble.report.attacks import attack_sentence

    records = by_index(run)
    return [
        {
            **one.model_dump(mode="json", exclude={"point"}),
            "inside": one.inside,
            "gap": one.gap,
            "sentence": attack_sentence(one, records[one.index]),
        }
        for one in attacks
    ]


def by_index(run: "StoredRun") -> "dict[int, Record]":
    """The records of a run by their input."""
    return {record.index: record for record in run.records}
