"""`doublebubble audit`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doublebubble.cli.attacking import attack_with, attacks_json, by_index, show_attacks
from doublebubble.cli.coverage import DRAWS, REPETITIONS, audit_coverage
from doublebubble.cli.model_options import ARCH_HELP, DEVICE_HELP, GRADIENT_HELP, MODEL_HELP, WEIGHTS_HELP
from doublebubble.errors import SettingError
from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from doublebubble.audit.reverify import Confirmation
    from doublebubble.runs.attacks import Attacked

_EXAMPLE = """Compute every radius of a run again from what its records store, and name those that do not follow.

In fifty digits, by code that shares nothing with the code that made them. What is taken on trust: that
the votes were cast as they are stored, and the labels where the data are not at hand. With --attack, also
look for the nearest point of the domain where another class is likelier: confirmed by fresh draws at 1e-6,
its distance is an upper bound beside each certified radius. Exits 1 if a record is not confirmed, or a
success lies inside a guaranteed radius.

Without a run, [bold]doublebubble audit --coverage --out coverage[/bold] shows how often certificates of classifiers
whose truth is known claim too much, against alpha, judged by an exact binomial test. Exits 1 if a method
of protocol sound misses more often than it may.

Example: [bold]doublebubble audit run --attack --model digits-0.5 --indices 0:3[/bold]
"""
_ATTACK = "Attack"


def audit(
    path: Annotated[Path | None, typer.Argument(metavar="RUN", help="Folder of a run.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where data sets lie, for the inputs (default: DOUBLEBUBBLE_DATA).")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Instead of a run, audit the methods on classifiers with a known truth.")
    ] = False,
    methods: Annotated[str, typer.Option(help="For --coverage: a list with commas.")] = "all",
    alphas: Annotated[str, typer.Option(help="For --coverage: levels with commas.")] = "0.5,0.2,0.1,0.05,0.01",
    repetitions: Annotated[
        int, typer.Option(min=1, help="For --coverage: certificates for each point and level.")
    ] = REPETITIONS,
    draws: Annotated[int, typer.Option(min=10, help="For --coverage: certify draws of each.")] = DRAWS,
    tight: Annotated[
        bool, typer.Option("--tight", help="For --coverage: only points where the method's bound is nearly tight.")
    ] = False,
    paper: Annotated[bool, typer.Option(help="For --coverage: protocol paper beside it.")] = True,
    out: Annotated[
        Path | None, typer.Option(help="For --coverage: folder for the figure and the numbers.", show_default=False)
    ] = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Attack the certificates too; again = resume.", rich_help_panel=_ATTACK)
    ] = False,
    model: Annotated[str | None, typer.Option(help=MODEL_HELP, rich_help_panel=_ATTACK)] = None,
    weights: Annotated[Path | None, typer.Option(help=WEIGHTS_HELP, rich_help_panel=_ATTACK)] = None,
    arch: Annotated[str | None, typer.Option(help=ARCH_HELP, rich_help_panel=_ATTACK)] = None,
    indices: Annotated[
        str, typer.Option(metavar="A:B:STEP", help="Which of the run's inputs to attack.", rich_help_panel=_ATTACK)
    ] = ":",
    n: Annotated[int, typer.Option(help="Fresh draws that confirm a success.", rich_help_panel=_ATTACK)] = 20_000,
    steps: Annotated[int, typer.Option(help="Gradient steps from each start.", rich_help_panel=_ATTACK)] = 8,
    restarts: Annotated[int, typer.Option(help="Starts at each radius.", rich_help_panel=_ATTACK)] = 3,
    step_draws: Annotated[int, typer.Option(help="Draws of each step.", rich_help_panel=_ATTACK)] = 128,
    reach: Annotated[
        float, typer.Option(help="How far beyond the radius to look, in sigmas.", rich_help_panel=_ATTACK)
    ] = 4.0,
    gradient: Annotated[str | None, typer.Option(help=GRADIENT_HELP, rich_help_panel=_ATTACK)] = None,
    seed: Annotated[int, typer.Option(help="Names the attack's random numbers.", rich_help_panel=_ATTACK)] = 0,
    device: Annotated[str, typer.Option(help=DEVICE_HELP, rich_help_panel=_ATTACK)] = "auto",
) -> None:
    """Audit; the text shown to users is above."""
    if coverage == (path is not None):
        raise SettingError("audit: expected either the folder of a run or --coverage")
    if path is None:
        audit_coverage(methods, alphas, repetitions, draws, tight, paper, out, as_json)
        return
    from doublebubble.audit.reverify import reverify_run
    from doublebubble.facade.auditing import inputs_of
    from doublebubble.report.attacks import refuted
    from doublebubble.runs.attacks import AttackSettings
    from doublebubble.runs.store import read_run

    if attack != (model is not None):
        raise SettingError("attack: expected --attack and --model together, for the model of the run is attacked")
    settings: dict[str, Any] = {"n": n, "steps": steps, "restarts": restarts, "draws": step_draws, "reach": reach}
    settings |= {"seed": seed} if gradient is None else {"gradient": gradient, "seed": seed}
    console = Terminal()
    run = read_run(path)
    inputs, trouble = inputs_of(run.spec, data_dir=data_dir)
    verdicts = reverify_run(run, inputs)
    used = {record.index: record.method or "none" for record in run.records}
    failing = [verdict for verdict in verdicts if not verdict.confirmed]
    if not as_json:
        _show(console, [(used[v.index], v.outcome) for v in verdicts])
        if trouble:
            console.print(trouble)
        for verdict in failing:
            console.print(f"input {verdict.index}: {verdict.outcome.value}: {verdict.sentence}")
        console.print(f"{len(verdicts) - len(failing)} of {len(verdicts)} records confirmed")
    attacks: tuple[Attacked, ...] = ()
    if model is not None:
        attacks = attack_with(
            console,
            run,
            AttackSettings(**settings),
            model=model,
            weights=weights,
            arch=arch,
            device=device,
            data_dir=data_dir,
            indices=indices,
            quiet=as_json,
        )
    if attack and not as_json:
        show_attacks(console, run, attacks)
    if as_json:
        listed = [
            {"index": v.index, "method": used[v.index], "outcome": v.outcome.value, "sentence": v.sentence}
            for v in verdicts
        ]
        told = {"confirmed": not failing, "trouble": trouble, "records": listed}
        typer.echo(json.dumps({**told, "attacks": attacks_json(run, attacks)} if attack else told))
    records = by_index(run)
    if failing or any(refuted(one, records[one.index]) for one in attacks):
        raise typer.Exit(1)


audit.__doc__ = _EXAMPLE


def _show(console: Terminal, found: "Sequence[tuple[str, Confirmation]]") -> None:
    """How many records of each method ended how."""
    from rich.table import Table

    from doublebubble.audit.reverify import Confirmation

    seen = [outcome for outcome in Confirmation if any(ended is outcome for _, ended in found)]
    table = Table("method", *(outcome.value for outcome in seen))
    for method in sorted({method for method, _ in found}):
        table.add_row(method, *(str(found.count((method, outcome))) for outcome in seen))
    console.print(table)
