"""The inputs that a run was made with, where they are at hand, to verify its records again."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

from doublebubble.data import Split, load_dataset
from doublebubble.errors import DataError, RunError, SettingError
from doublebubble.facade.sources import Data, Source, source_of
from doublebubble.runs.spec import RunSpec, Spec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from doublebubble.audit.reverify import Inputs


def source_for(spec: RunSpec, data: Data | None = None, data_dir: Path | None = None) -> Source:
    """The inputs of a run, or an error that says why they are not at hand: other data never stand for its."""
    source: Source
    try:
        if data is None:
            data = load_dataset(spec.dataset, cast("Split", spec.split), data_dir, classes=spec.classes)
        source = source_of(data, spec.domain)
    except (DataError, SettingError) as error:
        raise RunError(f"the inputs are not at hand: {error}") from error
    if source.digest() != spec.data_digest:
        raise RunError(f"the inputs are not at hand: this {spec.dataset} is not the one that the run was made with")
    return source


def inputs_of(spec: Spec, data: Data | None = None, data_dir: Path | None = None) -> "tuple[Inputs | None, str]":
    """The inputs of a run and their labels by their index, or None and a sentence that says why not."""
    if not isinstance(spec, RunSpec):
        return None, ""
    try:
        source = source_for(spec, data, data_dir)
    except RunError as error:
        return None, str(error)

    def labelled(index: int) -> "tuple[NDArray[np.floating], int | None]":
        given = source.input(index)
        return given.x.double().numpy(), given.label

    return labelled, ""
