"""The inputs that a run was made with, where they are at hand, to verify its records again."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

from doublebubble.data import Split, load_dataset
from doublebubble.errors import DataError, SettingError
from doublebubble.facade.sources import Data, Source, source_of
from doublebubble.runs.spec import RunSpec, Spec

if TYPE_CHECKING:
    from doublebubble.audit.reverify import Inputs


def inputs_of(spec: Spec, data: Data | None = None, data_dir: Path | None = None) -> "tuple[Inputs | None, str]":
    """The inputs of a run by their index, or None and a sentence that says why not: other data never stand for its."""
    if not isinstance(spec, RunSpec):
        return None, ""
    source: Source
    try:
        source = source_of(
            load_dataset(spec.dataset, cast("Split", spec.split), data_dir) if data is None else data, spec.domain
        )
    except (DataError, SettingError) as error:
        return None, f"the inputs are not at hand: {error}"
    if source.digest() != spec.data_digest:
        return None, f"the inputs are not at hand: this {spec.dataset} is not the one that the run was made with"
    return lambda index: source.input(index).x.double().numpy(), ""
