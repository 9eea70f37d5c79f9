"""`doublebubble predict`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doublebubble.cli.model_options import (
    ARCH_HELP,
    BATCH_HELP,
    DEVICE_HELP,
    GRID_HELP,
    MODEL_HELP,
    NOISE_HELP,
    WEIGHTS_HELP,
    chosen_device,
    chosen_noise,
    spoken_warnings,
)
from doublebubble.errors import InputError, SettingError
from doublebubble.printable import printable

if TYPE_CHECKING:
    from torch import Tensor

    from doublebubble.data import DatasetInfo
    from doublebubble.models.loading import About

_EXAMPLE = """Name the class of images as the smoothed classifier does, or abstain.

With probability at least 1 - alpha over the draws, the class named for an image is the one that most
noisy copies of it get. Draws are made until that is clear, n at most. Images are read as 8-bit pixels;
they must have the size that the model takes.

Example: [bold]doublebubble predict --model digits-0.5 --sigma 0.5 three.png seven.png[/bold]
"""


def predict(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE...", help="Image files.")],
    model: Annotated[str, typer.Option(help=MODEL_HELP)],
    sigma: Annotated[float, typer.Option(help="Noise scale, in units of [0, 1] pixels.")],
    weights: Annotated[Path | None, typer.Option(help=WEIGHTS_HELP)] = None,
    arch: Annotated[str | None, typer.Option(help=ARCH_HELP)] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Whose shape and classes the model has (default: as in the model's folder).")
    ] = None,
    n: Annotated[int, typer.Option(help="Most draws for each image.")] = 1000,
    alpha: Annotated[float, typer.Option(help="Error probability for each image.")] = 0.001,
    noise: Annotated[str, typer.Option(help=NOISE_HELP)] = "gaussian",
    grid: Annotated[int | None, typer.Option(help=GRID_HELP)] = None,
    seed: Annotated[int, typer.Option(help="Names the random numbers.")] = 0,
    batch_size: Annotated[int | None, typer.Option(help=BATCH_HELP)] = None,
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per image.")] = False,
) -> None:
    """Predict; the text shown to users is above."""
    from doublebubble.models.loading import load_classifier
    from doublebubble.smoothing import Input, SmoothedClassifier
    from doublebubble.types import ABSTAIN

    about = _about(model, dataset)
    classifier = load_classifier(model, about.shape, len(about.classes), about.mean, about.std, weights, arch)
    inputs = [_read(path, about.shape) for path in images]
    smoothed = SmoothedClassifier(
        classifier.to(chosen_device(device)),
        sigma,
        len(about.classes),
        batch_size=batch_size,
        input_shape=about.shape,
        noise=chosen_noise(noise),
        grid=grid,
    )
    with spoken_warnings():
        found = smoothed.predictions([Input(index, x) for index, x in enumerate(inputs)], n, alpha, seed=seed)
    for path, one in zip(images, found, strict=True):
        name = None if one.label == ABSTAIN else about.classes[one.label]
        if as_json:
            shown = {"image": str(path), "prediction": one.label, "class": name, "n": n, "alpha": alpha}
            typer.echo(json.dumps({**shown, "draws": one.draws}))
        else:
            typer.echo(printable(f"{path}: {'abstained' if name is None else f'{name} (class {one.label})'}"))


predict.__doc__ = _EXAMPLE


def _about(model: str, dataset: str | None) -> "DatasetInfo | About":
    """Shape, classes and normalisation, from the data set named or from the model's own folder."""
    from doublebubble.data import dataset_info, load_dataset
    from doublebubble.models import about_model

    if dataset is not None:
        return load_dataset(dataset, "test").info if dataset.startswith("folder:") else dataset_info(dataset)
    if (own := about_model(model)) is not None:
        return own
    raise SettingError(f"dataset: expected one, since {model} does not say what shape and classes it has")


def _read(path: Path, shape: tuple[int, int, int]) -> "Tensor":
    import torch

    from doublebubble.data import to_unit
    from doublebubble.data.folders import read_images

    pixels = read_images([path], None, "RGB" if shape[0] == 3 else "as found")[0]
    if pixels.shape != shape:
        raise InputError(f"{path}: expected an image of shape {shape} (channels, height, width), got {pixels.shape}")
    return to_unit(torch.from_numpy(pixels), 255)
