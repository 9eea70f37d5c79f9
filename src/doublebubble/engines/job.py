"""A certification run put together: the recipe for the workers, the specification, and the tasks still to do."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from doublebubble.config import CertifyConfig
from doublebubble.data import Dataset
from doublebubble.engines.base import Recipe, Task, in_groups
from doublebubble.errors import RunError, SettingError
from doublebubble.program import Program
from doublebubble.runs.digests import data_digest, device_kind, model_digest, software_versions
from doublebubble.runs.indices import format_indices, parse_indices
from doublebubble.runs.probe import probe
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import RunStore


@dataclass(frozen=True)
class Job:
    """What to certify and how; equal jobs have equal specifications."""

    recipe: Recipe
    spec: RunSpec
    data: Dataset

    def groups(self, store: RunStore) -> Iterator[list[Task]]:
        """The inputs that have no record yet, in groups that share micro-batches."""
        done = {record.index for record in store.records}
        return in_groups(
            (self._task(index) for index in self.spec.index_list if index not in done), self.recipe.group_size
        )

    def _task(self, index: int) -> Task:
        return Task(index, self.data.inputs(slice(index, index + 1))[0], int(self.data.labels[index]))


def make_job(
    model: nn.Module,
    data: Dataset,
    sigma: float,
    config: CertifyConfig,
    *,
    indices: str = ":",
    batch_size: int = 256,
    device: str = "cpu",
    program: Program | None = None,
    simultaneous: bool = False,
    centres: bool = True,
) -> Job:
    """The job of certifying inputs of a data set.

    `simultaneous` divides alpha by the size of the data set's split, whichever of its inputs are asked for: then with
    probability at least 1 - alpha all certificates are right at once, also when shards are merged later.
    """
    if simultaneous and config.protocol != "sound":
        raise SettingError("simultaneous: protocol paper has no level that could hold for all inputs at once")
    if simultaneous:
        config = config.model_copy(update={"alpha": config.alpha / len(data)})
    recipe = Recipe(
        model=model,
        sigma=sigma,
        num_classes=data.info.num_classes,
        input_shape=data.info.shape,
        domain=data.info.domain,
        batch_size=batch_size,
        config=config,
        program=program or Program(),
        device=device,
    )
    spec = RunSpec(
        model_digest=model_digest(model),
        dataset=data.info.name,
        split=data.split,
        data_digest=data_digest(data.pixels, data.labels),
        size=len(data),
        indices=format_indices(parse_indices(indices, len(data))),
        sigma=sigma,
        num_classes=data.info.num_classes,
        shape=data.info.shape,
        domain=data.info.domain,
        batch_size=batch_size,
        program=recipe.program.name,
        device=device_kind(torch.device(device)),
        config=config,
        simultaneous=len(data) if simultaneous else None,
        centres=centres,
        versions=software_versions(),
        probe=probe(model.to(device), data.info.shape, batch_size),
    )
    return Job(recipe, spec, data)


def check_origin(spec: RunSpec, model: nn.Module, data: Dataset) -> None:
    """An error that names both digests unless these are the data and the model that the run was made with."""
    digests = {
        "other data": (spec.data_digest, data_digest(data.pixels, data.labels)),
        "another model": (spec.model_digest, model_digest(model)),
    }
    for what, (wanted, got) in digests.items():
        if got != wanted:
            raise RunError(f"the run was made with {what}: expected digest {wanted[:12]}, got {got[:12]}")
    where = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    if spec.probe is None or spec.device != device_kind(where):
        return  # logits of two kinds of device differ by more than threads change
    if not spec.probe.agrees(probe(model, spec.shape, spec.batch_size)):
        raise RunError("the run was made with another model: this one gives other logits for the same fixed inputs")
