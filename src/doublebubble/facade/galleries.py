"""What do the inputs of runs look like? Their images, where the data are at hand, for the page."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch

from doublebubble.data import DATASETS, Dataset, Split, load_dataset
from doublebubble.errors import DataError, SettingError
from doublebubble.runs.digests import data_digest
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun

if TYPE_CHECKING:
    from doublebubble.report.page import Gallery


def galleries_of(runs: Sequence[StoredRun], data_dir: Path | None) -> "tuple[dict[str, Gallery], list[str]]":
    """By the digest of the data what their inputs look like, and a sentence for each that cannot be shown."""
    specs = {run.spec.data_digest: run.spec for run in runs if isinstance(run.spec, RunSpec)}
    galleries, troubles = {}, []
    for digest, spec in specs.items():
        same = [run for run in runs if isinstance(run.spec, RunSpec) and run.spec.data_digest == digest]
        galleries[digest], trouble = gallery_of(spec, {r.index for run in same for r in run.records}, data_dir)
        troubles += [trouble] if trouble else []
    return galleries, troubles


def gallery_of(spec: RunSpec, indices: set[int], data_dir: Path | None) -> "tuple[Gallery, str]":
    """What the inputs of a run look like, and a sentence if that cannot be shown: other data are never shown as its."""
    from doublebubble.report.page import Gallery

    known = DATASETS[spec.dataset].classes if spec.dataset in DATASETS else ()
    bare = Gallery(spec.classes or (known if len(known) == spec.num_classes else ()))
    if spec.split == "given":
        return bare, f"no thumbnails: the inputs of {spec.dataset} were handed over in Python, and a run keeps none"
    try:
        data = load_dataset(spec.dataset, cast("Split", spec.split), data_dir, classes=spec.classes)
    except (DataError, SettingError) as error:
        return bare, f"no thumbnails: {error}"
    if data_digest(data.pixels, data.labels) != spec.data_digest:
        return bare, f"no thumbnails: the files of {spec.dataset} are not those that the run was made with"
    return _gallery(data, sorted(indices)), ""


def _gallery(data: Dataset, indices: Sequence[int]) -> "Gallery":
    from doublebubble.report.page import Gallery

    images = (data.inputs(torch.tensor(indices)) * 255).round().to(torch.uint8)
    return Gallery(data.info.classes, tuple(indices), images.numpy())
