"""`doublebubble plan`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from doublebubble.cli.certify import sequential_settings
from doublebubble.cli.model_options import (
    ARCH_HELP,
    BATCH_HELP,
    DEVICE_HELP,
    MODEL_HELP,
    WEIGHTS_HELP,
    chosen_device,
    load_for,
    spoken_warnings,
)

_EXAMPLE = """What will a certification cost, and what will come of it? A forecast, no guarantee.

A hundred draws on some of the inputs tell the draws, the time and the certified accuracy to expect at
each radius, with as many draws as that needs and with n of them. Nothing is written.

Example: [bold]doublebubble plan --model digits-0.5 --dataset digits --sigma 0.5 --radii 0.25,0.5[/bold]
"""


def plan(
    model: Annotated[str, typer.Option(help=MODEL_HELP)],
    dataset: Annotated[str, typer.Option(help="A name from `doublebubble data list`, or folder:PATH.")],
    sigma: Annotated[float, typer.Option(help="Noise scale, in units of [0, 1] pixels.")],
    radii: Annotated[str, typer.Option(metavar="R,R,...", help="The radii to look at.")] = "0.25,0.5,0.75,1",
    indices: Annotated[str, typer.Option(metavar="A:B:STEP", help="Which inputs are to be certified.")] = ":",
    inputs: Annotated[int, typer.Option(help="How many of them to try.")] = 100,
    draws: Annotated[int, typer.Option(help="Draws on each of those.")] = 100,
    n: Annotated[int, typer.Option(help="A fixed number of draws to compare with.")] = 10_000,
    alpha: Annotated[float, typer.Option(help="Error probability.")] = 0.001,
    max_draws: Annotated[int, typer.Option(help="Most draws for one input.")] = 100_000,
    beta: Annotated[float, typer.Option(help="Probability of giving up on a radius in reach.")] = 0.05,
    data_dir: Annotated[Path | None, typer.Option(help="Where data sets lie (default: DOUBLEBUBBLE_DATA).")] = None,
    weights: Annotated[Path | None, typer.Option(help=WEIGHTS_HELP)] = None,
    arch: Annotated[str | None, typer.Option(help=ARCH_HELP)] = None,
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
    batch_size: Annotated[int | None, typer.Option(help=BATCH_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")] = False,
) -> None:
    """Plan; the text shown to users is above."""
    from doublebubble.data import load_dataset
    from doublebubble.facade import plan as forecast

    data = load_dataset(dataset, "test", data_dir)
    with spoken_warnings():
        found = forecast(
            load_for(model, weights, data, arch),
            data,
            sigma,
            inputs=inputs,
            draws=draws,
            indices=indices,
            device=chosen_device(device),
            batch_size=batch_size,
            n=n,
            alpha=alpha,
            **sequential_settings(radii, None, max_draws, beta),
        )
    if as_json:
        shown = {**asdict(found), "seconds": found.seconds, "seconds_at_n": found.seconds_at_n}
        typer.echo(json.dumps(shown))
    else:
        typer.echo(repr(found))


plan.__doc__ = _EXAMPLE
