"""The networks behind the page of claims: how each was trained, how good it is, and the digest of its weights."""

from collections.abc import Iterator

from doublebubble.errors import RunError
from doublebubble.reproduce.evidence import Evidence, Trained
from doublebubble.reproduce.laboratory import model_name
from doublebubble.reproduce.macer import equal_time_study
from doublebubble.reproduce.scales import Scale, Study
from doublebubble.training import preset
from doublebubble.types import TrainMethod

_HEAD = """## The networks

Accuracy is that under noise on training images that were held out. Weights are not kept; the commands below the table
train them again, at each sigma; where sums are added in the same order they have the same digest to the bit
([how to see to that](reproduce.md#results-that-are-kept)), elsewhere they are other weights of much the same accuracy.
*Processor*: those of its runs; *file*: how the SHA-256 of model.safetensors begins; *model*: how the digest begins by
which runs name it.

| network | architecture | epochs | accuracy under noise | processor | file | model |
|---|---|---|---|---|---|---|
"""
_DIGITS = 16  # of a digest: enough to tell weights apart


def networks_section(evidence: Evidence) -> str:
    """A table of all networks that were trained, and the commands that trained them; empty if none was."""
    rows, commands = [], dict[str, None]()
    for study, method, sigma in trainings(evidence.scale):
        name = model_name(study, method, sigma)
        note = evidence.trained(name)
        if note is not None:
            planned = preset(study.dataset, method, sigma, **evidence.scale.recipe(study, method)).epochs
            if note.epochs != planned:
                raise RunError(f"{name}: expected {planned} epochs, as its scale says, got {note.epochs}")
            rows.append(_row(name, note, evidence.certified_with(name)))
            commands[command(evidence.scale, study, method)] = None
    if not rows:
        return ""
    return _HEAD + "".join(rows) + "\n```\n" + "".join(f"{line}\n" for line in commands) + "```\n"


def trainings(scale: Scale) -> Iterator[tuple[Study, TrainMethod, float]]:
    """All networks of a scale: those of its studies, then MACER's and that of Gaussian training of equal time."""
    for study in scale.studies:
        for sigma in study.sigmas:
            yield study, "gaussian", sigma
    compared = scale.study(scale.macer)
    for sigma in compared.curves:
        yield compared, "macer", sigma
    if scale.equal_time_epochs:
        for sigma in compared.curves:
            yield equal_time_study(scale, compared), "gaussian", sigma


def command(scale: Scale, study: Study, method: TrainMethod) -> str:
    """The command that trains a study's networks; SIGMA stands for the noise."""
    recipe = "".join(f" --{name.replace('_', '-')} {value}" for name, value in scale.recipe(study, method).items())
    out = model_name(study, method, 0).removesuffix("0")
    return f"doublebubble train --dataset {study.dataset} --method {method} --sigma SIGMA{recipe} --out {out}SIGMA"


def _row(name: str, note: Trained, runs: tuple[str, list[str]] | None) -> str:
    accuracy = "-" if note.noisy_accuracy is None else f"{note.noisy_accuracy:.3f}"
    digest, device = ("-", "-") if runs is None else (f"`{runs[0][:_DIGITS]}`", ", ".join(runs[1]))
    cells = [name, note.arch, str(note.epochs), accuracy, device, f"`{note.weights_sha256[:_DIGITS]}`", digest]
    return f"| {' | '.join(cells)} |\n"
