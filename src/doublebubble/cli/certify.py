"""`doublebubble certify`."""

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doublebubble import registry
from doublebubble.cli.config_files import CONFIG_HELP, SAVE_HELP, read_config, save_config
from doublebubble.cli.model_options import (
    ARCH_HELP,
    BATCH_HELP,
    DEVICE_HELP,
    GRADIENT_HELP,
    GRID_HELP,
    MODEL_HELP,
    NOISE_HELP,
    WEIGHTS_HELP,
    chosen_device,
    chosen_noise,
    load_for,
    spoken_warnings,
)
from doublebubble.errors import SettingError
from doublebubble.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from doublebubble.facade.chosen_program import Auto
    from doublebubble.runs.record import Record

_EXAMPLE = """Certify inputs of a data set: how far can each be moved before the classifier may change its mind?

Every outcome is written to the folder RUN at once. Whatever stops the command, the same command
again resumes it, and the records are those of an uninterrupted run.

Example: [bold]doublebubble certify --model digits-0.5 --dataset digits --sigma 0.5 --indices 0:5 --out run[/bold]
"""

METHODS_HELP = f"auto: the best, chosen per input; all: each of them; or some of {', '.join(registry.listed())}."
_LEVEL = "How surely"
_ENGINE = "Where it runs"
_FEW = "As few draws as needed, in place of n and n0"


def complete_methods(incomplete: str) -> list[str]:
    """The methods that go on what was typed so far, after the last comma."""
    before, comma, begun = incomplete.rpartition(",")
    known = (*registry.names(), *(() if comma else (registry.AUTO, "all")))
    return [f"{before}{comma}{name}" for name in known if name.startswith(begun)]


def sequential_settings(
    radii: str | None, precision: float | None, max_draws: int | None, beta: float | None
) -> dict[str, Any]:
    """What was asked for of sampling that stops by itself; what was not given is left to the settings."""
    from doublebubble.report.radii import parse_radii

    given = {"radii": parse_radii(radii), "precision": precision, "max_draws": max_draws, "beta": beta}
    return {name: value for name, value in given.items() if value is not None}


def chosen_rows(batch_size: str | None) -> "int | Auto | None":
    """The micro-batch asked for: a number, or `auto`."""
    if batch_size is None or batch_size == "auto":
        return "auto" if batch_size else None
    try:
        return int(batch_size)
    except ValueError:
        raise SettingError(f"batch-size: expected a whole number of at least 2, or auto, got {batch_size!r}") from None


def paper_settings(protocol: str, thrifty: bool) -> dict[str, Any]:
    """The thrifty form of protocol paper, if it was asked for."""
    from doublebubble.config import PaperSearch

    if thrifty and protocol != "paper":
        raise SettingError(f"thrifty: expected protocol paper, whose search it shortens, got {protocol}")
    return {"paper": PaperSearch.thrifty()} if thrifty else {}


