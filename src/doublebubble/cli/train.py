"""`doublebubble train`."""

from pathlib import Path
from typing import Annotated

import typer

from doublebubble.cli.model_options import DEVICE_HELP, chosen_device
from doublebubble.terminal import Terminal
from doublebubble.types import TRAIN_METHODS

_RECIPE = "Recipe (default: as published for the data set and method)"

_METHOD_HELP = f"{', '.join(TRAIN_METHODS[:-1])}, or {TRAIN_METHODS[-1]}: for a classifier that never saw noise."


def complete_method(incomplete: str) -> list[str]:
    """The ways of training that go on what was typed so far."""
    return [name for name in TRAIN_METHODS if name.startswith(incomplete)]


def train(
    out: Annotated[Path, typer.Option(help="Folder for the model, its checkpoints and metrics.")],
    sigma: Annotated[float, typer.Option(help="Noise scale, in units of [0, 1] pixels.")],
    dataset: Annotated[str, typer.Option(help="A name from `doublebubble data list`, or folder:PATH.")] = "digits",
    method: Annotated[str, typer.Option(help=_METHOD_HELP, autocompletion=complete_method)] = "gaussian",
    data_dir: Annotated[Path | None, typer.Option(help="Where data sets lie (default: DOUBLEBUBBLE_DATA).")] = None,
    resume: Annotated[bool, typer.Option(help="Go on where an interrupted run stopped, or begin again.")] = True,
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
    seed: Annotated[int, typer.Option(help="Names every random number of the run.")] = 0,
    arch: Annotated[str | None, typer.Option(help="Architecture.", rich_help_panel=_RECIPE)] = None,
    epochs: Annotated[int | None, typer.Option(rich_help_panel=_RECIPE)] = None,
    batch_size: Annotated[int | None, typer.Option(rich_help_panel=_RECIPE)] = None,
    optimiser: Annotated[str | None, typer.Option(help="adam or sgd.", rich_help_panel=_RECIPE)] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate, the highest.", rich_help_panel=_RECIPE)] = None,
    momentum: Annotated[float | None, typer.Option(help="Of sgd.", rich_help_panel=_RECIPE)] = None,
    weight_decay: Annotated[float | None, typer.Option(rich_help_panel=_RECIPE)] = None,
    schedule: Annotated[str | None, typer.Option(help="constant, steps or one-cycle.", rich_help_panel=_RECIPE)] = None,
    milestones: Annotated[
        str | None, typer.Option(help="Epochs after which `steps` divides by 10: 30,60.", rich_help_panel=_RECIPE)
    ] = None,
    size: Annotated[int | None, typer.Option(help="Resize image files to a square.", rich_help_panel=_RECIPE)] = None,
    augment: Annotated[str | None, typer.Option(help="none, shift or flip-crop.", rich_help_panel=_RECIPE)] = None,
    holdout: Annotated[
        int | None,
        typer.Option(help="Training images kept to choose the best epoch (a tenth at most).", rich_help_panel=_RECIPE),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="MACER, consistency: draws per image.", rich_help_panel=_RECIPE)
    ] = None,
    lam: Annotated[
        float | None,
        typer.Option(help="Weight of MACER's radius, or of consistency's divergence.", rich_help_panel=_RECIPE),
    ] = None,
    gamma: Annotated[float | None, typer.Option(help="MACER: hinge.", rich_help_panel=_RECIPE)] = None,
    beta: Annotated[float | None, typer.Option(help="MACER: inverse temperature.", rich_help_panel=_RECIPE)] = None,
    eta: Annotated[float | None, typer.Option(help="Consistency: weight of entropy.", rich_help_panel=_RECIPE)] = None,
    classifier: Annotated[
        str | None,
        typer.Option(help="Denoiser: the model that it is for, as certify takes it.", rich_help_panel=_RECIPE),
    ] = None,
    stability: Annotated[
        float | None, typer.Option(help="Denoiser: weight of that model's cross entropy.", rich_help_panel=_RECIPE)
    ] = None,
) -> None:
    """Train a classifier that keeps its mind under Gaussian noise, or a denoiser for one that does not.

    Without further options the recipe is the one published for the data set and method. The same command again resumes
    a run that was interrupted, exactly.

    Example: [bold]doublebubble train --dataset mnist --arch lenet --sigma 0.5 --method gaussian --out mnist-0.5[/bold]
    """
    from doublebubble.cli.progress_bars import training_progress
    from doublebubble.data import load_dataset
    from doublebubble.models.checkpoints import CARD
    from doublebubble.training import accuracies_on_test, noise_left_on_test, preset
    from doublebubble.training import train as run

    settings = preset(
        dataset,
        method,
        sigma,
        arch=arch,
        epochs=epochs,
        batch_size=batch_size,
        optimiser=optimiser,
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        schedule=schedule,
        milestones=None if milestones is None else milestones.split(","),
        size=size,
        augment=augment,
        holdout=holdout,
        seed=seed,
        device=chosen_device(device),
        draws=draws,
        lam=lam,
        gamma=gamma,
        beta=beta,
        eta=eta,
        classifier=classifier,
        stability=stability,
    )
    data = load_dataset(dataset, "train", data_dir, settings.size)
    console = Terminal()
    try:
        with training_progress(console, settings.epochs) as observer:
            run(settings, data, out, observer, resume)
    except KeyboardInterrupt:
        kept = "holds the best model so far" if (out / CARD).exists() else "holds no model yet"
        console.print(f"interrupted: {out} {kept}; the same command goes on from the last epoch")
        raise typer.Exit(1) from None
    if settings.method == "denoiser":
        left = noise_left_on_test(out, data_dir)
        console.print(f"{out}: on the test images noise of {sigma:g} is left as {left:.4f} (root mean square)")
    if settings.method != "denoiser" or classifier is not None:
        clean, noisy = accuracies_on_test(out, data_dir)
        behind = "" if classifier is None else f" of {classifier} behind it"
        console.print(f"{out}: on the test images accuracy{behind} {clean:.4f}, under noise {noisy:.4f}")
