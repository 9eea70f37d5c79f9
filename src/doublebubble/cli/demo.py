"""`doublebubble demo`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

_EXAMPLE = """Train a small digit classifier under noise, certify 50 digits it has not seen, and draw the curve.

Needs no data and no network. The second time it finds the trained model and only certifies.

Example: [bold]doublebubble demo --out demo-out[/bold]
"""
_RADII = (0.0, 0.25, 0.5, 0.75, 1.0)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model, the table and the figure.")] = Path("demo-out"),
    sigma: Annotated[float, typer.Option(help="Noise scale, in units of [0, 1] pixels.")] = 0.5,
    inputs: Annotated[int, typer.Option(help="How many test digits to certify.", min=1, max=359)] = 50,
) -> None:
    """Run the demo; the docstring shown to users is above."""
    import numpy as np

    from doublebubble import Certifier, CertifyConfig, SmoothedClassifier
    from doublebubble.cli.progress import training_progress
    from doublebubble.data import load_dataset
    from doublebubble.models import load_model
    from doublebubble.report.curve import average_radius, certified_accuracy, counted_radii, draw_curve
    from doublebubble.training import preset, train

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"1. training a small network on scikit-learn's digits under noise of sigma {sigma:g}")
    settings = preset("digits", "gaussian", sigma)
    with training_progress(console, settings.epochs) as observer:
        train(settings, load_dataset("digits", "train"), out / "model", observer)
    model, _ = load_model(out / "model")

    config = CertifyConfig(n=10_000, n0=500)
    console.print(f"2. certifying {inputs} test digits: {config.n:,} draws each, alpha {config.alpha:g}")
    smoothed = SmoothedClassifier(model, sigma, num_classes=10, input_shape=(1, 8, 8))
    certifier = Certifier(smoothed, config)
    test = load_dataset("digits", "test")
    images = test.inputs(slice(0, inputs))
    certificates = [
        certifier.certify(images[index], index=index, label=int(test.labels[index]))
        for index in track(range(inputs), "certifying", console=console, disable=not console.is_terminal)
    ]

    counted = counted_radii(certificates)
    curve = certified_accuracy(counted, np.array(_RADII))
    table = Table(
        "radius", "certified accuracy", "95 % over inputs", title="how many digits keep their class, provably"
    )
    for radius, accuracy, low, high in zip(curve.radii, curve.accuracy, curve.low, curve.high, strict=True):
        table.add_row(f"{radius:.2f}", f"{accuracy:.0%}", f"{low:.0%} to {high:.0%}")
    console.print(table)
    abstained = sum(certificate.abstained for certificate in certificates)
    console.print(f"average certified radius {average_radius(counted):.3f}; {abstained} of {inputs} abstained")
    best = max(certificates, key=lambda certificate: certificate.radius)
    console.print(
        f"for example: digit {best.index} is a {best.prediction}, and no change of L2 size below {best.radius:.3f} "
        f"makes the smoothed classifier say anything else, with confidence {1 - best.alpha:.1%}"
    )
    figure = out / "certified-accuracy.png"
    draw_curve(certificates, figure, "Certified accuracy on scikit-learn's digits")
    console.print(f"3. figure: {figure}")


demo.__doc__ = _EXAMPLE