def certify(
    context: typer.Context,
    model: Annotated[str, typer.Option(help=MODEL_HELP)],
    dataset: Annotated[str, typer.Option(help="A name from `doublebubble data list`, or folder:PATH.")],
    sigma: Annotated[float, typer.Option(help="Noise scale, in units of [0, 1] pixels.")],
    out: Annotated[Path, typer.Option(metavar="RUN", help="Folder of the run; an existing run is resumed.")],
    indices: Annotated[
        str, typer.Option(metavar="A:B:STEP", help="Which inputs: 0:10000:20 or 3,7. Others are added later.")
    ] = ":",
    data_dir: Annotated[Path | None, typer.Option(help="Where data sets lie (default: DOUBLEBUBBLE_DATA).")] = None,
    classes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="All the model's classes in its order, one per line, for folder:PATH."),
    ] = None,
    weights: Annotated[Path | None, typer.Option(help=WEIGHTS_HELP)] = None,
    arch: Annotated[str | None, typer.Option(help=ARCH_HELP)] = None,
    methods: Annotated[str, typer.Option(help=METHODS_HELP, autocompletion=complete_methods)] = registry.AUTO,
    gradient: Annotated[str | None, typer.Option(help=GRADIENT_HELP)] = None,
    noise: Annotated[str, typer.Option(help=NOISE_HELP, rich_help_panel=_LEVEL)] = "gaussian",
    grid: Annotated[int | None, typer.Option(help=GRID_HELP, rich_help_panel=_LEVEL)] = None,
    seed: Annotated[int, typer.Option(help="Names every random number of the run.")] = 0,
    n: Annotated[int, typer.Option(help="Draws that certify one input.", rich_help_panel=_LEVEL)] = 10_000,
    n0: Annotated[int, typer.Option(help="Draws that select its class first.", rich_help_panel=_LEVEL)] = 500,
    radii: Annotated[
        str | None,
        typer.Option(
            metavar="R,R,...", help="Decide these radii, with as many draws as that needs.", rich_help_panel=_FEW
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(help="Find the radius to this part of itself, such as 0.02.", rich_help_panel=_FEW),
    ] = None,
    max_draws: Annotated[
        int | None, typer.Option(help="Most draws for one input (default: 100000).", rich_help_panel=_FEW)
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(help="Probability of giving up on a radius in reach (default: 0.05).", rich_help_panel=_FEW),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help="Error probability (default: 0.001, under paper 0.05).", rich_help_panel=_LEVEL),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="sound, or paper: as published, no guarantee.", rich_help_panel=_LEVEL)
    ] = "sound",
    thrifty: Annotated[
        bool,
        typer.Option(
            "--thrifty",
            help="Under paper: search by few fixed draws, then confirm by n. Several times faster, no guarantee.",
            rich_help_panel=_LEVEL,
        ),
    ] = False,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Let alpha hold for the whole data set.", rich_help_panel=_LEVEL)
    ] = False,
    engine: Annotated[str, typer.Option(help="local or ray.", rich_help_panel=_ENGINE)] = "local",
    workers: Annotated[int, typer.Option(help="Workers of the ray engine.", rich_help_panel=_ENGINE)] = 1,
    address: Annotated[
        str | None, typer.Option(help="Existing Ray cluster (default: start one here).", rich_help_panel=_ENGINE)
    ] = None,
    gpus_per_worker: Annotated[
        float, typer.Option(help="Part of a GPU that each ray worker takes.", rich_help_panel=_ENGINE)
    ] = 0.0,
    device: Annotated[str, typer.Option(help=DEVICE_HELP, rich_help_panel=_ENGINE)] = "auto",
    batch_size: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS|auto",
            help=f"{BATCH_HELP[:-1]}; auto: the fastest, measured once; part of the run's identity.",
            rich_help_panel=_ENGINE,
        ),
    ] = None,
    program: Annotated[
        str,
        typer.Option(
            help="How the model is prepared: eager, parts of folded+channels_last+compiled+bfloat16, or auto: the "
            "fastest, measured once; part of the run's identity.",
            rich_help_panel=_ENGINE,
        ),
    ] = "eager",
    centres: Annotated[
        bool, typer.Option("--centres/--no-centres", help="Store what re-verification needs besides the inputs.")
    ] = True,
    config_file: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help=CONFIG_HELP, is_eager=True, callback=read_config),
    ] = None,
    save_config_file: Annotated[Path | None, typer.Option("--save-config", metavar="FILE", help=SAVE_HELP)] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what to expect, as `plan` does, and certify nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end, nothing else.")] = False,
) -> None:
    """Certify; the text shown to users is above."""
    from doublebubble.cli.run_summaries import runs_json, show_runs
    from doublebubble.config import CertifyConfig
    from doublebubble.data import load_dataset, read_classes
    from doublebubble.facade.chosen_program import AUTO, named_program
    from doublebubble.facade.job import make_job
    from doublebubble.facade.loop import Place, perform, prepare
    from doublebubble.facade.progress import certifying_progress
    from doublebubble.models import model_classes

    if save_config_file is not None:
        save_config(context, save_config_file)
    settings: dict[str, Any] = {"n": n, "n0": n0, "protocol": protocol, "seed": seed}
    settings["methods"] = tuple(methods.replace(",", " ").split())
    settings |= {} if alpha is None else {"alpha": alpha}
    settings |= {} if gradient is None else {"gradient": gradient}
    settings |= paper_settings(protocol, thrifty)
    settings |= sequential_settings(radii, precision, max_draws, beta)
    config = CertifyConfig(**settings)
    listed = None if classes is None else read_classes(classes)
    data = load_dataset(dataset, "test", data_dir, classes=listed, model_classes=model_classes(model))
    with spoken_warnings():
        job = make_job(
            load_for(model, weights, data, arch),
            data,
            sigma,
            config,
            indices=indices,
            batch_size=chosen_rows(batch_size),
            device=chosen_device(device),
            program=named_program(program),
            simultaneous=simultaneous,
            centres=centres,
            noise=chosen_noise(noise),
            grid=grid,
            out=out,
        )
    if dry_run:
        from doublebubble.facade.planning import forecast

        typer.echo(repr(forecast(job)))
        return
    console = Terminal()
    silent = quiet or as_json
    total = len(job.spec.index_list)
    if AUTO in (program, batch_size) and not silent:
        console.print(f"program {job.spec.program}, micro-batches of {job.spec.batch_size}")

    @contextlib.contextmanager
    def watching(earlier: "list[Record]", total: int) -> "Iterator[Callable[[Record], None]]":
        # Ray prints the death of a worker on stdout, which belongs to the JSON or to nobody.
        aside = contextlib.redirect_stdout(sys.stderr) if silent else contextlib.nullcontext()
        if earlier and not silent:
            console.print(f"resuming {out}: {len(earlier)} of {total} inputs are done")
        with aside, certifying_progress(console, earlier, total, silent) as watcher:
            yield watcher

    with spoken_warnings():
        store, chosen = prepare(job, out, Place(engine, workers, address, gpus_per_worker))
    try:
        with spoken_warnings():
            done = perform(job, store, watching, chosen)
        if not done and not silent:
            console.print(f"nothing to do in {out}: {total} of {total} inputs are done")
    except KeyboardInterrupt:
        Terminal(stderr=True).print(
            f"interrupted: {out} holds {len(store.records)} of {total} inputs; the same command resumes it"
        )
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(runs_json([store.run()])[0]))
    elif not quiet:
        show_runs(console, [store.run()])


certify.__doc__ = _EXAMPLE
